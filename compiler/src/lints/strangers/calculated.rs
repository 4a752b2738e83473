//! Strangers whom an access list lets pass, found by calculating with sets of requests.
//!
//! A list is open if much of the world may go to much of the world: so one of known clients or of known targets is no open door,
//! and one that refuses a few of them is. Which clients an entry means is judged as what runs the configuration does: 3proxy takes an
//! IPv4 client of an IPv6 listener for an address in IPv6 form, which is in no IPv4 network, and `cfgc run` for the IPv4 address that
//! it is.
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{Stranger, attempts};
use crate::{
    analysis::{
        requests::{
            askable::{Askable, ClientNames},
            cell::{ADDRESS, Cell, Left, PORT, SOURCE, Shape, USER, Work},
            example,
            hosts::Term,
            ranges::Ranges,
            space::{Half, Space, V4, number},
        },
        witness::Witness,
    },
    options::Runner,
    program::{
        Program,
        acl::{Ace, AceId, AclRef, Acls, Action, AddressRange, ListId, Matcher, NamePattern, Operation},
        auth::AuthType,
        service::{Arriving, Service, ServiceKind},
    },
};

/// The public addresses of IPv6: 2000::/3.
const V6: (u128, u128) = (0x2000 << 112, (0x4000 << 112) - 1);
/// IPv4 networks that are not public: address and length.
const PRIVATE: [(Ipv4Addr, u32); 8] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];
/// An eighth of a family's public addresses, or of all ports, is much.
const MUCH: u128 = 8;
/// An entry with less than this part of a family's addresses is one of known clients.
const SOME: u128 = 256;
/// Ends of names that are no single target.
const BROAD: [&[u8]; 5] = [b"", b".", b".com", b".net", b".org"];
/// At most this many entries of a list are looked at.
const MOST: usize = 256;
/// How much work is put into all lists together.
const WORK: u64 = 20_000_000;
/// A client with an IPv6 address, of the documentation range.
const STRANGER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7);

/// What was found out of lists: services that share one are answered at once.
#[derive(Debug)]
pub(in crate::lints) struct Strangers {
    runner: Runner,
    work: Work,
    known: HashMap<(AclRef, ServiceKind, Clients, AuthType), Option<Stranger>>,
    lists: HashMap<ListId, Seen>,
}

/// What was seen of a list, up to one of its entries: services that copied it one after the other see each entry once.
#[derive(Debug, Default)]
struct Seen {
    entries: u32,
    /// The places of those that may be wide.
    wide: Vec<usize>,
    /// The place of the first with a weight.
    weighted: Option<usize>,
}

impl Seen {
    /// Looks at the entries of a copy but its last, which other copies may have in another version.
    fn up_to_last(&mut self, acls: &Acls, acl: AclRef) {
        let from = self.entries;
        for (place, (_, ace)) in (from..acl.len.saturating_sub(1)).zip(acls.entries_from(acl, from)) {
            self.wide.extend(is_wide_entry(ace).then_some(place as usize));
            self.weighted = self.weighted.or((ace.weight != 0).then_some(place as usize));
            self.entries = place + 1;
        }
    }
}

/// Which clients arrive, and how entries see their addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Clients {
    v4: bool,
    v6: bool,
    /// Only networks of this family are compared with them, as they are written.
    only: Option<IpFamily>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum IpFamily {
    V4,
    V6,
}

impl Strangers {
    pub(in crate::lints) fn new(runner: Runner) -> Self {
        Self { runner, work: Work(WORK), known: HashMap::new(), lists: HashMap::new() }
    }

    /// One whom the list of a service lets pass when `step` of its chain walks it.
    pub(super) fn find(&mut self, program: &Program, service: &Service, step: AuthType) -> Option<Stranger> {
        let acl = service.acl?;
        let clients = Clients::of(service, self.runner);
        let key = (acl, service.kind, clients, step);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let seen = self.lists.entry(acl.list).or_default();
        seen.up_to_last(&program.acls, acl);
        let (at, last) = (acl.len.saturating_sub(1) as usize, program.acls.ace(acl.last)?);
        // A weight makes an entry depend on those that were passed over before it.
        let plain = last.weight == 0 && seen.weighted.is_none_or(|first| first >= at);
        let before = seen.wide.iter().copied().take_while(|place| *place < at);
        let wide: Vec<usize> = before.chain(is_wide_entry(last).then_some(at)).take(MOST).collect();
        // What stands behind the last of them takes nothing from any.
        let length = wide.last().map_or(0, |last| last + 1);
        let found = if plain && length > 0 && self.work.spend(length) {
            let entries: Vec<(AceId, &Ace)> = program.acls.entries(acl).take(length).collect();
            let asked = asked(program, service, step);
            search(&entries, &wide, &asked, (clients, service.kind, step), &mut self.work)
        } else {
            None
        };
        self.known.insert(key, found.clone());
        found
    }

