//! `target-skipped-when-absent`
use super::rule::{Lint, rule};
use crate::{
    analysis::{
        lists::AskedList,
        witness::{
            OFFICE_HOURS, Target, Witness,
            values::{ELSEWHERE, STRANGERS},
        },
    },
    finding::Finding,
    options::Runner,
    program::{
        Program,
        acl::{Ace, Action, Operation},
        service::{Service, ServiceKind},
    },
    table::{Subject, oracle::matches},
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
    /// And 3proxy does not compare names with UDP datagrams that carry an address. (Where a later entry allows them anyhow, that is no matter.)
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
        let dns = dns.map(|(ace, service)| {
            RULE.finding(ace.at, "a query to `dnspr` has no target, so this entry matches every query")
                .label("its targets are not compared")
                .also(service, "by this service")
                .help("limit the clients, not the targets: `allow * 10.0.0.0/8`")
        });
        // The runtime compares the address in the form of a text.
        let udp = udp(program, list).filter(|_| lint.options.runner != Runner::Cfgc);
        for finding in dns.into_iter().chain(udp) {
            lint.report(finding);
        }
    }
}

/// At most this many entries of a list are tried.
const ENTRIES: usize = 8;

/// An entry that lets UDP datagrams pass whose names it lists, where no entry behind it does that anyhow.
fn udp(program: &Program, list: &AskedList) -> Option<Finding> {
    let entries = program.acls.entries(list.acl).enumerate();
    let by_name = entries.filter(|(_, (_, ace))| lists_names_for_udp(ace)).take(ENTRIES);
    let (place, ace, service) = by_name.into_iter().find_map(|(place, (_, ace))| {
        let asking = list.asking(program, place);
        let mut socks = asking.filter(|service| service.kind.speaks_socks());
        let service = socks.find(|service| !passes_behind(program, service, place, ace))?;
        Some((place, ace, service))
    })?;
    let connects = list
        .asking(program, place)
        .all(|service| !matches!(service.kind, ServiceKind::Proxy | ServiceKind::Auto | ServiceKind::Ftppr));
    // Other services ask the entry for more than connections.
    let operations = if connects { "CONNECT" } else { "CONNECT,HTTP,HTTPS,FTP" };
    Some(
        RULE.finding(ace.at, "3proxy allows UDP datagrams to any address here, because it compares names only where there is one")
            .label("not compared with addresses")
            .also(service.at, "by this service")
            .help(format!("write `{operations}` for the operations of this entry, or `deny * * * * UDPASSOC` above it")),
    )
}

/// Whether a datagram that the entry at `place` lets pass would pass without it.
fn passes_behind(program: &Program, service: &Service, place: usize, ace: &Ace) -> bool {
    let matcher = &ace.matcher;
    let datagram = Witness {
        user: matcher.users.iter().flatten().next().filter(|name| *name != b"-").map(<[u8]>::to_vec),
        source: matcher.sources.as_deref().and_then(<[_]>::first).map_or(STRANGERS[0], |range| range.first),
        target: Target { host: None, address: Some(ELSEWHERE) },
        port: matcher.ports.as_deref().and_then(<[_]>::first).map_or(53, |range| range.first),
        operation: Operation::UdpAssociate,
        time: OFFICE_HOURS,
    };
    let request = datagram.request();
    let subject = Subject::new(&request);
    let behind = service.acl.map(|acl| program.acls.entries(acl).skip(place + 1));
    let decides = behind.into_iter().flatten().find(|(_, ace)| matches(&ace.matcher, &subject));
    decides.is_some_and(|(_, ace)| ace.action == Action::Allow)
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
    use crate::lints::tests::{check, findings};

    #[test]
    fn the_help_leaves_other_services_what_they_are_asked_for() {
        for (services, help) in [
            ("socks", "write `CONNECT` for"),
            ("socks\ntcppm 25 192.0.2.1 25", "write `CONNECT` for"),
            ("socks\nproxy", "write `CONNECT,HTTP,HTTPS,FTP` for"),
            ("auto", "write `CONNECT,HTTP,HTTPS,FTP` for"),
        ] {
            let found = findings("target-skipped-when-absent", &format!("allow * * *.onion\n{services}\n"));
            let helps: Vec<_> = found.iter().filter_map(|finding| finding.help.as_deref()).collect();
            assert!(
                helps.iter().all(|text| text.starts_with(help)) && helps.len() == 1,
                "{services}: {helps:?}"
            );
        }
    }

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
allow alice * *.example.com
allow bob,alice
socks -p1082
flush
allow alice * *.example.com
#^ UDP datagrams
deny * * * * UDPASSOC
allow *
socks -p1083
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
