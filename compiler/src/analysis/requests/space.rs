//! The requests that a service can be asked, with every field numbered, and entries as sets of them.
//!
//! | field | numbers |
//! | --- | --- |
//! | user | 0: nobody; the names that an entry lists; and one for all others |
//! | address | IPv6's own; IPv4 as IPv4-mapped, where no IPv6 address is left once those are taken for IPv4 |
//! | port, operation | their own; a port that is not known is 0 |
//! | time | seconds of the week |
//!
//! BIND compares what is not there (an address of zeros, port 0) and everything else skips it, so BIND has a space of its own; in the
//! other one 0.0.0.0 stands for "no address". A name that does not resolve has no address either, but is never connected to, so only
//! UDP associations, which may name no target yet, are asked without an address.
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    rc::Rc,
};

use super::{
    askable::{Askable, ClientNames},
    cell::{Cell, FIELDS, PORT, Shape},
    hosts::{self, Hosts, Named, Patterns},
    ranges::Ranges,
};
use crate::{
    program::{
        acl::{AddressRange, Matcher, NamePattern, Operation, Targets},
        resolve::DNS_PORT,
    },
    table::{oracle::canonical, schedule},
};

/// IPv4 among IPv6: ::ffff:0:0/96. Its first number is 0.0.0.0, or no address.
pub(crate) const V4: (u128, u128) = (0xffff_0000_0000, 0xffff_ffff_ffff);
/// No address, where that is not compared.
pub(crate) const NO_ADDRESS: u128 = V4.0;
/// Nobody logged in.
pub(crate) const NOBODY: u128 = 0;
/// Seconds of a week.
const WEEK: u128 = 7 * 24 * 60 * 60;

/// BINDs or all other requests: what is not there is compared for the ones, and skipped for the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Half {
    /// All but BINDs.
    Others,
    /// BINDs. They pass over entries with parents.
    Binds,
}

impl Half {
    /// Both.
    pub(crate) const ALL: [Self; 2] = [Self::Others, Self::Binds];
}

/// The numbers of what lists name.
#[derive(Debug)]
pub(crate) struct Space<'a> {
    users: HashMap<&'a [u8], u128>,
    /// By number.
    names: Vec<&'a [u8]>,
    /// Users who have a password.
    defined: &'a [&'a [u8]],
    /// Stands in no name pattern.
    filler: u8,
}

impl<'a> Space<'a> {
    /// For entries with these fields, and users who have a password.
    pub(crate) fn new(matchers: impl Iterator<Item = &'a Matcher> + Clone, defined: &'a [&'a [u8]]) -> Self {
        let targets = matchers.clone().filter_map(|matcher| matcher.targets.as_deref());
        let filler = hosts::filler(targets.flat_map(|targets| targets.names.iter()));
        let mut space = Self { users: HashMap::new(), names: Vec::new(), defined, filler };
        let listed = matchers.flat_map(|matcher| matcher.users.iter().flatten());
        for name in std::iter::once(&b"-"[..]).chain(listed) {
            let next = space.others();
            if *space.users.entry(name).or_insert(next) == next {
                space.names.push(name);
            }
        }
        space
    }

    /// The number of all users that no entry lists.
    pub(crate) fn others(&self) -> u128 {
        self.names.len() as u128
    }

    /// The name of a user that an entry lists.
    pub(crate) fn name(&self, number: u128) -> Option<&'a [u8]> {
        self.names.get(usize::try_from(number).ok()?).copied()
    }

    /// A user whom no entry lists: one who has a password, if there is such.
    pub(crate) fn stranger(&self) -> Vec<u8> {
        let invented = ["alice", "mallory", "trent"].map(str::to_owned).into_iter();
        let invented = invented.chain((0..).map(|number| format!("user{number}"))).map(String::into_bytes);
        let all = self.defined.iter().map(|name| name.to_vec()).chain(invented);
        all.into_iter().find(|name| self.user(name) == self.others()).unwrap_or_default()
    }

    /// The number of a user.
    pub(crate) fn user(&self, name: &[u8]) -> u128 {
        self.users.get(name).copied().unwrap_or(self.others())
    }

