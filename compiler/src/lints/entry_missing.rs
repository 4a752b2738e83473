//! A line that extends the last entry, when there is none.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Command};

rule! {
    /// `parent`, `nolog` and `weight` extend the last entry; without one 3proxy refuses them.
    ///
    /// A `flush` takes all entries away.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// nolog
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// nolog
    /// proxy -i127.0.0.1
    /// ```
    "entry-missing",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    reads: Order,
    from lowering,
}

/// `command` has no entry to extend.
pub(crate) fn finding(command: &Command<'_>) -> Finding {
    let name = command.name();
    RULE.finding(command.at, format!("there is no entry for this `{name}` to extend"))
        .help("write an `allow` before it")
}
