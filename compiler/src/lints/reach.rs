//! Who can connect to a service, and what its clients reach through it.
use std::net::{IpAddr, Ipv4Addr};

use crate::{
    analysis::witness::{OFFICE_HOURS, Target, Witness},
    program::{
        acl::{Ace, AceId, AclRef, Acls, Action, Matcher, Targets},
        service::{ListenAddress, Service, ServiceKind},
    },
    table::{Table, Verdict, oracle::Walk},
    way,
};

/// Who can connect to a service that does not listen on this machine only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anyone.
    World,
    /// Those in a private network, and whoever is forwarded to it.
    Network,
}

/// Who can reach a service that forwards to targets of the client's choice; `None`: nobody, or it does not.
pub(super) fn reach(service: &Service) -> Option<Reach> {
    let options = &service.options;
    let forwards = match service.kind {
        ServiceKind::Proxy
        | ServiceKind::Socks
        | ServiceKind::Auto
        | ServiceKind::Tlspr
        | ServiceKind::Ftppr => true,
        _ => is_mail(service.kind) && options.default_host.is_none(),
    };
    let certified = service.tls.serve.is_some()
        && (options.require_certificate.is_some() || service.tls.server.verify.is_some());
    if !forwards || certified || options.connect_back.is_some() {
        return None;
    }
    beyond_this_machine(service)
}

/// Who can connect to a service; `None`: this machine only.
pub(super) fn beyond_this_machine(service: &Service) -> Option<Reach> {
    match &service.listen.address.value {
        ListenAddress::Unix(_) => None,
        ListenAddress::Ip(address) => match address.to_canonical() {
            address if address.is_loopback() => None,
            IpAddr::V4(address) if address.is_private() || address.is_link_local() || is_shared(address) => {
                Some(Reach::Network)
            }
            IpAddr::V6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
                Some(Reach::Network)
            }
            _ => Some(Reach::World),
        },
    }
}

pub(super) const fn is_mail(kind: ServiceKind) -> bool {
    matches!(kind, ServiceKind::Pop3p | ServiceKind::Imapp | ServiceKind::Smtpp)
}

/// 100.64.0.0/10, behind a carrier's translation.
const fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0xc0 == 64
}

/// Whether clients choose the targets of a kind of service, by address.
pub(super) const fn forwards(kind: ServiceKind) -> bool {
    matches!(kind, ServiceKind::Proxy | ServiceKind::Socks | ServiceKind::Auto)
}

/// A request to `address` that an entry behind `denial` lets go there directly, if clients from elsewhere can make it.
pub(super) fn reaches_behind(
    denial: AceId,
    acls: &Acls,
    service: &Service,
    address: IpAddr,
    budget: &mut usize,
) -> Option<Witness> {
    (forwards(service.kind) && beyond_this_machine(service).is_some()).then_some(())?;
    let acl = service.deciding_list()?;
    let entries = acls.entries(acl).filter(|(id, _)| *id > denial).map(|(_, ace)| ace);
    let entries: Vec<&Ace> = entries.take(*budget).collect();
    reaches(acls, (service, Some(acl)), &entries, (address, None), budget)
        .filter(|witness| Walk { acls, list: Some(acl) }.decide(&witness.request()).entry > Some(denial))
}

/// A request to an address, and a port if one is given, that the service lets go there directly, by one of `entries`.
pub(super) fn reaches(
    acls: &Acls,
    (service, acl): (&Service, Option<AclRef>),
    entries: &[&Ace],
    (address, port): (IpAddr, Option<u16>),
    budget: &mut usize,
) -> Option<Witness> {
    let Some(acl) = acl else {
        return candidate(&Matcher::default(), service, address, port);
    };
    let walk = Walk { acls, list: Some(acl) };
    let direct = |ace: &Ace| way::direct_share(&way::groups(acls.parents(ace))) > 0.0;
    let goes =
        |verdict: Verdict| verdict.passes() && verdict.entry.and_then(|id| acls.ace(id)).is_some_and(direct);
    let open = entries.iter().take_while(|ace| !closes(ace, address));
    let mut asked = open.filter(|ace| ace.action == Action::Allow && direct(ace)).peekable();
    asked.peek()?;
    let price = price(acls, acl, budget)?;
    asked.find_map(|ace| {
        *budget = budget.checked_sub(price)?;
        candidate(&ace.matcher, service, address, port)
            .filter(|witness| goes(walk.decide(&witness.request())))
    })
}

/// Whether an entry denies an address to everyone, so that none behind it decides about it.
fn closes(ace: &Ace, address: IpAddr) -> bool {
    // Beyond a few ranges the walk, which has a budget, has to tell.
    const FEW: usize = 64;
    let lists = |targets: &Targets| targets.addresses.iter().take(FEW).any(|range| range.contains(address));
    ace.action == Action::Deny
        && ace.weight == 0
        && !ace.redirects()
        && is_for_all(&ace.matcher)
        && ace.matcher.targets.as_deref().is_none_or(lists)
}

/// Whether an entry is for all clients, and all that they may do.
pub(super) fn is_for_all(matcher: &Matcher) -> bool {
    matcher.users.is_none()
        && matcher.sources.is_none()
        && matcher.operations.is_none()
        && matcher.ports.is_none()
        && matcher.weekdays.is_none()
        && matcher.periods.is_none()
}

/// What a walk through a list costs: an entry may be as long as a list. `None`: more than there is; then what it took to see that is
/// taken away.
fn price(acls: &Acls, acl: AclRef, budget: &mut usize) -> Option<usize> {
    let (mut price, mut seen) = (0, 0);
    for (_, ace) in acls.entries(acl) {
        price += 1 + ace.matcher.values();
        seen += 1;
        if price > *budget {
            *budget = budget.saturating_sub(seen);
            return None;
        }
    }
    Some(price)
}

/// A request to `address` that an entry's other fields accept; to this port, if one is given.
fn candidate(matcher: &Matcher, service: &Service, address: IpAddr, port: Option<u16>) -> Option<Witness> {
    let user = matcher.users.iter().flatten().next().filter(|name| *name != b"-");
    let named = service.chain.value.iter().any(|step| step.kind.names_user());
    let user = user.or_else(|| named.then_some(&b"alice"[..]));
    let source = matcher.sources.as_deref().and_then(<[_]>::first).map(|range| range.first);
    let ports = matcher.ports.as_deref();
    let port = match (port, ports) {
        (Some(port), Some(ports)) => ports.iter().any(|range| range.contains(port)).then_some(port)?,
        (Some(port), None) => port,
        (None, _) => ports.and_then(<[_]>::first).map_or(80, |range| range.first),
    };
    let operations = service.kind.operations().iter().copied();
    let operation = operations
        .into_iter()
        .find(|operation| matcher.operations.is_none_or(|listed| listed.has(*operation)));
    let witness = |operation| Witness {
        user: user.map(<[u8]>::to_vec),
        source: source.unwrap_or(IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7))),
        target: Target::literal(address),
        port,
        operation,
        time: OFFICE_HOURS,
    };
    operation.map(witness)
}
