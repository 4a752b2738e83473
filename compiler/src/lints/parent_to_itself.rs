//! `parent-to-itself`
use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use grammar::Text;

use super::{
    listeners::{is_placed, placed},
    rule::{Lint, rule},
};
use crate::{
    analysis::witness::{Space, Witness},
    finding::Finding,
    program::{
        Program,
        acl::{Ace, AceId, Parent, ParentHost},
        auth::{AuthStep, AuthType},
        service::{Listen, ListenAddress, MappedTarget, Service},
    },
    way,
};

pub(crate) mod mutual;

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
    ///
    /// So do two services that are each other's parents:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 connect 127.0.0.1 3129
    /// proxy -p3128 -i127.0.0.1
    /// flush
    /// allow *
    /// parent 1000 connect 127.0.0.1 3128
    /// proxy -p3129 -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 connect 127.0.0.1 3129
    /// proxy -p3128 -i127.0.0.1
    /// flush
    /// allow *
    /// parent 1000 connect 192.0.2.10 3128
    /// proxy -p3129 -i127.0.0.1
    /// ```
    ///
    /// And so does a port mapper whose target is itself, be it through another one:
    ///
    /// ```3proxy,fires
    /// tcppm -i127.0.0.1 8443 127.0.0.1 8443
    /// ```
    ///
    /// ```3proxy,clean
    /// tcppm -i127.0.0.1 8443 127.0.0.1 443
    /// tcppm -i127.0.0.1 443 192.0.2.10 443
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
    mappers(lint);
    if !lint.program.acls.parents.iter().any(way::is_hop) {
        return;
    }
    let listeners = listeners(lint.program);
    let mut found = circles(lint, &listeners, &mut { BUDGET });
    found.extend(mutual::circles(lint, &listeners, &mut { BUDGET }));
    for finding in found {
        lint.report(finding);
    }
}

/// The services that listen at each place, as indexes of [`Program::services`].
pub(super) type Listeners = HashMap<(u16, ListenAddress), Vec<usize>>;

pub(super) fn listeners(program: &Program) -> Listeners {
    let mut listeners = Listeners::new();
    let services = program.services.iter().enumerate();
    for (at, service) in services.filter(|(_, service)| is_placed(program, service)) {
        listeners.entry(listens(service)).or_default().push(at);
    }
    listeners
}

/// Parents that lead back to the service that asks them, as far as the budget goes.
fn circles(lint: &Lint<'_>, listeners: &Listeners, budget: &mut usize) -> Vec<Finding> {
    let program = lint.program;
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    for (id, ace) in (0..).map(AceId).zip(&program.acls.aces) {
        for parent in program.acls.parents(ace).iter().filter(|parent| way::is_hop(parent)) {
            let there = places(parent).into_iter().filter_map(|place| listeners.get(&place)).flatten();
            let services = there.filter_map(|at| Some((*at, program.services.get(*at)?)));
            let mut circles = services
                .filter_map(|(at, service)| Some((service, returns(lint, at, service, (id, ace), budget)?)));
            if let Some((service, witness)) = circles.next().filter(|_| told.insert(parent.at)) {
                findings.push(finding(parent, service, &witness));
            }
        }
    }
    findings
}

/// How many port mappers that follow each other are looked at.
const MAPPERS: usize = 8;

/// Finds port mappers whose targets lead back to them.
fn mappers(lint: &mut Lint<'_>) {
    let mappers = placed(lint.program).filter_map(|service| Some((service, service.target.as_ref()?)));
    let mut listeners: HashMap<(bool, u16, ListenAddress), Mapper<'_>> = HashMap::new();
    for mapper in mappers.clone() {
        let (port, address) = listens(mapper.0);
        listeners.entry((mapper.0.kind.takes_datagrams(), port, address)).or_insert(mapper);
    }
    let next = |(service, target): Mapper<'_>| {
        let hosts = addresses(&target.host).into_iter();
        let mut places = hosts.map(|address| (service.kind.takes_datagrams(), target.port, address));
        places.find_map(|place| listeners.get(&place)).copied()
    };
    let mut findings = Vec::new();
    for (service, target) in mappers {
        let way = std::iter::successors(next((service, target)), |mapper| next(*mapper)).take(MAPPERS);
        let through: Vec<&Service> = way.map(|(other, _)| other).collect();
        if let Some(back) = through.iter().position(|other| std::ptr::eq(*other, service)) {
            let message = "this port mapper's target is the mapper itself, so each connection fails or loops";
            let finding = RULE.finding(target.at, message).label("leads back to this service");
            let through = through.iter().take(back).map(|other| (other.at, "through this one"));
            let finding = through.fold(finding, |finding, (at, label)| finding.also(at, label));
            findings.push(finding.help("write the address and the port of the server that is meant"));
        }
    }
    findings.into_iter().for_each(|finding| lint.report(finding));
}

/// A port mapper with its target.
type Mapper<'a> = (&'a Service, &'a MappedTarget);

/// Where a port mapper's target may be in this process.
fn addresses(host: &Text) -> Vec<ListenAddress> {
    let text = host.to_string();
    match text.parse::<IpAddr>() {
        Ok(address) => within(&ParentHost::Address(address)),
        Err(_) => match text.strip_prefix("unix:") {
            Some(path) => vec![ListenAddress::Unix(path.as_bytes().into())],
            None => within(&ParentHost::Name(host.clone())),
        },
    }
}

