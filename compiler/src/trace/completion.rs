//! Values for what a query leaves out: one for each way in which it can matter.
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use grammar::Text;

use crate::{
    analysis::witness::OFFICE_HOURS,
    policy::Policy,
    program::{
        acl::{AddressRange, Period},
        service::Family,
    },
    query::{Answer, Query, Resolution, needs},
    table::{Fields, WeekTime},
};

/// Queries that leave out nothing that matters.
pub(super) struct Completions {
    pub(super) queries: Vec<Query>,
    /// No value was left out for there being too many.
    pub(super) is_whole: bool,
}

/// At most this many addresses, and at most this many times of a day, are tried.
const MOST_ADDRESSES: usize = 512;
const MOST_TIMES: usize = 24;
/// Monday first, as most weeks begin.
const DAYS: [u8; 7] = [1, 2, 3, 4, 5, 6, 0];

/// The queries that `query` may be.
///
/// What the entries that it depends on list cuts addresses and times into pieces. One value of each piece is enough.
pub(super) fn of(policy: &Policy, query: &Query, answer: &Answer) -> Completions {
    let program = policy.program();
    let list = program.services.get(query.service).and_then(|service| service.acl);
    let unknown = query.unknown(program);
    let (mut ranges, mut periods): (Vec<AddressRange>, Vec<Period>) = (Vec::new(), Vec::new());
    // Steps behind those that were asked may be reached with other values, so whom they would take the client for counts, too:
    // for nobody (`iponly`), or for the name given.
    let reached =
        answer.steps.iter().map(|step| step.found.as_ref().ok().and_then(|identity| identity.user()));
    let users: BTreeSet<Option<&[u8]>> =
        reached.chain([None, query.user.as_ref().map(Text::as_bytes)]).collect();
    let asked = [query.first(), query.clone()].map(|asked| (asked.host(), asked));
    for (user, (host, asked)) in users.iter().flat_map(|user| asked.iter().map(move |asked| (*user, asked))) {
        let request = asked.request(program, user, host.as_deref());
        needs::each(program, list, &request, unknown, |ace, open| {
            if let Some(targets) = ace.matcher.targets.as_deref().filter(|_| open.has(Fields::ADDRESS)) {
                ranges.extend(targets.addresses.iter().take(MOST_ADDRESSES));
            }
            if open.has(Fields::TIME) {
                periods.extend(ace.matcher.periods.iter().flatten());
            }
        });
    }
    let mut addresses = if answer.needs.has(Fields::ADDRESS) { addresses(&ranges) } else { Vec::new() };
    let family = program.services.get(query.service).map_or(Family::Default, |service| service.family());
    addresses.retain(|address| match family {
        Family::Default | Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
        Family::V4ThenV6 | Family::V6ThenV4 => true,
    });
    let mut seconds = if answer.needs.has(Fields::TIME) { seconds(&periods) } else { Vec::new() };
    let is_whole = addresses.len() <= MOST_ADDRESSES && seconds.len() <= MOST_TIMES;
    addresses.truncate(MOST_ADDRESSES);
    seconds.truncate(MOST_TIMES);
    let moments =
        DAYS.into_iter().flat_map(|day| seconds.iter().map(move |&second| WeekTime { day, second }));
    let queries = at_each(query, &moments.collect::<Vec<_>>());
    let queries = queries.iter().flat_map(|query| resolved_to_each(query, &addresses)).collect();
    Completions { queries, is_whole }
}

fn at_each(query: &Query, moments: &[WeekTime]) -> Vec<Query> {
    if moments.is_empty() {
        return vec![query.clone()];
    }
    moments.iter().map(|moment| Query { at: Some(*moment), ..query.clone() }).collect()
}

fn resolved_to_each(query: &Query, addresses: &[IpAddr]) -> Vec<Query> {
    if addresses.is_empty() {
        return vec![query.clone()];
    }
    let resolved = |address: &IpAddr| Query { resolved: Resolution::Address(*address), ..query.clone() };
    addresses.iter().map(resolved).collect()
}

/// An address of each piece into which `ranges` cut all addresses. The first are outside of all of them, if there are such.
fn addresses(ranges: &[AddressRange]) -> Vec<IpAddr> {
    // Of the documentation ranges, which mean nothing.
    let strangers: [IpAddr; 2] =
        [Ipv4Addr::new(203, 0, 113, 80).into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x80).into()];
    let edges = ranges.iter().flat_map(|range| [Some(range.first), behind(range.last)]).flatten();
    let mut all: Vec<IpAddr> = strangers.into_iter().chain(edges).collect();
    all.retain(|address| !address.is_unspecified());
    // Zeros are no address: the piece that begins with them is stood for by what is next to them.
    let zeros = |range: &&AddressRange| range.first.is_unspecified() && range.first != range.last;
    all.extend(ranges.iter().filter(zeros).filter_map(|range| behind(range.first)));
    all.push(Ipv4Addr::new(0, 0, 0, 1).into());
    let mut seen = std::collections::HashSet::new();
    all.retain(|address| seen.insert(*address));
    all
}

fn behind(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => address.to_bits().checked_add(1).map(|bits| Ipv4Addr::from_bits(bits).into()),
        IpAddr::V6(address) => address.to_bits().checked_add(1).map(|bits| Ipv6Addr::from_bits(bits).into()),
    }
}

/// A second of each piece into which `periods` cut a day; one that a person would think of comes first.
fn seconds(periods: &[Period]) -> Vec<u32> {
    let edges =
        periods.iter().flat_map(|period| [period.from, period.to]).filter(|second| *second < 24 * 60 * 60);
    let mut all: Vec<u32> = std::iter::once(OFFICE_HOURS.second).chain(edges).chain([0]).collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|second| seen.insert(*second));
    all
}
