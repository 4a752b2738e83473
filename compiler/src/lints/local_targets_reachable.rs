//! `local-targets-reachable`
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{
    ipv4_target_evaded::{self, MAPPED},
    listeners::is_placed,
    reach::{beyond_this_machine, forwards, is_for_all, reaches},
    rule::{Lint, rule},
    strangers::{Decider, open_to, open_without_target},
};
use crate::{
    analysis::{
        lists::{AskedList, Once},
        witness::Witness,
    },
    finding::{Finding, Level},
    fix::{Fix, Safety},
    options::Runner,
    program::{
        acl::{Ace, AclRef, Acls, Action, ListId, Matcher, Operation},
        auth::AuthType,
        service::{ListenAddress, Service, ServiceKind},
    },
    sources::Loc,
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
    /// And where the file has an admin page that asks for no password, since only programs of this machine reach it:
    ///
    /// ```3proxy,fires
    /// auth none
    /// admin -i127.0.0.1
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// proxy
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
    let pages = pages(lint);
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
            let way = reaches(&program.acls, (service, acl), &entries, (address, None), &mut budget);
            reached.extend(way.map(|witness| (network, witness)));
        }
        let mut opened = pages.iter().filter_map(|page| {
            let to = (page.address, Some(page.port));
            Some((page, reaches(&program.acls, (service, acl), &entries, to, &mut budget)?))
        });
        if let Some((page, witness)) = opened.next() {
            told.insert(place);
            lint.report(page_opened(lint, service, place, page, &witness));
        } else if let Some((_, witness)) = reached.first() {
            told.insert(place);
            let networks: Vec<&str> = reached.iter().map(|(network, _)| *network).collect();
            let mut finding = finding(lint, service, place, &networks, witness);
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

fn finding(lint: &Lint<'_>, service: &Service, place: Loc, networks: &[&str], witness: &Witness) -> Finding {
    let finding = RULE
        .finding(place, format!("clients can reach local targets through the proxy: {}", networks.join(", ")))
        .note(format!("For example, {witness} passes."));
    denying(finding, lint, service, place, networks)
}

/// With what denies some targets: where clients can ask for them in IPv6 form, in both forms.
fn denying(finding: Finding, lint: &Lint<'_>, service: &Service, place: Loc, networks: &[&str]) -> Finding {
    let form = |network: &&str| {
        let (address, length) = network.split_once('/').unwrap_or((network, "32"));
        let form = format!("{MAPPED}{}", address.parse::<Ipv4Addr>().ok()?);
        let length = 96 + length.parse::<u8>().ok()?;
        Some(if length == 128 { form } else { format!("{form}/{length}") })
    };
    let both = takes_ipv6_form(lint, service);
    let forms: Vec<String> = networks.iter().filter(|_| both).filter_map(form).collect();
    let mut listed = networks.join(",");
    let mut lines = format!("`deny * * {listed}`");
    // A line with both would be too long to be shown.
    if !forms.is_empty() {
        let forms = forms.join(",");
        lines.extend([" and `deny * * ", &forms, "`"]);
        listed.extend([",", &forms]);
    }
    // Under `none` no list is asked.
    if service.chain.value.iter().any(|step| step.kind == AuthType::None) {
        let help =
            format!("write `auth iponly` in place of `none`, and {lines} and `allow *` above the service");
        return finding.help(help);
    }
    if place == service.at {
        return finding.help(format!("write {lines} and `allow *` above the service"));
    }
    let line = format!("deny * * {listed}");
    finding
        .also(service.at, "in this service")
        .help(format!("write {lines} above the first entry"))
        .fix(Fix::insert_above(lint.sources, "deny local targets", Safety::Unsafe, place, &line))
}

/// Whether clients of a service, or of another one that asks its list, can ask 3proxy for IPv4 targets in IPv6 form.
fn takes_ipv6_form(lint: &Lint<'_>, service: &Service) -> bool {
    let lists = lint.asked_lists();
    let asked = service.asked_list().and_then(|acl| {
        let at = lists.binary_search_by_key(&acl.list, |list| list.acl.list).ok()?;
        lists.get(at)
    });
    let of_list = |list: &AskedList| list.services(lint.program).any(ipv4_target_evaded::takes_ipv6_form);
    lint.options.runner != Runner::Cfgc
        && asked.map_or_else(|| ipv4_target_evaded::takes_ipv6_form(service), of_list)
}

/// An admin page that asks for no password of who comes from this machine.
struct Page {
    at: Loc,
    address: IpAddr,
    port: u16,
}

/// At most this many pages are asked for.
const PAGES: usize = 4;

/// Those that strangers cannot open otherwise: of the others `admin-exposed` tells.
fn pages(lint: &Lint<'_>) -> Vec<Page> {
    let is_page = |service: &Service| service.kind == ServiceKind::Admin && is_placed(lint.program, service);
    let decider = Decider::new(lint, is_page);
    let services = lint.program.services.iter().enumerate().filter(|(_, service)| is_page(service));
    let pages = services.filter_map(|(at, service)| {
        let ListenAddress::Ip(address) = service.listen.address.value else { return None };
        let address = match address.to_canonical() {
            address if !address.is_unspecified() => address,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let certified = service.tls.serve.is_some() && service.tls.server.verify.is_some();
        let exposed = beyond_this_machine(service).is_some()
            && open_without_target(&decider, at, Operation::Admin).is_some();
        open_to(&decider, at, Operation::Admin, address).filter(|_| !certified && !exposed)?;
        Some(Page { at: service.at, address, port: service.listen.port.value })
    });
    pages.take(PAGES).collect()
}

fn page_opened(lint: &Lint<'_>, service: &Service, place: Loc, page: &Page, witness: &Witness) -> Finding {
    let network = match page.address {
        IpAddr::V4(address) if address.is_loopback() => "127.0.0.0/8".to_owned(),
        address => address.to_string(),
    };
    let mut finding = RULE
        .finding(place, "clients can open the admin page through the proxy, because it asks for no password of who comes from this machine")
        .also(page.at, "this page")
        .note(format!("For example, {witness} passes."));
    finding.level = Level::Warn;
    denying(finding, lint, service, place, &[&network])
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn an_admin_page_without_a_password_is_named() {
        use crate::finding::Level::{Allow, Warn};
        let proxy = "users a:CL:wonderland\nauth strong\nflush\nallow a\nproxy\n";
        for (page, level) in [
            ("auth none\nadmin -i127.0.0.1\n", Warn),
            ("auth iponly\nadmin -i127.0.0.1\n", Warn),
            ("auth iponly\nallow * 127.0.0.1\nadmin\n", Warn),
            ("auth iponly\nallow * ::1\nadmin -i::1\n", Warn),
            ("auth strong\nadmin -i127.0.0.1\n", Allow),
            ("auth iponly\nallow * 192.168.0.5\nadmin -i192.168.0.1\n", Allow),
            // `admin-exposed` tells.
            ("auth none\nadmin\n", Allow),
        ] {
            let found = findings("local-targets-reachable", &format!("{page}{proxy}"));
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{page}");
        }
        for (page, proxy) in [
            ("admin -i127.0.0.1", "deny * * 127.0.0.0/8,::1\nallow a\nproxy"),
            ("admin -i127.0.0.1 -p8081", "allow a * * 80,443\nproxy"),
            ("admin -i127.0.0.1", "allow a\nproxy -i127.0.0.1"),
            ("admin -i127.0.0.1", "allow a\nparent 1000 http 192.0.2.1 3128\nproxy"),
        ] {
            let text = format!("users a:CL:wonderland\nauth none\n{page}\nauth strong\n{proxy}\n");
            let found = findings("local-targets-reachable", &text);
            assert!(found.iter().all(|finding| finding.level == Allow), "{text}: {found:?}");
        }
    }

    /// What is typed by hand must not be found fault with.
    #[test]
    fn what_is_to_be_written_denies_both_forms() {
        for (service, both) in
            [("socks", true), ("proxy", false), ("proxy -64", true), ("proxy\nsocks -p1081", true)]
        {
            let found = findings("local-targets-reachable", &format!("allow *\n{service}\n"));
            let help = found.first().and_then(|finding| finding.help.clone()).unwrap();
            let lines: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
            assert_eq!(lines.len(), if both { 2 } else { 1 }, "{service}: {help}");
            let edit = found.first().and_then(|finding| finding.fix.as_ref()?.edits.first()).unwrap();
            for written in [lines.join("\n") + "\n", edit.text.clone()] {
                let text = format!("{written}allow *\n{service}\n");
                let more =
                    ["ipv4-target-evaded", "local-targets-reachable"].map(|rule| findings(rule, &text).len());
                assert_eq!(more, [0, 0], "{service}: {text}");
            }
        }
    }

    #[test]
    fn the_help_makes_the_list_count_where_none_is_asked() {
        for (text, iponly) in [
            ("auth none\nsocks\n", true),
            ("auth none\ndeny *\nsocks\n", true),
            ("auth iponly none\nallow * 10.0.0.0/8\nsocks\n", true),
            ("auth iponly\nsocks\n", false),
            ("allow *\nsocks\n", false),
        ] {
            let found = findings("local-targets-reachable", text);
            let helps: Vec<_> = found.iter().filter_map(|finding| finding.help.as_deref()).collect();
            assert!(
                helps.len() == 1 && helps.iter().all(|help| help.contains("auth iponly") == iponly),
                "{text}: {helps:?}"
            );
        }
    }

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
