//! `parent-without-name`
use std::collections::BTreeSet;

use grammar::value;

use super::rule::{Lint, rule};
use crate::program::{
    acl::{Ace, Parent, ParentKind},
    service::{Service, ServiceKind},
};

rule! {
    /// A parent is to get host names, but clients of a port mapper send none.
    ///
    /// `connect+`, `socks4+` and `socks5+` pass on the name that the client asked for. A `tcppm` line has one target for all; where that is
    /// an address, the address is passed on, as without the `+`. With a plugin that changes the target (`transparent`) it is the changed
    /// address: names are known to `proxy`, `socks` and `tlspr` only.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128
    /// tcppm -i10.0.0.1 12345 192.0.2.1 443
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128
    /// tcppm -i10.0.0.1 12345 www.example.com 443
    /// ```
    "parent-without-name",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    for list in lint.asked_lists().iter() {
        for (place, (_, ace)) in
            program.acls.entries(list.acl).enumerate().filter(|(_, (_, ace))| ace.redirects())
        {
            let services = || list.asking(program, place);
            let (Some(parent), Some(service)) = (named(program.acls.parents(ace)), services().next()) else {
                continue;
            };
            if services().all(knows_no_name) && told.insert(parent.at) {
                findings.push(finding(parent, ace, service));
            }
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// The first parent that is to be told a name.
fn named(parents: &[Parent]) -> Option<&Parent> {
    let wants_name =
        |kind| matches!(kind, ParentKind::ConnectName | ParentKind::Socks4Name | ParentKind::Socks5Name);
    parents.iter().find(|parent| wants_name(parent.kind))
}

/// Whether the target of a service is an address, whatever its clients ask for.
fn knows_no_name(service: &Service) -> bool {
    matches!(service.kind, ServiceKind::Tcppm | ServiceKind::Udppm)
        && service.target.as_ref().is_some_and(|target| value::address(target.host.as_bytes()).is_some())
}

fn finding(parent: &Parent, ace: &Ace, service: &Service) -> crate::finding::Finding {
    RULE.finding(parent.at, "this parent is sent an address all the same, because the service knows no name")
        .label("expects a name")
        .also(service.at, "leads to an address")
        .also(ace.at, "for what this entry matches")
        .help("write the target's name in the service's line, or the type without `+`")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn services_that_know_names_and_types_that_want_none_are_right() {
        for lines in [
            "parent 1000 connect+ 192.0.2.10 3128\nproxy",
            "parent 1000 connect 192.0.2.10 3128\ntcppm 1 192.0.2.1 1",
            "parent 1000 connect+ 192.0.2.10 3128\ntcppm 1 192.0.2.1 1\nsocks",
            "parent 1000 socks5+ 192.0.2.10 1080\ntlspr",
        ] {
            check("parent-without-name", &format!("auth iponly\nallow *\n{lines}\n"));
        }
    }
}
