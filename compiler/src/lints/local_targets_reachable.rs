//! `local-targets-reachable`
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{
    reach::{beyond_this_machine, forwards, reaches},
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    fix::{Fix, Safety},
    policy::{lists::Once, witness::Witness},
    program::{
        acl::{Ace, AclRef, Acls, Action, ListId, Matcher},
        service::Service,
    },
    sources::{Loc, Sources},
};

rule! {
    /// Clients can reach this machine itself, its private network or a cloud's metadata service through the proxy.
    ///
    /// What listens on 127.0.0.1 often asks for no password, since only local programs were to reach it; and a request through the proxy
    /// comes from there. 169.254.169.254 hands out the credentials of a cloud machine. If clients are not meant to reach
    /// such targets, deny them first.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// auth strong
    /// deny * * 127.0.0.0/8,169.254.0.0/16,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,::1,fc00::/7,fe80::/10
    /// allow alice
    /// proxy
    /// ```
    ///
    /// It warns where another list of the file denies such targets, which shows what is meant:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth strong
    /// deny * * 127.0.0.0/8
    /// allow alice
    /// proxy
    /// flush
    /// allow alice
    /// socks
    /// ```
    ///
    /// What a parent sends on is not reached from here:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    "local-targets-reachable",
    level: Allow,
    group: Security,
    since: "0.1.0",
    check: check,
}

/// A host of each network, and the network.
const LOCAL: [(IpAddr, &str); 9] = [
    (IpAddr::V4(Ipv4Addr::LOCALHOST), "127.0.0.0/8"),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2)), "127.0.0.0/8"),
    (IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)), "169.254.0.0/16"),
    (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), "10.0.0.0/8"),
    (IpAddr::V4(Ipv4Addr::new(172, 16, 0, 1)), "172.16.0.0/12"),
    (IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)), "192.168.0.0/16"),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), "::1"),
    (IpAddr::V6(Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 1)), "fc00::/7"),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1)), "fe80::/10"),
];

/// At most this many values of entries are compared in all: then the rest of a generated file is not asked.
const BUDGET: usize = 3_000_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (mut told, mut once, mut budget) = (BTreeSet::new(), Once::default(), BUDGET);
    let denied = denied(&program.acls);
    // Who is on this machine reaches them anyhow.
    let far = |service: &Service| forwards(service.kind) && beyond_this_machine(service).is_some();
    for service in program.services.iter().filter(|service| far(service)) {
        let acl = service.deciding_list();
        let place =
            acl.and_then(|acl| program.acls.entries(acl).next()).map_or(service.at, |(_, ace)| ace.at);
        let entries: Vec<&Ace> = match acl {
            Some(acl) => once.fresh(&program.acls, acl).map(|(_, ace)| ace).collect(),
            None => Vec::new(),
        };
        if told.contains(&place) {
            continue;
        }
        let mut reached = Vec::new();
        for (address, network) in LOCAL {
            if reached.last().is_some_and(|(last, _)| *last == network) {
                continue;
            }
            let way = reaches(&program.acls, (service, acl), &entries, address, &mut budget);
            reached.extend(way.map(|witness| (network, witness)));
        }
        if let Some((_, witness)) = reached.first() {
            told.insert(place);
            let networks: Vec<&str> = reached.iter().map(|(network, _)| *network).collect();
            let mut finding = finding(lint.sources, service, place, &networks, witness);
            // Whoever denies such targets to the clients of one service hardly means them for those of another.
            if let Some(elsewhere) = denied.filter(|denied| reached_though(lint, *denied, acl, &reached)) {
                finding.level = Level::Warn;
                finding =
                    finding.also(elsewhere.at, "denies such targets, but not to the clients of this service");
            }
            lint.report(finding);
        }
    }
}

/// An entry of a list that denies a local network to everyone.
#[derive(Clone, Copy)]
struct Denied<'a> {
    list: ListId,
    at: Loc,
    matcher: &'a Matcher,
}

/// The first such entry.
fn denied(acls: &Acls) -> Option<Denied<'_>> {
    acls.lists.iter().zip(0..).find_map(|(list, number)| {
        let entries = list.iter().filter_map(|id| acls.ace(*id));
        let mut for_all = entries.filter(|ace| ace.action == Action::Deny && is_for_all(&ace.matcher));
        let ace = for_all.find(|ace| LOCAL.iter().any(|(address, _)| lists(&ace.matcher, *address)))?;
        Some(Denied { list: ListId(number), at: ace.at, matcher: &ace.matcher })
    })
}

