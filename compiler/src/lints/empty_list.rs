//! A field that lists nothing.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A field that holds only commas restricts nothing, as if it were `*`.
    ///
    /// 3proxy drops empty items, and a list without items matches everything.
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
    trap: Trap::EmptyList => finding,
}

fn finding(word: Misread<'_>) -> Option<Finding> {
    // Empty quotes are not empty to 3proxy: `empty-quotes` says so.
    (word.text != b"\"\"").then(|| {
        RULE.finding(word.at, format!("`{}` is an empty list, so the field restricts nothing", word.cited()))
            .label("read as `*`")
            .help("write `*` if that is meant, or the values that the entry should match")
    })
}
