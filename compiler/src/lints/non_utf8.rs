//! Bytes that are not UTF-8.
use grammar::{Span, syntax::LineKind};

use super::rule::{Lint, rule};
use crate::sources::{Loc, Source};

rule! {
    /// A byte outside UTF-8 looks different to everyone who reads the file.
    ///
    /// 3proxy compares bytes: a name or password in Latin-1 or CP1251 is not the one that a client sends in UTF-8. In a comment it
    /// does no harm.
    ///
    /// ```3proxy,fires
    /// users "alice:CL:{LATIN1}"
    /// auth strong
    /// allow alice
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users "alice:CL:Grüße"
    /// auth strong
    /// allow alice
    /// proxy -i127.0.0.1
    /// ```
    "non-utf8",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter() {
        if let Some(at) = first_odd_byte(source) {
            let span = Span::new(at, at + 1);
            lint.report(
                RULE.finding(Loc { file, span }, "this byte is not UTF-8")
                    .label("the first in the file outside comments")
                    .help("save the file as UTF-8, unless clients send exactly these bytes"),
            );
        }
    }
}

/// The first byte outside comments that is not UTF-8.
fn first_odd_byte(source: &Source) -> Option<u32> {
    let mut start = 0_usize;
    while let Err(error) = std::str::from_utf8(source.text.get(start..)?) {
        let at = u32::try_from(start + error.valid_up_to()).ok()?;
        let index = source.tree.line_at(at)?;
        let line = source.tree.line(index)?;
        if !matches!(line.kind, LineKind::Comment | LineKind::Indented) {
            return Some(at);
        }
        start = line.span.end as usize;
    }
    None
}
