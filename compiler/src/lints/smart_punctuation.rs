//! Quotes, dashes and blanks of word processors.
use grammar::{
    Span,
    directive::{self, Directive, Effect, Kind},
    syntax::{LineKind, Word, WordShape},
};

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    sources::{FileId, Loc, Source},
};

rule! {
    /// Quotation marks, dashes and blanks of a word processor are ordinary letters to 3proxy.
    ///
    /// A web page or a word processor puts them in place of the plain ones when a line is copied. A name in curly quotes is another name,
    /// and a no-break space does not end a word.
    ///
    /// ```3proxy,fires
    /// users “alice:CL:secret”
    /// auth strong
    /// allow alice * * 80,443
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users "alice:CL:secret"
    /// auth strong
    /// allow alice * * 80,443
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Between plain quotes they are text:
    ///
    /// ```3proxy,clean
    /// log
    /// logformat "L%t – %U – “%T”"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "smart-punctuation",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// A character that stands in place of a plain one.
#[derive(Clone, Copy)]
struct Smart {
    span: Span,
    plain: &'static str,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter() {
        if source.text.is_ascii() {
            continue;
        }
        for line in source.tree.lines() {
            if line.span.of(&source.text).is_ascii() {
                continue;
            }
            let LineKind::Directive(words) = line.kind else { continue };
            let (mut row, mut found) = (None, Vec::new());
            for (index, word) in source.tree.words(words).enumerate() {
                if index == 0 {
                    row = directive::find(&word.value(&source.text));
                }
                found.extend(smart(source, word, row.filter(|_| !source.spliced), index));
                // A file of words is one line.
                if source.spliced
                    && let Some(finding) = finding(file, &std::mem::take(&mut found))
                {
                    lint.report(finding);
                }
            }
            // A quote mended without the one that ends it would leave the line worse than it was.
            if let Some(finding) = finding(file, &found) {
                lint.report(finding);
            }
        }
    }
}

/// What stands in a word in place of plain characters, and is not meant as text.
fn smart(source: &Source, word: Word, row: Option<&Directive>, index: usize) -> Vec<Smart> {
    let text = word.span.of(&source.text);
    let Some(text) =
        std::str::from_utf8(text).ok().filter(|text| word.shape == WordShape::Plain && !text.is_ascii())
    else {
        return Vec::new();
    };
    let kind = row.and_then(|row| row.parameter(index.checked_sub(1)?)).map(|parameter| parameter.kind);
    let dashes = index == 0
        || row.is_some_and(|row| row.effect == Effect::Service)
        || kind.is_some_and(|kind| {
            matches!(
                kind,
                Kind::Number
                    | Kind::Port
                    | Kind::Address
                    | Kind::Sources
                    | Kind::Targets
                    | Kind::Ports
                    | Kind::Weekdays
                    | Kind::Periods
            )
        });
    let end = text.len();
    let odd = text.char_indices().filter_map(|(at, letter)| {
        let (start, length) = (word.span.start + at as u32, letter.len_utf8());
        let plain = match letter {
            '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2018}'..='\u{201b}'
                if at == 0 || at + length == end || at_an_item(text, at, length) =>
            {
                "\""
            }
            '\u{2010}'..='\u{2015}' | '\u{2212}' if dashes => "-",
            '\u{a0}' | '\u{2007}' | '\u{202f}' => " ",
            '\u{200b}' | '\u{feff}' => "",
            _ => return None,
        };
        Some(Smart { span: Span::new(start, start + length as u32), plain })
    });
    odd.collect()
}

/// Whether what stands at `at` begins or ends an item of a list, or a part of a user's word.
fn at_an_item(text: &str, at: usize, length: usize) -> bool {
    let separates = |byte: Option<&u8>| byte.is_some_and(|byte| b",:".contains(byte));
    let bytes = text.as_bytes();
    separates(bytes.get(at.wrapping_sub(1))) || separates(bytes.get(at + length))
}

fn finding(file: FileId, found: &[Smart]) -> Option<Finding> {
    let first = found.first()?;
    let what = match first.plain {
        "\"" => "a typographic quotation mark",
        "-" => "a dash that is no hyphen",
        " " => "a no-break space",
        _ => "an invisible character",
    };
    let at = |span| Loc { file, span };
    let edits = found.iter().map(|smart| Edit { at: at(smart.span), text: smart.plain.to_owned() }).collect();
    let title = "write the plain characters";
    Some(
        RULE.finding(at(first.span), format!("{what} is an ordinary letter to 3proxy"))
            .label("comes from a word processor or a web page")
            .help(title)
            .fix(Fix { title: title.into(), safety: Safety::Unsafe, edits }),
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{
        compile,
        lints::tests::{check, findings},
        sources::MemoryFiles,
    };

    #[test]
    fn names_and_passwords_may_have_any_letter() {
        check("smart-punctuation", "users élan:CL:pa–ss’word\nauth strong\nallow élan\nproxy\n");
        check("smart-punctuation", "# “quoted”\n  “indented”\nproxy\n");
    }

    #[test]
    fn the_quotes_of_a_line_are_one_finding_and_one_fix() {
        for (line, fixed) in [
            ("allow “ann”,bob", "allow \"ann\",bob"),
            ("allow ann,“bob”", "allow ann,\"bob\""),
            ("allow «ann»,‘bob’", "allow \"ann\",\"bob\""),
            ("users “bob:CL:Kq81 Kq82” al:CL:Kq83", "users \"bob:CL:Kq81 Kq82\" al:CL:Kq83"),
            ("users bob:CL:“Kq81 Kq82”", "users bob:CL:\"Kq81 Kq82\""),
            ("proxy –i127.0.0.1 –p3128", "proxy -i127.0.0.1 -p3128"),
        ] {
            let found = findings("smart-punctuation", &format!("{line}\n"));
            // What 3proxy refuses there may have the fix.
            let Some(finding) = found.first() else {
                assert!(line.starts_with("proxy"), "{line}");
                continue;
            };
            let fix = finding.fix.as_ref().unwrap();
            let mended = String::from_utf8(fix.apply(finding.at.file, line.as_bytes())).unwrap();
            assert_eq!((mended.as_str(), found.len()), (fixed, 1), "{line}");
        }
    }

    #[test]
    fn a_finding_at_the_same_place_gets_the_fix() {
        for (text, rule, fixed) in [
            (
                "auth\u{a0}iponly\nproxy -i127.0.0.1\n",
                "unknown-directive",
                "auth iponly\nproxy -i127.0.0.1\n",
            ),
            ("allow *\nproxy -i127.0.0.1 \u{2013}p1\n", "unknown-option", "allow *\nproxy -i127.0.0.1 -p1\n"),
        ] {
            let mut files = MemoryFiles::default();
            files.insert("main", text);
            let found = compile(Path::new("main"), &files).findings;
            let of: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
            assert_eq!(of, [rule], "{text}");
            let fix = found[0].fix.as_ref().unwrap();
            assert_eq!(String::from_utf8(fix.apply(found[0].at.file, text.as_bytes())).unwrap(), fixed);
        }
    }
}
