//! Words behind the last field of an entry.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// An entry has eight fields; 3proxy silently ignores any further words.
    ///
    /// They are users, sources, targets, ports, operations, weekdays, periods and weight. A list must not contain spaces.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.2 * * * * 0 more
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * 127.0.0.2 * * * * 0
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "ace-extra-words",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::ExtraWords => finding,
}

fn finding(word: Misread<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` comes after the last field and is not read", word.cited()))
        .label("not read")
        .help("remove it, or write the list without spaces")
}
