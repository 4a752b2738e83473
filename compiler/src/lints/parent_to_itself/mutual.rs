//! Two services that are each other's parents.
use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr},
};

use super::{Listeners, RULE, TRIED, places};
use crate::{
    analysis::witness::{Space, Target, Witness},
    finding::Finding,
    lints::Lint,
    program::{
        acl::{Ace, AceId, Operation, Parent, ParentKind},
        auth::AuthType,
        service::{ListenAddress, Service},
    },
    way,
};

/// An entry of a service that sends requests on to another one.
struct Way<'a> {
    entry: AceId,
    ace: &'a Ace,
    parent: &'a Parent,
    /// To these services.
    to: Vec<usize>,
}

/// A service with its index, and the entry that sends its requests on.
type End<'a> = (usize, &'a Service, &'a Way<'a>);

/// Pairs of services whose requests go to and fro, as far as the budget goes.
pub(super) fn circles(lint: &Lint<'_>, listeners: &Listeners, budget: &mut usize) -> Vec<Finding> {
    let services = &lint.program.services;
    let ways = ways(lint, listeners, budget);
    let mut findings = Vec::new();
    for (first, there) in &ways {
        for out in there {
            let others = out.to.iter().filter(|second| *second > first);
            for (second, back) in others.filter_map(|second| Some((second, ways.get(second)?))) {
                let (Some(one), Some(other)) = (services.get(*first), services.get(*second)) else {
                    continue;
                };
                let mut back = back.iter().filter(|back| back.to.contains(first));
                let pair = back.find_map(|back| {
                    *budget = budget.checked_sub(1)?;
                    let witness = circle(lint, (*first, one, out), (*second, other, back), budget)?;
                    Some(finding((one, out.parent), (other, back.parent), &witness))
                });
                findings.extend(pair);
            }
        }
    }
    findings
}

/// The ways of each service to others of this process.
fn ways<'a>(lint: &Lint<'a>, listeners: &Listeners, budget: &mut usize) -> BTreeMap<usize, Vec<Way<'a>>> {
    let program = lint.program;
    let mut ways: BTreeMap<usize, Vec<Way<'_>>> = BTreeMap::new();
    for (at, service) in program.services.iter().enumerate() {
        let Some(acl) = service.asked_list() else { continue };
        let Some(left) = budget.checked_sub(acl.len as usize) else { break };
        *budget = left;
        for (entry, ace) in program.acls.entries(acl).filter(|(_, ace)| ace.redirects()) {
            let parents = program.acls.parents(ace);
            // Behind another hop it is that hop which is connected to.
            let hops = if way::groups(parents).len() == 1 { parents } else { &[] };
            for parent in hops.iter().filter(|parent| way::is_hop(parent) && parent.port != 0) {
                let to = places(parent).into_iter().filter_map(|place| listeners.get(&place)).flatten();
                let to: Vec<usize> = to.copied().filter(|other| *other != at).collect();
                if !to.is_empty() {
                    ways.entry(at).or_default().push(Way { entry, ace, parent, to });
                }
            }
        }
    }
    ways
}

/// A request that the first service sends to the second, and that one back.
fn circle(lint: &Lint<'_>, first: End<'_>, second: End<'_>, budget: &mut usize) -> Option<Witness> {
    let space = Space::accepted(&first.2.ace.matcher, first.1, AuthType::IpOnly, lint.policy());
    let mut requests = space.requests(TRIED.min(*budget));
    requests.find_map(|request| {
        *budget = budget.saturating_sub(1);
        // By name it may be another one, once a parent was told the address alone.
        let target = Target::literal(request.target.address?);
        let sent = |from: &End<'_>, to: &End<'_>| {
            let arrives = |operation| Witness {
                user: None,
                source: origin(from.1, to.1),
                target: target.clone(),
                port: request.port,
                operation,
                time: request.time,
            };
            let (_, _, way) = to;
            let operations = to.1.kind.operations().iter().copied();
            let mut arriving = operations.filter(|one| asks(from.2.parent.kind, *one)).map(arrives);
            arriving.find_map(|witness| {
                names(to.1, from.2.parent).into_iter().find_map(|user| {
                    let witness = Witness { user, ..witness.clone() };
                    let verdict = lint.policy().decide(to.0, &witness.request());
                    (verdict.passes() && verdict.entry == Some(way.entry)).then_some(witness)
                })
            })
        };
        sent(&first, &second)?;
        sent(&second, &first)
    })
}

/// Where requests come from that one service sends to another: from its external address, if it has one of that family.
pub(super) fn origin(from: &Service, to: &Service) -> IpAddr {
    let own = own(to);
    let external = match own {
        IpAddr::V4(_) => IpAddr::V4(from.external.v4.value),
        IpAddr::V6(_) => IpAddr::V6(from.external.v6.value),
    };
    if external.is_unspecified() { own } else { external }
}

