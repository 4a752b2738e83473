//! A name where the address of a name server belongs.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Command, sources::Loc};

rule! {
    /// A name server is given by its name, which has to be looked up before there is a name server.
    ///
    /// 3proxy asks the system's resolver when it reads the file, and refuses the file if that does not answer; what it found stays
    /// in use, whatever the name leads to later.
    ///
    /// ```3proxy,fires
    /// nserver ns1.example.net
    /// nscache 65536
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nserver-is-name",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    from lowering,
}

/// The word at `at` names a server.
pub(crate) fn finding(command: &Command<'_>, at: Loc, name: &str) -> Finding {
    RULE.finding(at, format!("`{name}` is a name, and `{}` wants an address", command.name()))
        .label("looked up when the file is read: without an answer 3proxy refuses it")
        .help("write the address of the name server")
}
