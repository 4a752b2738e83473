//! A NUL byte in a line.
use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// 3proxy ignores the part of a line after a NUL byte.
    ///
    /// So an entry loses the fields after it and matches more than is written. Such a byte comes from a file that was saved
    /// as UTF-16, or was cut by a crash.
    ///
    /// ```3proxy,fires
    /// allow *{NUL} 10.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// allow * 10.0.0.1
    /// ```
    "nul-byte",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    from lowering,
}

/// The byte, or what follows it, is at `at`.
pub(crate) fn finding(at: Loc, message: &str) -> Finding {
    RULE.finding(at, message.to_owned()).help("remove the byte")
}