/// Where a service listens.
fn listens(service: &Service) -> (u16, ListenAddress) {
    let Listen { address, port } = &service.listen;
    let canonical = match &address.value {
        ListenAddress::Ip(address) => ListenAddress::Ip(address.to_canonical()),
        unix @ ListenAddress::Unix(_) => unix.clone(),
    };
    (port.value, canonical)
}

/// Where a service listens that gets what is sent to a parent.
pub(super) fn places(parent: &Parent) -> Vec<(u16, ListenAddress)> {
    within(&parent.host).into_iter().map(|address| (parent.port, address)).collect()
}

/// The addresses to listen on that get what is sent to a host.
fn within(host: &ParentHost) -> Vec<ListenAddress> {
    let any = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    let addresses = match host {
        ParentHost::Address(address) if address.is_unspecified() => Vec::new(),
        ParentHost::Address(address) if address.to_canonical().is_loopback() => {
            [address.to_canonical()].into_iter().chain(any).collect()
        }
        ParentHost::Address(address) => vec![address.to_canonical()],
        ParentHost::Name(name) if name.as_bytes().eq_ignore_ascii_case(b"localhost") => {
            [IpAddr::V4(Ipv4Addr::LOCALHOST)].into_iter().chain(any).collect()
        }
        ParentHost::Name(_) | ParentHost::Prefix(..) => Vec::new(),
        ParentHost::Unix(path) => return vec![ListenAddress::Unix(path.clone())],
    };
    addresses.into_iter().map(ListenAddress::Ip).collect()
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
    let own = mutual::origin(service, service);
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
    // What comes back has the credentials of the parent's line.
    let asks =
        |step: &AuthStep| matches!(step.kind, AuthType::Strong | AuthType::UserOnly | AuthType::Radius);
    if parent.user.is_none() && service.chain.value.iter().all(asks) {
        return RULE
            .finding(
                parent.at,
                "this parent is the service itself, which refuses what comes back for want of a name",
            )
            .label("leads back to this service")
            .also(service.at, "listens there, and asks for a name")
            .help("write the address of the proxy that is meant");
    }
    RULE.finding(parent.at, "this parent is the service itself, so its requests loop")
        .label("leads back to this service")
        .also(service.at, "listens there, and its list names the parent")
        .note(format!("For example, {witness} comes back from this machine and is sent there again."))
        .help("write the address of the proxy that is meant, or `deny` requests from this machine in an entry before it")
}

#[cfg(test)]
mod tests {
    use super::{Lint, circles, listeners};
    use crate::{lints::tests::check, options::CompileOptions, sources::MemoryFiles};

    /// A hundred entries lead to fifty services on one port, of which none is a circle but the last: that is five thousand times to look,
    /// and no more than the budget has is looked at.
    #[test]
    fn no_more_is_tried_than_the_budget_allows() {
        let entries = "deny *\nallow *\nparent 1000 socks5 127.0.0.1 1080\n".repeat(100);
        let services = "socks\n".repeat(50);
        let circle = "flush\nallow *\nparent 1000 socks5 127.0.0.1 1080\nsocks\n";
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", format!("auth iponly\n{entries}{services}{circle}"));
        let compiled = crate::compile("3proxy.cfg".as_ref(), &files);
        let options = CompileOptions::default();
        let lint = Lint::new(&compiled.sources, &compiled.program, &options, Vec::new());
        for (budget, found) in [(10, 0), (1_000, 0), (1_000_000, 1)] {
            let mut left = budget;
            assert_eq!(circles(&lint, &listeners(lint.program), &mut left).len(), found, "{budget}");
            assert_eq!(left == 0, found == 0, "{budget}: {left}");
        }
    }

    #[test]
    fn a_chain_within_the_process_is_no_circle() {
        for text in [
            "allow *\nparent 1000 socks5 127.0.0.1 1081\nsocks\nflush\nallow *\nsocks -p1081\n",
            "allow * 10.0.0.0/8\nparent 1000 socks5 127.0.0.1 1080\nsocks\n",
            "external 192.0.2.1\nallow * 127.0.0.1\nparent 1000 socks5 127.0.0.1 1080\nsocks\n",
            "deny * 127.0.0.1\nallow *\nparent 1000 socks5 127.0.0.1 1080\nsocks\n",
            "allow *\nparent 1000 socks5 192.0.2.1 1080\nsocks\n",
            "allow *\nparent 1000 socks5 127.0.0.2 1080\nsocks -i127.0.0.1\n",
            "allow *\nparent 1000 socks5 0.0.0.0 1080\nsocks\n",
        ] {
            check("parent-to-itself", text);
        }
    }

    #[test]
    fn a_port_mapper_whose_target_is_itself_is_found() {
        check(
            "parent-to-itself",
            r"
tcppm -i127.0.0.1 25 127.0.0.1 25
#                    ^ the mapper itself
tcppm 26 localhost 26
#        ^ the mapper itself
tcppm -i127.0.0.1 27 127.0.0.1 28
#                    ^ the mapper itself
tcppm -i127.0.0.1 28 127.0.0.1 27
#                    ^ the mapper itself
tcppm -i127.0.0.1 29 192.0.2.1 29
tcppm -i127.0.0.1 30 127.0.0.1 29
udppm -i127.0.0.1 31 127.0.0.1 32
tcppm -i127.0.0.1 32 127.0.0.1 31
tcppm -i127.0.0.2 33 127.0.0.1 33
",
        );
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
