//! Single quotes.
use grammar::{
    Span,
    directive::{self, Directive, Kind},
    syntax::{LineKind, Tree, Word, WordShape, Words},
};

use super::rule::{Lint, rule};
use crate::{
    finding::{Finding, Level},
    fix::{Edit, Fix, Safety},
    sources::{FileId, Loc},
};

rule! {
    /// Single quotes are ordinary letters to 3proxy: it takes `"` alone for a quote.
    ///
    /// They are a part of the name, the path or the password that stands between them, and a space between them ends a word.
    ///
    /// ```3proxy,fires
    /// log '/var/log/3proxy.log' D
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Where no space stands between them, none are needed:
    ///
    /// ```3proxy,fixed
    /// log /var/log/3proxy.log D
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Between plain quotes and within a word they are text:
    ///
    /// ```3proxy,clean
    /// log
    /// logformat "L%t '%U' %T"
    /// users o'brien:CL:it'saname'
    /// auth strong
    /// allow o'brien
    /// proxy -i127.0.0.1
    /// ```
    "single-quotes",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter().filter(|(_, source)| source.text.contains(&b'\'')) {
        let text = &source.text;
        for line in source.tree.lines().filter(|line| line.span.of(text).contains(&b'\'')) {
            let LineKind::Directive(words) = line.kind else { continue };
            let row = source
                .tree
                .words(words)
                .next()
                .filter(|_| !source.spliced)
                .and_then(|name| directive::find(&name.value(text)));
            let pairs = pairs(&source.tree, words, text);
            if let Some(finding) = finding(file, &pairs, row) {
                lint.report(finding);
            }
        }
    }
}

/// A quote and the one that ends what it begins.
struct Pair {
    open: u32,
    close: u32,
    /// The place in the line of the word where it begins.
    index: usize,
    /// Both are in one word.
    within: bool,
    /// A word between them has plain quotes.
    mixed: bool,
}

/// The quotes at the beginning of a word or of an item, each with the next one at the end of a word or an item.
fn pairs(tree: &Tree, words: Words, text: &[u8]) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut open: Option<Pair> = None;
    for (index, word) in tree.words(words).enumerate() {
        if word.shape != WordShape::Plain {
            open = open.map(|pair| Pair { mixed: true, ..pair });
            continue;
        }
        for at in quotes(word, text) {
            let neighbour = |at: Option<u32>| at.and_then(|at| text.get(at as usize)).copied();
            let begins = at == word.span.start || neighbour(at.checked_sub(1)) == Some(b',');
            let ends = at + 1 == word.span.end || neighbour(Some(at + 1)) == Some(b',');
            open = match open {
                Some(pair) if ends && pair.close < at => {
                    let within = pair.open >= word.span.start;
                    pairs.push(Pair { close: at, within, ..pair });
                    None
                }
                None if begins => Some(Pair { open: at, close: at, index, within: false, mixed: false }),
                open => open,
            };
        }
    }
    pairs
}

/// Where single quotes stand in a word.
fn quotes(word: Word, text: &[u8]) -> impl Iterator<Item = u32> {
    let bytes = (word.span.start..).zip(word.span.of(text));
    bytes.filter(|(_, byte)| **byte == b'\'').map(|(at, _)| at)
}

fn finding(file: FileId, pairs: &[Pair], row: Option<&Directive>) -> Option<Finding> {
    let first = pairs.first()?;
    let at = |start: u32, end: u32| Loc { file, span: Span::new(start, end) };
    // Of an empty word it is not known what is meant.
    let is_empty = |pair: &Pair| pair.open + 1 == pair.close;
    let plain = |pair: &Pair| if pair.within { "" } else { "\"" };
    let edits = pairs.iter().flat_map(|pair| {
        [pair.open, pair.close].map(|quote| Edit { at: at(quote, quote + 1), text: plain(pair).to_owned() })
    });
    let title = if pairs.iter().all(|pair| pair.within) {
        "remove the single quotes"
    } else {
        "write `\"` in their place"
    };
    let fix = Fix { title: title.into(), safety: Safety::Unsafe, edits: edits.collect() };
    let is_mended = !pairs.iter().any(|pair| pair.mixed || is_empty(pair));
    let mut finding = RULE
        .finding(at(first.open, first.open + 1), "single quotes are ordinary letters to 3proxy")
        .label("begins no quoted text")
        .help(title)
        .fix(Some(fix).filter(|_| is_mended));
    if may_be_meant(row, first.index) {
        finding.level = Level::Warn;
    }
    Some(finding)
}

