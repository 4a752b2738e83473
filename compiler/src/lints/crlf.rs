//! Line ends of DOS.
use grammar::Span;

use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// The file has CRLF line endings.
    ///
    /// 3proxy treats the carriage return as white space, so it does no harm there. Other tools that read the same file may treat it as
    /// a part of the last word.
    ///
    /// ```3proxy,fires
    /// auth iponly{CR}
    /// allow *{CR}
    /// proxy -i127.0.0.1{CR}
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "crlf",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let sources = lint.sources;
    for (file, source) in sources.iter() {
        let text: &[u8] = &source.text;
        let Some(feed) = text.iter().position(|byte| *byte == b'\n') else { continue };
        let Some(at) = feed.checked_sub(1).filter(|before| text.get(*before) == Some(&b'\r')) else {
            continue;
        };
        let at = u32::try_from(at).unwrap_or(u32::MAX - 1);
        lint.report(
            RULE.finding(Loc { file, span: Span::new(at, at + 1) }, "the file has CRLF line endings")
                .label("the first of them")
                .help("save it with line feeds only: `sed -i 's/\\r$//' FILE`"),
        );
    }
}
