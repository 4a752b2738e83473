//! A backslash at the end of a line.
use grammar::syntax::{LineKind, WordShape};

use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// A backslash at the end of a line does not continue it.
    ///
    /// 3proxy takes the backslash for one more argument, and the next line for a command of its own.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16 * \
    /// 80,443
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// log C:\logs\
    /// auth iponly
    /// allow * 192.168.0.0/16 * 80,443
    /// proxy -i192.168.0.1
    /// ```
    "backslash-continuation",
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
            let Some(last) = source.tree.words(words).last() else { continue };
            if last.shape == WordShape::Plain && last.span.of(&source.text) == b"\\" {
                lint.report(
                    RULE.finding(Loc { file, span: last.span }, "a backslash does not continue a line")
                        .label("read as one more argument")
                        .help(
                            "write everything in one line, or put a long list into a file: `$/path/to/list`",
                        ),
                );
            }
        }
    }
}