/// The texts of a denied finding of this rule that are several words, each with its quotes: their repair puts other quotes in place.
pub(super) fn torn(finding: &Finding) -> impl Iterator<Item = Loc> {
    let is_own = finding.rule == RULE.name && finding.level == Level::Deny;
    let edits = finding.fix.iter().filter(move |_| is_own).flat_map(|fix| fix.edits.chunks_exact(2));
    edits.filter_map(|pair| match pair {
        [open, close] if !open.text.is_empty() => {
            Some(Loc { file: open.at.file, span: Span::new(open.at.span.start, close.at.span.end) })
        }
        _ => None,
    })
}

/// Whether a word may be any text, or a password.
fn may_be_meant(row: Option<&Directive>, index: usize) -> bool {
    let Some(row) = row else { return index > 0 };
    let parameter = index.checked_sub(1).and_then(|argument| row.parameter(argument));
    row.name != "users"
        && parameter.is_some_and(|parameter| matches!(parameter.kind, Kind::Word | Kind::Secret))
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn quotes_around_words_and_items_are_one_finding_a_line() {
        for (line, fixed, level) in [
            ("users 'bob:CL:Kq81'", Some("users bob:CL:Kq81"), Level::Deny),
            ("users 'bob:CL:Kq 81' 'al:CL:Kq82'", Some("users \"bob:CL:Kq 81\" al:CL:Kq82"), Level::Deny),
            ("allow 'ann','bob' 10.0.0.0/8", Some("allow ann,bob 10.0.0.0/8"), Level::Deny),
            ("allow 'ann',bob", Some("allow ann,bob"), Level::Deny),
            ("pidfile '/run/3proxy.pid'", Some("pidfile /run/3proxy.pid"), Level::Deny),
            ("logformat 'L%t %U'", Some("logformat \"L%t %U\""), Level::Warn),
            ("logformat 'L%t \"%U\" %T'", None, Level::Warn),
            ("radius 'Kq81Kq82Kq81Kq82' 192.0.2.1", Some("radius Kq81Kq82Kq81Kq82 192.0.2.1"), Level::Warn),
        ] {
            let found = findings("single-quotes", &format!("{line}\n"));
            let [finding] = found.as_slice() else { panic!("{line}: {found:#?}") };
            let mended = finding
                .fix
                .as_ref()
                .map(|fix| String::from_utf8(fix.apply(finding.at.file, line.as_bytes())).unwrap());
            assert_eq!((mended.as_deref(), finding.level), (fixed, level), "{line}");
            assert!(!format!("{finding:?}").contains("Kq8"), "{finding:?}");
        }
    }

    #[test]
    fn what_stands_between_such_quotes_is_no_fault_of_its_own() {
        for line in
            ["users 'bob smith:CL:Kq81'", "users 'bob:CL:Kq81 Kq82'", "users 'bob :CL:Kq81' 'al:CL:Kq 82'"]
        {
            let text = format!("{line} ann:CL:Kq83\nauth strong\nallow ann\nproxy -i127.0.0.1\n");
            for (rule, told) in [
                ("single-quotes", 1),
                ("user-dropped", 0),
                ("user-never-admitted", 0),
                ("user-without-name", 0),
            ] {
                assert_eq!(findings(rule, &text).len(), told, "{rule}: {line}");
            }
        }
        // What 3proxy refuses is told with its cause.
        let found = findings("invalid-value", "allow 'ann smith' 10.0.0.0/8\nproxy -i127.0.0.1\n");
        assert!(found[0].notes.iter().any(|note| note.contains("single quotes")), "{found:#?}");
    }

    #[test]
    fn an_apostrophe_is_a_letter() {
        for line in
            ["users o'brien:CL:x' 'y", "allow o'brien,d'arcy", "logformat \"L'%U'\"", "users a:CL:'", "# 'x'"]
        {
            check("single-quotes", &format!("{line}\n"));
        }
    }

    /// What follows from the quotes alone is not told.
    #[test]
    fn a_name_in_such_quotes_is_the_name() {
        for (users, list) in
            [("'bob:CL:Kq81'", "bob"), ("bob:CL:Kq81", "'bob'"), ("bob:CL:Kq81", "\u{201c}bob\u{201d}")]
        {
            let text =
                format!("users {users} ann:CL:Kq82\nauth strong\nallow {list},ann\nproxy -i127.0.0.1\n");
            for rule in ["unknown-user-in-acl", "user-never-admitted"] {
                check(rule, &text);
            }
        }
        let found =
            findings("unknown-user-in-acl", "users 'bob:CL:x' carol:CL:x\nauth strong\nallow bobb\nproxy\n");
        assert_eq!(found[0].help.as_deref(), Some("did you mean `bob`?"));
    }
}
