//! A name where the address of a name server belongs.
use grammar::value::short_address;

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
    /// An address with parts left out, such as `8.8`, is not a name, but is probably a mistake; `127.1` is this machine.
    "nserver-is-name",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    from lowering,
}

/// The word at `at` names a server.
pub(crate) fn finding(command: &Command<'_>, at: Loc, name: &str) -> Finding {
    if let Some(address) = short_address(name.as_bytes()) {
        return RULE
            .finding(at, format!("`{name}` is not a full address: the system reads {address}"))
            .label("after an `nserver` line, its name servers are asked for it")
            .help(format!("write `{address}`, or the address that is meant"));
    }
    RULE.finding(at, format!("`{name}` is a name, but `{}` expects an address", command.name()))
        .label("looked up when the file is read; without an answer, 3proxy refuses the file")
        .help("write the address of the name server")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn addresses_with_parts_left_out_are_no_names() {
        check(
            "nserver-is-name",
            r"
nserver 127.1
nserver ns.example.net
#       ^ `ns.example.net` is a name
internal 127.1
proxy
",
        );
        check(
            "nserver-is-name",
            r"
authnserver localhost
authnserver 8.8
#           ^ `8.8` is not a full address: the system reads 8.0.0.8
nserver 127.0.0.1
nserver 127.1
#       ^ `127.1` is not a full address
proxy -i127.0.0.1
",
        );
    }
}