    /// Addresses of strangers that arrive at a service.
    pub(super) fn sampled(&self, service: &Service) -> &'static [IpAddr] {
        let clients = Clients::of(service, self.runner);
        match (clients.only, clients.v6, clients.v4) {
            (Some(IpFamily::V6), true, _) | (None, true, false) => &FROM_V6,
            (Some(IpFamily::V6), false, _) => &[],
            _ => &FROM_V4,
        }
    }
}

/// Unrelated addresses.
const FROM_V4: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)),
    IpAddr::V4(Ipv4Addr::new(45, 32, 1, 2)),
    IpAddr::V4(Ipv4Addr::new(94, 130, 3, 4)),
    IpAddr::V4(Ipv4Addr::new(152, 42, 5, 6)),
    IpAddr::V4(Ipv4Addr::new(186, 7, 7, 8)),
];
const FROM_V6: [IpAddr; 5] = [
    IpAddr::V6(STRANGER),
    IpAddr::V6(Ipv6Addr::new(0x2600, 0x3c00, 0, 0, 0, 0, 0, 2)),
    IpAddr::V6(Ipv6Addr::new(0x2a01, 0x4f8, 0, 0, 0, 0, 0, 4)),
    IpAddr::V6(Ipv6Addr::new(0x2400, 0xcb00, 0, 0, 0, 0, 0, 6)),
    IpAddr::V6(Ipv6Addr::new(0x2804, 0x14c, 0, 0, 0, 0, 0, 8)),
];

impl Clients {
    fn of(service: &Service, runner: Runner) -> Self {
        let arriving = service.listen.address.value.arriving();
        let (v4, v6) = (arriving != Arriving::V6, matches!(arriving, Arriving::V6 | Arriving::Both));
        let family = if arriving == Arriving::V4 { IpFamily::V4 } else { IpFamily::V6 };
        Self { v4, v6, only: (runner != Runner::Cfgc).then_some(family) }
    }

    /// The public addresses among them.
    fn public(self) -> Ranges {
        let mut ranges = Vec::new();
        ranges.extend(self.v4.then_some(V4));
        ranges.extend(self.v6.then_some(V6));
        let private = PRIVATE.map(|(first, length)| {
            let first = number(first.into());
            (first, first | u128::from(u32::MAX >> length))
        });
        Ranges::new(ranges).minus(&Ranges::new(private.into()))
    }

    /// What an entry accepts of their requests.
    fn shapes<'a>(self, space: &Space<'a>, ace: &'a Ace) -> Vec<Shape<'a>> {
        let mut shapes = space.shapes(&ace.matcher, Half::Others);
        if let Some(ranges) = ace.matcher.sources.as_deref().and_then(|ranges| self.within(ranges)) {
            for sources in shapes.iter_mut().filter_map(|shape| shape.numbers.get_mut(SOURCE)) {
                *sources = Some(ranges.clone());
            }
        }
        shapes
    }

    /// Those of some networks, if they are not compared in one form.
    fn within(self, networks: &[AddressRange]) -> Option<Ranges> {
        let only = self.only?;
        let bits = |range: &AddressRange| match (only, range.first, range.last) {
            (IpFamily::V4, first @ IpAddr::V4(_), last @ IpAddr::V4(_)) => {
                Some((number(first), number(last)))
            }
            (IpFamily::V6, IpAddr::V6(first), IpAddr::V6(last)) => Some((first.to_bits(), last.to_bits())),
            _ => None,
        };
        Some(Ranges::new(networks.iter().filter_map(bits).collect()))
    }
}

fn asked(program: &Program, service: &Service, step: AuthType) -> Askable {
    let mut asked = Askable::of([(program, service)]);
    // An open relay of datagrams, or for a single connection to the inside, is another matter.
    let forwards = |one: &Operation| {
        !matches!(one, Operation::Bind | Operation::UdpAssociate | Operation::IcmpAssociate)
    };
    asked.operations.retain(forwards);
    let hidden = step == AuthType::IpOnly;
    asked.nobody = hidden;
    asked.names = if hidden { ClientNames::Hidden } else { ClientNames::Any };
    asked
}

fn is_wide_entry(ace: &Ace) -> bool {
    ace.action == Action::Allow && may_be_wide(&ace.matcher)
}

