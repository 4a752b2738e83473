//! A line that is longer than 3proxy reads at once.
use super::rule::rule;
use crate::{finding::Finding, sources::Loc};

rule! {
    /// 3proxy cuts a line after 65,534 bytes, and runs the rest as a line of its own, even after a `#`.
    ///
    /// Put long lists into a file and name it with `$`, or write several entries.
    ///
    /// ```3proxy,fires
    /// # {REP:x:65600}
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// deny * * 10.0.0.1,10.0.0.2
    /// ```
    "line-too-long",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    from lowering,
}

/// What is behind the limit is at `at`; `refused`: no command begins there.
pub(crate) fn finding(at: Loc, message: &str, refused: bool) -> Finding {
    let mut finding = RULE
        .finding(at, message.to_owned())
        .label("after 65,534 bytes")
        .help("put the list into a file and name it with `$`, or write several lines");
    finding.refused = refused;
    finding
}
