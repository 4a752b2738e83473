//! A parent of an entry that lets nobody through.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Command, sources::Loc};

rule! {
    /// A `parent` extends the last entry, which must be an `allow` or `redirect`.
    ///
    /// After a `deny` 3proxy refuses it, and with it the whole file.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// deny *
    /// parent 1000 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.1 1080
    /// deny *
    /// proxy -i127.0.0.1
    /// ```
    "parent-after-deny",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    reads: Order,
    from lowering,
}

/// The last entry, at `entry`, is a `deny`.
pub(crate) fn finding(command: &Command<'_>, entry: Loc) -> Finding {
    RULE.finding(command.at, "a parent can't belong to a `deny`")
        .label("extends the last entry")
        .also(entry, "which is this one")
        .help("move the line to after the `allow` that it is meant for")
}
