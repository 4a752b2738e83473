//! `radius-secret-truncated`
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A RADIUS secret is longer than the 63 bytes that 3proxy keeps of it.
    ///
    /// The server has the whole secret, so that neither understands the other: every password is refused.
    ///
    /// ```3proxy,fires
    /// radius {REP:0123456789:7} 192.0.2.5
    /// auth radius
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// radius {REP:0123456789:6} 192.0.2.5
    /// auth radius
    /// proxy
    /// ```
    "radius-secret-truncated",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::SecretCut => finding,
}

fn finding(part: Misread<'_>) -> Finding {
    RULE.finding(part.at, "3proxy keeps 63 bytes of this secret, but the server has all of it")
        .help("agree on a secret of 16 to 63 bytes")
}
