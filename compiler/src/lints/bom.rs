//! A byte order mark at the start of the file.
use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// 3proxy reads a byte order mark as part of the first command, which it then does not know.
    ///
    /// Some editors write the mark at the start of UTF-8 files. In a comment it does no harm.
    ///
    /// ```3proxy,fires
    /// {BOM}auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "bom",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// The mark is at `at`.
pub(crate) fn finding(at: Loc, message: &str) -> Finding {
    RULE.finding(at, message.to_owned())
        .help("remove it: save the file as UTF-8 without a mark")
        .fix(Fix::replace("remove the mark", Safety::Safe, at, ""))
}
