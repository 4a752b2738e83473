//! A line that extends an entry from behind a service which has copied it.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Command, sources::Loc};

rule! {
    /// `nolog` or `weight` extends an entry before a service line, and that service does not see it.
    ///
    /// Both extend the last entry, wherever it is. A service has copied that entry as it was; only services that follow get the
    /// extended one.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// nolog
    /// socks -i10.0.0.1
    /// ```
    ///
    /// Write it directly after its entry:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// nolog
    /// proxy -i10.0.0.1
    /// socks -i10.0.0.1
    /// ```
    "nolog-misplaced",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    parts: ["weight-misplaced"],
    reads: Order,
    from lowering,
}

/// `service` stands between `command` and the entry that it extends.
pub(crate) fn finding(command: &Command<'_>, entry: Loc, service: Loc) -> Finding {
    let name = command.name();
    RULE.finding(command.at, format!("this `{name}` extends an entry before a service line"))
        .label("extends the last entry")
        .also(entry, "which is this one")
        .also(service, "this service has already copied it")
        .part((name.as_bytes() == b"weight").then_some("weight-misplaced"))
        .help(format!("write `{name}` directly after the entry that it is meant for"))
}
