//! A field that lists nothing.
use super::rule::{Lint, rule};
use crate::program::trap::Trap;

rule! {
    /// A field without an item restricts nothing, as if `*` stood there.
    ///
    /// It is commas alone.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow ,
    /// deny *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.1,,10.0.0.2
    /// deny *
    /// proxy -i127.0.0.1
    /// ```
    "empty-list",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (word, trap) in lint.traps() {
        // Empty quotes are not empty to 3proxy: `empty-quotes` says so.
        if trap == Trap::EmptyList && word.text != b"\"\"" {
            lint.report(
                RULE.finding(
                    word.at,
                    format!("`{}` lists nothing, so the field restricts nothing", word.cited()),
                )
                .label("read as `*`")
                .help("write `*` if that is meant, or what the entry is for"),
            );
        }
    }
}
