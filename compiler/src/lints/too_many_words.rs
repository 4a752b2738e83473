//! A line of more words than 3proxy has room for.
use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// 3proxy splits a line, with the words of its `$file`s, into 4,094 words at most.
    ///
    /// The last one takes the rest of the line, blanks and all.
    ///
    /// ```3proxy,fires
    /// users {REP:a:b :4100}
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users alice:CL:rabbit bob:CL:hole
    /// ```
    "too-many-words",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    from lowering,
}

/// The words beyond 3proxy's room, or the line that has them, are at `at`.
pub(crate) fn finding(at: Loc, message: &str) -> Finding {
    RULE.finding(at, message.to_owned()).help("write several lines")
}
