//! Commands that filter what passes by regular expressions.
use super::{Directive, Effect::Global, Kind, LONG, Parameter, acl::entry, parameter, row};

const TYPE: Parameter =
    parameter("type", Kind::Word, "what is filtered: `request,cliheader,srvheader,clidata,srvdata`");
const ACTION: Parameter = parameter("action", Kind::OneOf(&["allow", "deny", "dunno"]), "what a match does");
const PATTERN: Parameter = parameter("regexp", Kind::Word, "a regular expression; `*` matches all");
const REWRITE: Parameter =
    parameter("rewrite", Kind::Word, "what replaces the match; `$1` is a group, so quote it");

pub(super) const ROWS: &[Directive] = &[
    row(
        "pcre",
        (3, None),
        entry!(TYPE, ACTION, PATTERN),
        Global,
        LONG,
        "Allows or denies what matches a regular expression. The fields of an entry may limit to whom it applies; it does not replace the access list.",
    ),
    row(
        "pcre_rewrite",
        (4, None),
        entry!(TYPE, ACTION, PATTERN, REWRITE),
        Global,
        LONG,
        "Replaces what matches a regular expression. The fields of an entry may limit to whom it applies.",
    ),
    row(
        "pcre_extend",
        (1, None),
        entry!(ACTION),
        Global,
        LONG,
        "Adds an entry to those that limit the last `pcre` or `pcre_rewrite`. Without one before it the file is refused.",
    ),
    row(
        "pcre_options",
        (1, None),
        &[parameter("option", Kind::Word, "an option such as `PCRE2_CASELESS`")],
        Global,
        LONG,
        "Sets how the following expressions are matched. It replaces the options of an earlier line.",
    ),
    row(
        "filtermaxsize",
        (1, Some(1)),
        &[parameter("size", Kind::Number, "bytes; 1048576 by default")],
        Global,
        LONG,
        "Sets up to which length data is filtered. Longer bodies pass unfiltered.",
    )
    .apart(),
];
