//! A backslash before a quotation mark.
use grammar::{
    Span,
    syntax::{LineKind, Word, WordShape},
};

use super::rule::{Lint, rule};
use crate::{
    fix::{Edit, Fix, Safety},
    sources::Loc,
};

rule! {
    /// A backslash does not escape a quotation mark: it is written as it is, and the quotation ends there.
    ///
    /// In 3proxy two marks, `""`, are one inside a quotation.
    ///
    /// ```3proxy,fires
    /// log
    /// logformat "G{\"time\":%t,\"user\":\"%U\"}"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// log
    /// logformat "G{""time"":%t,""user"":""%U""}"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// A path may end with one:
    ///
    /// ```3proxy,clean
    /// ssl_certcache "C:\my certs\"
    /// log
    /// logformat "-\""+_G{""time"":%t,""user"":""%U""}"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "backslash-is-no-escape",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter().filter(|(_, source)| !source.spliced) {
        // Few files have one: their lines need not be looked at.
        if !source.text.contains(&b'\\') {
            continue;
        }
        for line in source.tree.lines() {
            let LineKind::Directive(words) = line.kind else { continue };
            let escapes: Vec<Span> =
                source.tree.words(words).flat_map(|word| escapes(&source.text, word)).collect();
            let Some(first) = escapes.first() else { continue };
            let at = |span| Loc { file, span };
            let title = "write two quotation marks: `\"\"`";
            let edits = escapes.iter().map(|span| Edit { at: at(*span), text: "\"\"".to_owned() }).collect();
            lint.report(
                RULE.finding(at(*first), "a backslash does not escape a quotation mark")
                    .label("the backslash is kept, and the quotation ends or begins here")
                    .help(title)
                    .fix(Fix { title: title.into(), safety: Safety::Unsafe, edits }),
            );
        }
    }
}

/// Each `\"` inside a word that was meant as one mark: neither at its end, as in a path, nor before a mark that is doubled.
fn escapes(text: &[u8], word: Word) -> Vec<Span> {
    let written = word.span.of(text);
    if word.shape != WordShape::Quoted || !written.starts_with(b"\"") {
        return Vec::new();
    }
    let pairs = (word.span.start..).zip(written.windows(3));
    let found = pairs.filter(|(_, three)| matches!(three, [b'\\', b'"', behind] if *behind != b'"'));
    let mut found: Vec<Span> = found.map(|(at, _)| Span::new(at, at + 2)).collect();
    // `\""` at the end closes what one that was found has opened.
    if !found.is_empty() && written.ends_with(b"\\\"\"") {
        let end = word.span.end;
        found.push(Span::new(end - 3, end - 1));
    }
    let inner = (word.span.start..).zip(written.windows(4));
    if !found.is_empty() {
        // `\""` before `}` and the like: the first mark was meant, the second ends the text.
        found.extend(
            inner.filter(|(_, four)| four.starts_with(b"\\\"\"")).map(|(at, _)| Span::new(at, at + 2)),
        );
    }
    found.sort_unstable();
    found.dedup();
    found
}
