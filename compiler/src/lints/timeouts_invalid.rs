//! A timeout that 3proxy refuses.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Arg};

rule! {
    /// A timeout is a number of seconds from 1 to 2,000,000: 3proxy refuses others.
    ///
    /// The values are, in order: byte short, byte long, string short, string long, connection short, connection long, dns,
    /// chain, connect, connect back, linger.
    ///
    /// ```3proxy,fires
    /// timeouts 1 5 30 60 180 1800 15 60 15 0
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// timeouts 1 5 30 60 180 1800 15 60 15 5
    /// proxy -i127.0.0.1
    /// ```
    "timeouts-invalid",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the timeout.
pub(crate) fn finding(word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a timeout", word.text()))
        .help("write a number of seconds from 1 to 2000000")
}
