//! A request of a class.
use std::net::IpAddr;

use super::{
    cell::{ADDRESS, Cell, OPERATION, PORT, SOURCE, TIME, USER},
    hosts::Term,
    ranges::Ranges,
    space::{self, NO_ADDRESS, NOBODY, Space},
};
use crate::{
    analysis::witness::{
        Target, Witness,
        values::{ELSEWHERE, NAMES, OFFICE_HOURS, PORTS, STRANGERS},
    },
    program::acl::Operation,
    table::{WeekTime, schedule},
};

/// What most clients ask for.
const LIKELY: [Operation; 3] = [Operation::Connect, Operation::HttpConnect, Operation::HttpGet];
const DAY: u128 = 24 * 60 * 60;

/// A request of a cell, one that looks like a real one if there is such.
pub(crate) fn witness(space: &Space<'_>, cell: &Cell<'_>) -> Witness {
    let first = |at: usize, liked: &[u128]| {
        let Some(set) = cell.numbers.get(at) else { return 0 };
        let first = set.as_slice().first().map_or(0, |(first, _)| *first);
        liked.iter().copied().find(|value| set.contains(*value)).unwrap_or(first)
    };
    let near = |at: usize, liked: IpAddr| {
        let liked = space::number(liked);
        // The second address of a network looks like a host's.
        let ranges = cell.numbers.get(at).map_or(&[][..], Ranges::as_slice).iter().take(2);
        let hosts = ranges.clone().filter_map(|(first, _)| first.checked_add(1));
        let firsts = ranges.map(|(first, _)| *first).filter(|first| *first != NO_ADDRESS);
        let likely: Vec<u128> = std::iter::once(liked).chain(hosts).chain(firsts).collect();
        space::address(first(at, &likely))
    };
    let time = first(TIME, &[u128::from(schedule::second(OFFICE_HOURS))]);
    let small = |number: u128| u32::try_from(number).unwrap_or_default();
    let operation = first(OPERATION, &LIKELY.map(|operation| operation as u128));
    let known =
        |address: &IpAddr| operation == Operation::Bind as u128 || space::number(*address) != NO_ADDRESS;
    let address = Some(near(ADDRESS, ELSEWHERE)).filter(known);
    Witness {
        user: user(space, first(USER, &[space.others()])),
        source: near(SOURCE, STRANGERS[0]),
        target: target(cell, address, operation == Operation::DnsResolve as u128),
        port: u16::try_from(first(PORT, &PORTS.map(u128::from))).unwrap_or_default(),
        operation: Operation::ALL
            .into_iter()
            .find(|one| *one as u128 == operation)
            .unwrap_or(Operation::Connect),
        time: WeekTime { day: u8::try_from(time / DAY).unwrap_or_default(), second: small(time % DAY) },
    }
}

fn user(space: &Space<'_>, number: u128) -> Option<Vec<u8>> {
    if number == NOBODY {
        return None;
    }
    Some(space.name(number).map_or_else(|| space.stranger(), <[u8]>::to_vec))
}

/// The target of a cell: by address if the address matters or the name does not, by name if that matters or is all that is `asked_for`.
fn target(cell: &Cell<'_>, address: Option<IpAddr>, asked_for: bool) -> Target {
    if cell.hosts.none {
        return Target { host: None, address };
    }
    let any = cell.hosts.terms.iter().any(|Term(patterns)| patterns.is_empty());
    let literal = address.map_or_else(|| "0.0.0.0".to_owned(), |address| address.to_string());
    let limited = address.is_some_and(|address| address != ELSEWHERE);
    let [first, second] = NAMES.map(str::as_bytes);
    let likely = if any && !asked_for && (limited || address.is_none()) {
        [literal.as_bytes(), first, second]
    } else {
        [first, second, literal.as_bytes()]
    };
    Target { host: cell.hosts.example(&likely), address }
}