/// Where requests of this process come from that a service gets.
pub(crate) fn own(service: &Service) -> IpAddr {
    match service.listen.address.value {
        ListenAddress::Ip(address) if !address.is_unspecified() => address.to_canonical(),
        _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

/// What a service's list may be told for the name of who comes through a parent.
fn names(service: &Service, parent: &Parent) -> Vec<Option<Vec<u8>>> {
    let given = parent.user.as_ref().filter(|user| user.as_bytes() != b"*");
    let name = |kind| match kind {
        AuthType::IpOnly => Some(None),
        AuthType::UserOnly | AuthType::Strong | AuthType::Radius => {
            given.map(|name| Some(name.as_bytes().to_vec()))
        }
        _ => None,
    };
    service.chain.value.iter().filter_map(|step| name(step.kind)).collect()
}

/// Whether an operation is asked for of a parent of this type.
pub(crate) fn asks(kind: ParentKind, operation: Operation) -> bool {
    match kind {
        ParentKind::Connect | ParentKind::ConnectName => operation == Operation::HttpConnect,
        ParentKind::Socks4
        | ParentKind::Socks4Name
        | ParentKind::Socks4Short
        | ParentKind::Socks5
        | ParentKind::Socks5Name
        | ParentKind::Socks5Short => operation == Operation::Connect,
        ParentKind::Http => operation == Operation::HttpGet,
        _ => false,
    }
}

fn finding(
    (one, out): (&Service, &Parent),
    (other, back): (&Service, &Parent),
    witness: &Witness,
) -> Finding {
    RULE.finding(back.at, "two services are each other's parents, so their requests loop")
        .label("leads back to the first service")
        .also(one.at, "the first service")
        .also(out.at, "leads to the second service")
        .also(other.at, "the second service")
        .note(format!("For example, {witness} goes to and fro between them."))
        .help("write the address of the proxy that is meant in one of them, or `deny` requests from this machine in an entry before it")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    fn text(first: &str, second: &str) -> String {
        format!(
            "users a:CL:x\nauth iponly\n{first}\nparent 1000 connect 127.0.0.1 3129\nproxy\nflush\n{second}\nproxy -p3129\n"
        )
    }

    #[test]
    fn requests_that_go_to_and_fro_are_found() {
        for (first, second) in [
            ("allow *", "allow *\nparent 1000 connect 127.0.0.1 3128"),
            ("allow * 127.0.0.0/8", "deny * * 10.0.0.0/8\nallow *\nparent 1000 connect 127.0.0.1 3128"),
            ("allow * * * 443 HTTPS", "allow *\nparent 1000 connect+ localhost 3128"),
            ("allow *", "auth strong\nallow a\nparent 1000 connect 127.0.0.1 3128"),
        ] {
            // The second asks for a name, which the first's parent has to give.
            let text = text(first, second).replace("127.0.0.1 3129\n", "127.0.0.1 3129 a x\n");
            let found = findings("parent-to-itself", &text);
            assert_eq!(found.len(), 1, "{first} / {second}: {found:#?}");
        }
    }

    #[test]
    fn requests_that_one_of_them_refuses_or_sends_elsewhere_do_not() {
        for (first, second) in [
            ("allow *", "allow *\nparent 1000 connect 192.0.2.1 3128"),
            ("allow *", "allow *"),
            ("deny * 127.0.0.1\nallow *", "allow *\nparent 1000 connect 127.0.0.1 3128"),
            ("allow * 10.0.0.0/8", "allow *\nparent 1000 connect 127.0.0.1 3128"),
            ("external 192.0.2.1\nallow * 127.0.0.0/8", "allow *\nparent 1000 connect 127.0.0.1 3128"),
            ("allow * * * 443", "allow * * * 80\nparent 1000 connect 127.0.0.1 3128"),
            ("allow *", "allow *\nparent 1000 socks5 127.0.0.1 3128"),
            ("allow *", "auth strong\nallow a\nparent 1000 connect 127.0.0.1 3128"),
            ("allow *", "allow *\nparent 1000 connect 192.0.2.1 8080\nparent 1000 connect 127.0.0.1 3128"),
        ] {
            check("parent-to-itself", &text(first, second));
        }
    }

    #[test]
    fn services_of_other_kinds_go_to_and_fro_too() {
        let text = "auth iponly\nallow *\nparent 1000 socks5 127.0.0.1 1080\nproxy\nflush\nallow *\nparent 1000 http 127.0.0.1 3128\nsocks\n";
        assert!(findings("parent-to-itself", &text.replace("http", "connect")).len() == 1);
        check("parent-to-itself", text.replace("proxy", "tcppm 3128 192.0.2.1 80").as_str());
    }
}
