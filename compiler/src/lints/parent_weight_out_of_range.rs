//! A weight of a parent that is no share of 1000.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Arg};

rule! {
    /// The weight of a parent is its share of 1000: 3proxy refuses any but 1 to 1000.
    ///
    /// A single parent has 1000.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 0 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    "parent-weight-out-of-range",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the weight.
pub(crate) fn finding(word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a valid parent weight", word.text()))
        .help("write a number from 1 to 1000, or 1000 for a single parent")
}
