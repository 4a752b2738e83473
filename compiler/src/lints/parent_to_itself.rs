//! `parent-to-itself`
use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    policy::witness::{Space, Witness},
    program::{
        acl::{Ace, AceId, Parent, ParentHost},
        service::{Listen, ListenAddress, Service},
    },
    way,
};

rule! {
    /// A service sends its requests on to itself.
    ///
    /// The parent is the address on which the service listens, and the list that names it lets such requests pass again. So each
    /// of them goes round until there are no connections left.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 127.0.0.1 1080
    /// socks -p1080
    /// ```
    ///
    /// A parent on the same machine has another port, and one within the process another list:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 127.0.0.1 9050
    /// socks -p1080
    /// flush
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 127.0.0.1 1080
    /// proxy
    /// ```
    "parent-to-itself",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Everything,
    check: check,
}

/// At most this many requests are tried for each entry, and for all together: one list may be that of thousands of services on one port.
const TRIED: usize = 32;
const BUDGET: usize = 100_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(way::is_hop) {
        return;
    }
    let mut listeners: HashMap<(u16, ListenAddress), Vec<usize>> = HashMap::new();
    for (at, service) in program.services.iter().enumerate() {
        let Listen { address, port } = &service.listen;
        let canonical = match &address.value {
            ListenAddress::Ip(address) => ListenAddress::Ip(address.to_canonical()),
            unix @ ListenAddress::Unix(_) => unix.clone(),
        };
        listeners.entry((port.value, canonical)).or_default().push(at);
    }
    let (mut told, mut findings, mut budget) = (BTreeSet::new(), Vec::new(), BUDGET);
    for (id, ace) in (0..).map(AceId).zip(&program.acls.aces) {
        for parent in program.acls.parents(ace).iter().filter(|parent| way::is_hop(parent)) {
            let there = places(parent).into_iter().filter_map(|place| listeners.get(&place)).flatten();
            let services = there.filter_map(|at| Some((*at, program.services.get(*at)?)));
            let mut circles = services.filter_map(|(at, service)| {
                Some((service, returns(lint, at, service, (id, ace), &mut budget)?))
            });
            if let Some((service, witness)) = circles.next().filter(|_| told.insert(parent.at)) {
                findings.push(finding(parent, service, &witness));
            }
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// Where a service listens that gets what is sent to a parent.
fn places(parent: &Parent) -> Vec<(u16, ListenAddress)> {
    let any = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    let addresses = match &parent.host {
        ParentHost::Address(address) if address.is_unspecified() => Vec::new(),
        ParentHost::Address(address) if address.to_canonical().is_loopback() => {
            [address.to_canonical()].into_iter().chain(any).collect()
        }
        ParentHost::Address(address) => vec![address.to_canonical()],
        ParentHost::Name(name) if name.as_bytes().eq_ignore_ascii_case(b"localhost") => {
            [IpAddr::V4(Ipv4Addr::LOCALHOST)].into_iter().chain(any).collect()
        }
        ParentHost::Name(_) | ParentHost::Prefix(..) => Vec::new(),
        ParentHost::Unix(path) => return vec![(parent.port, ListenAddress::Unix(path.clone()))],
    };
    addresses.into_iter().map(|address| (parent.port, ListenAddress::Ip(address))).collect()
}

/// A request from this machine that comes to the same entry.
fn returns(
    lint: &Lint<'_>,
    at: usize,
    service: &Service,
    (id, ace): (AceId, &Ace),
    budget: &mut usize,
) -> Option<Witness> {
    // To look at the service is work, too.
    *budget = budget.checked_sub(1)?;
    let own = match service.listen.address.value {
        ListenAddress::Ip(address) if !address.is_unspecified() => address.to_canonical(),
        _ => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    service.chain.value.iter().find_map(|step| {
        let space = Space::accepted(&ace.matcher, service, step.kind, lint.policy());
        let from_here = space.requests(TRIED.min(*budget)).map(|witness| Witness { source: own, ..witness });
        from_here.into_iter().find(|witness| {
            *budget = budget.saturating_sub(1);
            lint.policy().decide(at, &witness.request()).entry == Some(id)
        })
    })
}

fn finding(parent: &Parent, service: &Service, witness: &Witness) -> Finding {
    RULE.finding(parent.at, "this parent is the service itself, so its requests loop")
        .label("leads back to this service")
        .also(service.at, "listens there, and its list names the parent")
        .note(format!("For example, {witness} comes back from this machine and is sent there again."))
        .help("write the address of the proxy that is meant, or `deny` requests from this machine in an entry before it")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_chain_within_the_process_is_no_circle() {
        for text in [
            "allow *\nparent 1000 socks5 127.0.0.1 1081\nsocks\nflush\nallow *\nsocks -p1081\n",
            "allow * 10.0.0.0/8\nparent 1000 socks5 127.0.0.1 1080\nsocks\n",
            "deny * 127.0.0.1\nallow *\nparent 1000 socks5 127.0.0.1 1080\nsocks\n",
            "allow *\nparent 1000 socks5 192.0.2.1 1080\nsocks\n",
            "allow *\nparent 1000 socks5 127.0.0.2 1080\nsocks -i127.0.0.1\n",
            "allow *\nparent 1000 socks5 0.0.0.0 1080\nsocks\n",
        ] {
            check("parent-to-itself", text);
        }
    }

    #[test]
    fn a_list_copied_by_the_next_service_may_be_a_circle_there() {
        check(
            "parent-to-itself",
            r"
internal 192.0.2.1
allow *
parent 1000 http 192.0.2.1 3129
#^ its requests loop
proxy
proxy -p3129
",
        );
    }
}
