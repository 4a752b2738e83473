//! `parent-port-zero`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    program::acl::{Parent, ParentHost, ParentKind},
};

rule! {
    /// A parent proxy without a port of its own.
    ///
    /// With port 0 3proxy keeps the port that the client asks for: a request to port 443 goes to port 443 of the parent's machine, and the
    /// parent's protocol is spoken to whatever is there. So each request fails.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 127.0.0.1 0
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 127.0.0.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// `tcp` and `http` may keep the port: so connections go to the same port of another machine.
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 tcp 192.0.2.10 0
    /// proxy -i127.0.0.1
    /// ```
    "parent-port-zero",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let parents = &lint.program.acls.parents;
    // A later version of an entry has the same lines once more.
    let mut told = BTreeSet::new();
    let portless = parents.iter().filter(|parent| lacks_port(parent) && told.insert(parent.at));
    for parent in portless {
        lint.report(finding(parent));
    }
}

/// Whether a protocol is spoken to a host of its own, on the port that the client asks for.
fn lacks_port(parent: &Parent) -> bool {
    let has_host = match &parent.host {
        ParentHost::Address(address) => !address.is_unspecified(),
        ParentHost::Name(_) => true,
        ParentHost::Prefix(..) | ParentHost::Unix(_) => false,
    };
    parent.port == 0 && has_host && negotiates(parent.kind)
}

/// Whether the parent is told the target before anything is relayed.
const fn negotiates(kind: ParentKind) -> bool {
    matches!(
        kind,
        ParentKind::Connect
            | ParentKind::ConnectName
            | ParentKind::Socks4
            | ParentKind::Socks4Name
            | ParentKind::Socks4Short
            | ParentKind::Socks5
            | ParentKind::Socks5Name
            | ParentKind::Socks5Short
    )
}

fn finding(parent: &Parent) -> Finding {
    RULE.finding(parent.at, "each request fails, because this parent has the port of whatever is asked for")
        .label("port 0 keeps the port of the request")
        .help("write the port on which the parent listens, such as 1080 or 3128")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_keeps_the_port_on_purpose_is_right() {
        check(
            "parent-port-zero",
            r"
internal 127.0.0.1
allow *
parent 1000 tcp 192.0.2.1 0
parent 1000 connect proxy.example 0
#^ each request fails
allow *
parent 1000 http 192.0.2.1 0
allow *
parent 1000 extip 192.0.2.1 0
allow * * * 80
parent 1000 http 0.0.0.0 0
parent 500 socks5+ 192.0.2.1 0
#^ each request fails
parent 500 socks4 0.0.0.0 1080
proxy
socks
",
        );
    }
}
