//! A parent within the process that is given an address.
use super::rule::rule;
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
    sources::Loc,
};

rule! {
    /// These types hand the request to a service of this process, and take `0.0.0.0 0` only.
    ///
    /// They are `pop3`, `smtp`, `ftp`, `admin`, `tls`, `dns` and `ha`. With an address or a port 3proxy refuses the whole file.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * * 110
    /// parent 1000 pop3 192.0.2.1 110
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * * * 110
    /// parent 1000 pop3 0.0.0.0 0
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "local-redirect-needs-zeros",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `command` is a `parent` line.
pub(crate) fn finding(command: &Command<'_>) -> Finding {
    let kind = command.argument(1).map(Arg::text).unwrap_or_default();
    let at = command
        .argument(2)
        .zip(command.argument(3))
        .map_or(command.at, |(host, port)| Loc { file: host.at.file, span: host.at.span.to(port.at.span) });
    RULE.finding(at, format!("a parent of type `{kind}` is inside this process and has no address"))
        .help("write `0.0.0.0 0` here, or another type")
}