/// Whether an entry is for all clients, and all that they may do.
fn is_for_all(matcher: &Matcher) -> bool {
    matcher.users.is_none()
        && matcher.sources.is_none()
        && matcher.operations.is_none()
        && matcher.ports.is_none()
        && matcher.weekdays.is_none()
        && matcher.periods.is_none()
}

fn lists(matcher: &Matcher, address: IpAddr) -> bool {
    matcher.targets.iter().any(|targets| targets.addresses.iter().any(|range| range.contains(address)))
}

/// Whether a list other than that of `denied` lets pass what `denied` is for. What a service's own list denies too late, or in part, is
/// for other rules.
fn reached_though(
    lint: &Lint<'_>,
    denied: Denied<'_>,
    acl: Option<AclRef>,
    reached: &[(&str, Witness)],
) -> bool {
    let own = acl.map(|acl| acl.list);
    let denies = |list: AclRef| {
        lint.program.acls.entries(list).any(|(_, ace)| {
            ace.action == Action::Deny && LOCAL.iter().any(|(address, _)| lists(&ace.matcher, *address))
        })
    };
    let is_denied = |(_, witness): &(&str, Witness)| {
        witness.target.address.is_some_and(|address| lists(denied.matcher, address))
    };
    own != Some(denied.list) && !acl.is_some_and(denies) && reached.iter().any(is_denied)
}

fn finding(
    sources: &Sources,
    service: &Service,
    place: Loc,
    networks: &[&str],
    witness: &Witness,
) -> Finding {
    let listed = networks.join(",");
    let finding = RULE
        .finding(place, format!("clients can reach local targets through the proxy: {}", networks.join(", ")))
        .note(format!("For example, {witness} passes."));
    if place == service.at {
        return finding.help(format!("write `deny * * {listed}` and `allow *` above the service"));
    }
    finding
        .also(service.at, "in this service")
        .help(format!("write `deny * * {listed}` above the first entry"))
        .fix(Fix::insert_above(
            sources,
            "deny local targets",
            Safety::Unsafe,
            place,
            &format!("deny * * {listed}"),
        ))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn only_what_is_reached_is_named() {
        let found = |text: &str| {
            let found = findings("local-targets-reachable", text);
            found.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        let of =
            |networks: &str| vec![format!("clients can reach local targets through the proxy: {networks}")];
        assert_eq!(found("allow * * 192.168.0.0/16,127.0.0.1\nsocks\n"), of("127.0.0.0/8, 192.168.0.0/16"));
        assert_eq!(
            found("deny * * 127.0.0.0/8,169.254.0.0/16,10.0.0.0/8,::/0\nallow *\nproxy\nsocks\n"),
            of("172.16.0.0/12, 192.168.0.0/16")
        );
        assert_eq!(found("deny *\nsocks\n"), [""; 0]);
        assert_eq!(found("auth none\ndeny *\nsocks\n").len(), 1);
        assert_eq!(found("socks\n").len(), 1);
    }

    #[test]
    fn what_another_list_denies_is_hardly_meant() {
        use crate::finding::Level::{Allow, Warn};
        for (text, level) in [
            ("deny * * 127.0.0.0/8\nallow *\nproxy\nflush\nallow *\nsocks\n", Some(Warn)),
            ("deny * * 127.0.0.0/8\nallow *\nproxy\nflush\nsocks\n", Some(Warn)),
            ("deny * * 127.0.0.0/8\nallow *\nproxy\nauth none\nsocks\n", Some(Warn)),
            // It denies others, or to some only.
            ("deny * * 10.0.0.0/8\nallow *\nproxy\nflush\nallow * * 127.0.0.1\nsocks\n", Some(Allow)),
            ("deny a * 127.0.0.0/8\nallow *\nproxy\nflush\nallow *\nsocks\n", Some(Allow)),
            (
                "deny * * 127.0.0.0/8\nallow *\nproxy\nflush\ndeny * * 10.0.0.0/8\nallow *\nsocks\n",
                Some(Allow),
            ),
        ] {
            let found = findings("local-targets-reachable", text);
            assert_eq!(found.iter().map(|finding| finding.level).max(), level, "{text}");
        }
    }

    #[test]
    fn targets_that_clients_do_not_choose_are_no_matter() {
        for text in [
            "tcppm 25 127.0.0.1 25\n",
            "dnspr\n",
            "proxy -i127.0.0.1\n",
            "allow * * *.example.com\ndeny *\nproxy\n",
        ] {
            check("local-targets-reachable", text);
        }
    }
}