    /// All requests of a half that can be asked.
    pub(crate) fn requests(&self, asked: &'a Askable, half: Half) -> Vec<Cell<'a>> {
        use Operation::{Bind, UdpAssociate};
        let udp = |operation: &Operation| *operation == UdpAssociate;
        let (binds, others): (Vec<_>, Vec<_>) =
            asked.operations.iter().copied().partition(|operation| *operation == Bind);
        let groups = match half {
            Half::Binds => [binds, Vec::new()],
            Half::Others => others.into_iter().partition::<Vec<_>, _>(|operation| !udp(operation)).into(),
        };
        let cells = groups.into_iter().filter(|group| !group.is_empty()).flat_map(|group| {
            let udp = group.iter().any(udp);
            self.targets(asked, half, udp).into_iter().map(move |(hosts, addresses, ports)| Cell {
                numbers: [
                    self.clients(asked),
                    whole(0, u128::MAX),
                    addresses,
                    ports,
                    Ranges::new(group.iter().map(|one| (*one as u128, *one as u128)).collect()),
                    whole(0, WEEK - 1),
                ],
                hosts,
            })
        });
        cells.filter(|cell| !cell.numbers.iter().any(Ranges::is_empty)).collect()
    }

    /// All queries for a name, as a list is asked of them for the second time.
    pub(crate) fn named(&self, asked: &'a Askable) -> Vec<Cell<'a>> {
        let mut cells = self.requests(asked, Half::Others);
        cells.retain(|_| asked.by_name);
        for cell in &mut cells {
            *cell = cell.with(PORT, whole(DNS_PORT.into(), DNS_PORT.into()));
            cell.hosts = Hosts::every(self.filler);
        }
        cells
    }

    fn clients(&self, asked: &Askable) -> Ranges {
        let mut users = Vec::new();
        users.extend(asked.nobody.then_some((NOBODY, NOBODY)));
        match &asked.names {
            ClientNames::Hidden => {}
            ClientNames::Any => users.push((NOBODY + 1, self.others())),
            ClientNames::Defined => {
                let known = self.defined.iter().map(|name| self.user(name));
                users.extend(known.filter(|user| *user != NOBODY).map(|user| (user, user)));
            }
        }
        Ranges::new(users)
    }

    fn targets(&self, asked: &'a Askable, half: Half, udp: bool) -> Vec<(Hosts<'a>, Ranges, Ranges)> {
        let addresses = match (half, udp) {
            (Half::Binds, _) => whole(0, u128::MAX),
            (Half::Others, true) => whole(1, u128::MAX),
            (Half::Others, false) => whole(1, u128::MAX).minus(&whole(NO_ADDRESS, NO_ADDRESS)),
        };
        let family = |used: bool, ranges: &[(u128, u128)]| if used { ranges.to_vec() } else { Vec::new() };
        let v6 = family(asked.v6, &[(0, V4.0 - 1), (V4.1 + 1, u128::MAX)]);
        let used = [family(asked.v4, &[V4]), v6, vec![(NO_ADDRESS, NO_ADDRESS)]].concat();
        let addresses = addresses.and(&Ranges::new(used));
        let ports = whole(u128::from(half == Half::Others && !udp), u128::from(u16::MAX));
        if asked.no_target {
            return vec![(Hosts::nothing(self.filler), whole(NO_ADDRESS, NO_ADDRESS), whole(0, 0))];
        }
        if asked.fixed.is_empty() {
            return vec![(Hosts::every(self.filler), addresses, ports)];
        }
        let fixed = asked.fixed.iter().map(|(name, address, port)| {
            let address = address.map(|address| whole(number(address), number(address)));
            let hosts = Hosts::of(NamePattern::Exact(name.as_bytes()), self.filler);
            (hosts, address.unwrap_or_else(|| addresses.clone()), whole((*port).into(), (*port).into()))
        });
        fixed.collect()
    }

    /// What an entry accepts, its action and parents aside, as disjoint shapes.
    pub(crate) fn shapes(&self, matcher: &'a Matcher, half: Half) -> Vec<Shape<'a>> {
        let users = matcher.users.as_ref().map(|names| {
            Ranges::new(names.iter().map(|name| self.user(name)).map(|user| (user, user)).collect())
        });
        let ports = matcher.ports.as_deref().map(|ranges| {
            let listed = ranges.iter().map(|range| (range.first.into(), range.last.into()));
            Ranges::new(listed.chain((half == Half::Others).then_some((0, 0))).collect())
        });
        let operations = matcher.operations.map(|listed| {
            let has = Operation::ALL.into_iter().filter(|operation| listed.has(*operation));
            Ranges::new(has.map(|one| (one as u128, one as u128)).collect())
        });
        let shape = |addresses: Option<Ranges>, hosts: Named<'a>| Shape {
            numbers: [
                users.clone(),
                matcher
                    .sources
                    .as_deref()
                    .map(|sources| addresses_of(sources.iter().copied().map(canonical))),
                addresses,
                ports.clone(),
                operations.clone(),
                times(matcher),
            ],
            hosts,
        };
        match matcher.targets.as_deref() {
            Some(targets) => {
                targets_of(targets, half).map(|(addresses, hosts)| shape(addresses, hosts)).collect()
            }
            None => vec![shape(None, Named::Any)],
        }
    }

    /// Every request.
    pub(crate) fn everything() -> Shape<'a> {
        Shape { numbers: [const { None }; FIELDS], hosts: Named::Any }
    }
}

/// Targets as sets of addresses and names, of which a request is in one at most.
fn targets_of(targets: &Targets, half: Half) -> impl Iterator<Item = (Option<Ranges>, Named<'_>)> {
    let patterns: Patterns<'_> = targets.names.iter().collect();
    let mut addresses = addresses_of(targets.addresses.iter().copied());
    if half == Half::Others {
        addresses = addresses.minus(&Ranges::new(vec![(0, 0), (NO_ADDRESS, NO_ADDRESS)]));
    }
    let none = (half == Half::Others).then(|| whole(NO_ADDRESS, NO_ADDRESS));
    let shapes = match (targets.addresses.is_empty(), targets.names.is_empty()) {
        (true, true) => [Some((None, Named::Any)), None, None],
        (true, false) => [Some((None, Named::In { patterns, none: true })), None, None],
        (false, true) => {
            [Some((Some(none.map_or(addresses.clone(), |none| addresses.or(&none))), Named::Any)), None, None]
        }
        (false, false) => [
            Some((None, Named::In { patterns: Rc::clone(&patterns), none: false })),
            Some((Some(addresses), Named::NotIn(patterns))),
            none.map(|none| (Some(none), Named::Nothing)),
        ],
    };
    shapes.into_iter().flatten()
}

fn times(matcher: &Matcher) -> Option<Ranges> {
    if matcher.weekdays.is_none() && matcher.periods.is_none() {
        return None;
    }
    let mut ranges = Vec::new();
    schedule::add(matcher, 0, &mut ranges);
    Some(Ranges::new(ranges.into_iter().map(|(first, last, _)| (first.into(), last.into())).collect()))
}

fn addresses_of(ranges: impl ExactSizeIterator<Item = AddressRange>) -> Ranges {
    let mut all = Vec::with_capacity(ranges.len());
    for range in ranges {
        match range {
            AddressRange { first: IpAddr::V6(first), last: IpAddr::V6(last) } => {
                let whole = Ranges::new(vec![(first.to_bits(), last.to_bits())]);
                all.extend(whole.minus(&Ranges::new(vec![V4])).as_slice());
            }
            range if range.first.is_ipv4() == range.last.is_ipv4() => {
                all.push((number(range.first), number(range.last)));
            }
            // Of two families: holds nothing.
            _ => {}
        }
    }
    Ranges::new(all)
}

/// The number of an address.
pub(crate) fn number(address: IpAddr) -> u128 {
    match address.to_canonical() {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// The address with a number.
pub(crate) fn address(number: u128) -> IpAddr {
    IpAddr::V6(Ipv6Addr::from_bits(number)).to_canonical()
}

fn whole(first: u128, last: u128) -> Ranges {
    Ranges::new(vec![(first, last)])
}
