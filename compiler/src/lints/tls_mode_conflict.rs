//! Two ways to use TLS that exclude each other.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Command, sources::Loc};

rule! {
    /// Interception (`ssl_mitm`) excludes `ssl_serv` and `ssl_cli`: 3proxy refuses the second line.
    ///
    /// Switch the first off with its `no` line before the second.
    ///
    /// ```3proxy,fires
    /// ssl_mitm
    /// ssl_serv
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_mitm
    /// proxy -i127.0.0.1
    /// ssl_nomitm
    /// ssl_serv
    /// proxy -i127.0.0.1 -p3129
    /// ```
    "tls-mode-conflict",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    reads: Order,
    from lowering,
}

/// `command` conflicts with the line at `before`.
pub(crate) fn finding(command: &Command<'_>, before: Loc) -> Finding {
    RULE.finding(command.at, format!("`{}` can't be combined with an earlier setting", command.name()))
        .also(before, "switched on here")
        .help("switch the earlier setting off before this line")
}