/// Whether an entry may let many clients go to many targets.
fn may_be_wide(matcher: &Matcher) -> bool {
    let sources = matcher.sources.as_deref().is_none_or(|ranges| {
        let bits = |range: &AddressRange| match (range.first, range.last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                (u128::from(last.to_bits().saturating_sub(first.to_bits())) + 1, 0)
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => (0, last.to_bits().saturating_sub(first.to_bits())),
            _ => (0, 0),
        };
        let add = |sum: (u128, u128), one: (u128, u128)| (sum.0 + one.0, sum.1.saturating_add(one.1));
        let (v4, v6) = ranges.iter().map(bits).fold((0, 0), add);
        v4 >= (1 << 32) / SOME || v6 >= size(&[V6]) / SOME || v6 >= size(&[V4]) / SOME
    });
    let targets = matcher.targets.as_deref();
    sources && targets.is_none_or(|targets| !targets.addresses.is_empty() || targets.names.iter().any(broad))
}

/// Goes through the entries at the places `wide`.
fn search(
    entries: &[(AceId, &Ace)],
    wide: &[usize],
    asked: &Askable,
    (clients, kind, step): (Clients, ServiceKind, AuthType),
    work: &mut Work,
) -> Option<Stranger> {
    let space = Space::new(entries.iter().map(|(_, ace)| &ace.matcher), &[]);
    let public = clients.public();
    let requests: Vec<Cell<'_>> = space
        .requests(asked, Half::Others)
        .into_iter()
        .map(|cell| cell.with(SOURCE, public.clone()))
        .collect();
    let mut shapes: Vec<Shape<'_>> = Vec::new();
    let (mut taken, mut from) = (0, Ranges::new(Vec::new()));
    for place in wide {
        for (_, ace) in entries.get(taken..*place).unwrap_or_default() {
            shapes.extend(clients.shapes(&space, ace));
        }
        taken = *place;
        let (id, ace) = entries.get(*place)?;
        let own = clients.shapes(&space, ace);
        let mut left = Left::default();
        for cell in requests.iter().flat_map(|cell| own.iter().filter_map(|shape| cell.and(shape))) {
            cell.without(shapes.iter(), &mut left, work);
        }
        for cell in left.cells.iter().filter(|cell| is_wide(cell, kind)) {
            let [users, sources] = [USER, SOURCE].map(|at| cell.numbers.get(at));
            // Who calls himself anything may; but the name that an address has is not of his choice.
            let known = step == AuthType::DnsName;
            if known && !users.is_some_and(|users| users.contains(space.others())) {
                continue;
            }
            from = sources.map_or(from.clone(), |sources| from.or(sources));
            if much(&from) {
                return Some(Stranger { witness: witness(&space, cell), entry: Some(*id) });
            }
        }
        if !work.spend(1) {
            return None;
        }
    }
    None
}

fn witness(space: &Space<'_>, cell: &Cell<'_>) -> Witness {
    let mut witness = example::witness(space, cell);
    let stranger = IpAddr::V6(STRANGER);
    if witness.source.is_ipv6()
        && cell.numbers.get(SOURCE).is_some_and(|sources| sources.contains(number(stranger)))
    {
        witness.source = stranger;
    }
    witness
}

/// Whether there are many targets in a class of requests.
fn is_wide(cell: &Cell<'_>, kind: ServiceKind) -> bool {
    let holds = |at: usize, enough: &dyn Fn(&Ranges) -> bool| cell.numbers.get(at).is_some_and(enough);
    let ports = |ports: &Ranges| {
        attempts(kind).iter().any(|(_, port)| ports.contains((*port).into()))
            || size(ports.as_slice()) * MUCH >= u128::from(u16::MAX)
    };
    let whole = |Term(patterns): &Term<'_>| patterns.iter().all(|pattern| broad(*pattern));
    let dotted = |pattern: &NamePattern<'_>| matches!(pattern.text(), b"" | b".");
    holds(ADDRESS, &much)
        && holds(PORT, &ports)
        && cell.hosts.terms.iter().any(whole)
        && !cell.hosts.except.patterns.iter().any(dotted)
}

fn broad(pattern: NamePattern<'_>) -> bool {
    !matches!(pattern, NamePattern::Exact(_)) && BROAD.contains(&pattern.text())
}

/// Whether addresses are much of what one family has in public.
fn much(addresses: &Ranges) -> bool {
    [V4, V6].into_iter().any(|family| {
        let own = addresses.and(&Ranges::new(vec![family]));
        size(own.as_slice()) >= size(&[family]) / MUCH
    })
}

/// How many numbers there are in ranges.
fn size(ranges: &[(u128, u128)]) -> u128 {
    ranges.iter().map(|(first, last)| (last - first).saturating_add(1)).fold(0, u128::saturating_add)
}
