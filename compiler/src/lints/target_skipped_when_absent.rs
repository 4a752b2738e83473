//! `target-skipped-when-absent`
use super::rule::{Lint, rule};
use crate::{
    options::Runner,
    policy::lists::AskedList,
    program::{
        acl::{Ace, Action, Operation},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// Requests have no target to compare with this entry, so it matches all of them.
    ///
    /// A query to `dnspr` has no target: an entry that lists some lets every query pass, or refuses every one. (`cfgc run` judges what
    /// an `allow` lets pass once more, by the name that is asked for.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 *.example.com
    /// deny *
    /// dnspr -i10.0.0.1
    /// ```
    ///
    /// And 3proxy does not compare names with UDP datagrams that carry an address:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 *.example.com
    /// deny *
    /// socks -i10.0.0.1
    /// ```
    ///
    /// Limit such an entry to connections:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 *.example.com * CONNECT
    /// deny *
    /// socks -i10.0.0.1
    /// ```
    "target-skipped-when-absent",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let entry = |meant: &dyn Fn(&Ace) -> bool, kind: fn(ServiceKind) -> bool| {
            let (place, (_, ace)) =
                program.acls.entries(list.acl).enumerate().find(|(_, (_, ace))| meant(ace))?;
            Some((ace, service(lint, list, place, kind)?))
        };
        let dns =
            |ace: &Ace| lists_targets(ace) && !(lint.options.runner == Runner::Cfgc && names_allowed(ace));
        let dns = entry(&dns, |kind| kind == ServiceKind::Dnspr);
        let udp = entry(&lists_names_for_udp, |kind| matches!(kind, ServiceKind::Socks | ServiceKind::Auto));
        let dns = dns.map(|(ace, service)| {
            RULE.finding(ace.at, "a query to `dnspr` has no target, so this entry matches every query")
                .label("its targets are not compared")
                .also(service, "by this service")
                .help("limit the clients, not the targets: `allow * 10.0.0.0/8`")
        });
        // The runtime compares the address in the form of a text.
        let udp = udp.filter(|_| lint.options.runner != Runner::Cfgc).map(|(ace, service)| {
            RULE.finding(ace.at, "3proxy allows UDP datagrams to any address here, because it compares names only where there is one")
                .label("not compared with addresses")
                .also(service, "by this service")
                .help("write `CONNECT` for the operations of this entry, or `deny * * * * UDPASSOC` above it")
        });
        for finding in dns.into_iter().chain(udp) {
            lint.report(finding);
        }
    }
}

/// A service of some kind that asks the entry at `place`.
fn service(
    lint: &Lint<'_>,
    list: &AskedList,
    place: usize,
    kind: fn(ServiceKind) -> bool,
) -> Option<crate::sources::Loc> {
    let has = |service: &&Service| kind(service.kind);
    list.asking(lint.program, place).find(has).map(|service| service.at)
}

fn lists_targets(ace: &Ace) -> bool {
    let asks = |listed: crate::program::acl::Operations| listed.has(Operation::DnsResolve);
    ace.matcher.targets.is_some() && ace.matcher.operations.is_none_or(asks)
}

/// The runtime compares these with the name.
fn names_allowed(ace: &Ace) -> bool {
    ace.action == Action::Allow
        && ace.matcher.targets.as_ref().is_some_and(|targets| !targets.names.is_empty())
}

fn lists_names_for_udp(ace: &Ace) -> bool {
    let asks = |listed: crate::program::acl::Operations| listed.has(Operation::UdpAssociate);
    ace.action == Action::Allow
        && ace.matcher.operations.is_none_or(asks)
        && ace.matcher.targets.as_ref().is_some_and(|targets| {
            targets.addresses.is_empty() && !targets.names.iter().any(|name| name.text().is_empty())
        })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn services_with_targets_are_silent() {
        check(
            "target-skipped-when-absent",
            r"
internal 127.0.0.1
allow * * *.example.com,192.0.2.0/24
proxy
socks
flush
allow * * *.example.com
#^ UDP datagrams
socks -p1081
flush
deny * * *.example.com
#^ matches every query
allow *
dnspr
flush
allow * * * * DNSRESOLVE
allow * * *.example.com * CONNECT
dnspr -p54
",
        );
    }
}
