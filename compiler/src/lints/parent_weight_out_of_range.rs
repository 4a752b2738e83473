//! A weight of a parent that is no share of 1000.
use super::{argument_count, rule::rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
    program::acl::ParentKind,
    sources::Loc,
};

rule! {
    /// The weight of a parent is its share of 1000: 3proxy refuses any but 1 to 1000.
    ///
    /// A single parent has 1000.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 0 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    "parent-weight-out-of-range",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the weight, and `kind` the type: they may have changed places.
pub(crate) fn swapped(word: &Arg<'_>, kind: &Arg<'_>) -> Option<Finding> {
    let is_weight = || !kind.value.is_empty() && kind.value.iter().all(u8::is_ascii_digit);
    if ParentKind::named(&word.value).is_none() || !is_weight() || word.at.file != kind.at.file {
        return None;
    }
    let at = Loc { file: word.at.file, span: word.at.span.to(kind.at.span) };
    let title = format!("write the weight first: `{} {}`", kind.text(), word.text());
    let right = format!("{} {}", kind.text(), word.text());
    Some(
        RULE.finding(at, format!("the type `{}` stands in the place of the weight", word.text()))
            .help(title.clone())
            .fix(Fix::replace(title, Safety::Safe, at, right)),
    )
}

/// `word` is the weight.
pub(crate) fn finding(word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a valid parent weight", word.text()))
        .help("write a number from 1 to 1000, or 1000 for a single parent")
}

/// The `=` in `parent = 1000 …` stands for the weight.
pub(crate) fn assigned(command: &Command<'_>, sign: &Arg<'_>) -> Finding {
    let finding = finding(sign);
    match argument_count::assigned(command) {
        Some((help, fix)) => finding.help(help).fix(fix),
        None => finding,
    }
}

/// The type stands where the weight belongs.
pub(crate) fn missing(kind: &Arg<'_>) -> Finding {
    let (title, fix) = argument_count::weight(kind);
    finding(kind).help(title).fix(fix)
}
