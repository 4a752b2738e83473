//! Classes of requests in words.
use super::{Requests, Values};
use crate::{
    analysis::requests::{
        cell::{ADDRESS, Cell, OPERATION, PORT, SOURCE, TIME, USER},
        hosts::{Hosts, Term},
        ranges::Ranges,
        space::{self, NO_ADDRESS, Space, V4},
    },
    program::acl::{NamePattern, Operation},
};

/// At most this many values of a field are listed.
const LISTED: usize = 50;
const DAY: u128 = 24 * 60 * 60;
const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/// The fields of a cell, where they leave something out of what can be asked.
pub(super) fn requests(space: &Space<'_>, asked: &[Cell<'_>], cell: &Cell<'_>) -> Requests {
    let field = |at: usize| cell.numbers.get(at);
    let all = |at: usize| {
        let alike = asked.iter().filter(|all| {
            let operations = all.numbers.get(OPERATION).zip(field(OPERATION));
            operations.is_some_and(|(all, own)| all.meets(own))
        });
        let sets = alike.filter_map(|all| all.numbers.get(at)).flat_map(|set| set.as_slice());
        Ranges::new(sets.copied().collect())
    };
    let values = |at: usize, unknown: Option<u128>, text: &dyn Fn(&Ranges) -> Vec<String>| {
        field(at).map(|set| values(set, &all(at), unknown, text)).unwrap_or_default()
    };
    // BIND compares what is not there.
    let bind = field(OPERATION).is_some_and(|set| set.contains(Operation::Bind as u128));
    let none = None;
    let unknown = |number| (!bind).then_some(number);
    Requests {
        users: field(USER).map(|set| users(space, set, &all(USER))).unwrap_or_default(),
        sources: values(SOURCE, none, &addresses),
        hosts: hosts(&cell.hosts),
        addresses: values(ADDRESS, unknown(NO_ADDRESS), &addresses),
        ports: values(PORT, unknown(0), &ports),
        operations: field(OPERATION).map(operations).unwrap_or_default(),
        times: values(TIME, none, &times),
    }
}

/// The values of `set`, or those that it leaves out of `all`, whichever are fewer.
fn values(
    set: &Ranges,
    all: &Ranges,
    unknown: Option<u128>,
    text: &dyn Fn(&Ranges) -> Vec<String>,
) -> Values {
    let unknown = unknown.filter(|unknown| all.contains(*unknown));
    let known = |set: &Ranges| set.minus(&Ranges::new(unknown.map(|one| (one, one)).into_iter().collect()));
    let told = unknown.map(|unknown| set.contains(unknown));
    let (listed, outside) = (known(set), known(&all.minus(set)));
    let except = outside.is_empty() || outside.as_slice().len() < listed.as_slice().len();
    let shown = text(if except { &outside } else { &listed });
    Values { unknown: told, ..listing(shown, except) }
}

/// These, or all but these.
fn listing(mut shown: Vec<String>, except: bool) -> Values {
    let omitted = shown.len().saturating_sub(LISTED);
    shown.truncate(LISTED);
    if except {
        Values { but: shown, but_omitted: omitted, ..Values::default() }
    } else {
        Values { items: Some(shown), omitted, ..Values::default() }
    }
}

fn users(space: &Space<'_>, set: &Ranges, all: &Ranges) -> Values {
    let names = |set: &Ranges| {
        let numbers = set.as_slice().iter().flat_map(|(first, last)| *first..=*last);
        let names = numbers.filter_map(|number| space.name(number));
        names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    };
    let outside = all.minus(set);
    // All others have no name to list them by.
    let except = outside.is_empty() || set.contains(space.others());
    listing(names(if except { &outside } else { set }), except)
}

fn hosts<'a>(hosts: &Hosts<'a>) -> Values {
    let shown = hosts.terms.get(..LISTED.min(hosts.terms.len())).unwrap_or_default();
    let omitted = hosts.terms.len().saturating_sub(LISTED);
    let every = shown.iter().any(|Term(patterns)| patterns.is_empty()) || hosts.none;
    let items = shown.iter().map(|Term(patterns)| {
        let patterns: Vec<String> = patterns.iter().map(|pattern| pattern.to_string()).collect();
        patterns.join(" and ")
    });
    let mut excepted: Vec<NamePattern<'a>> = hosts.except.patterns.clone();
    excepted.sort_unstable();
    excepted.dedup();
    let matter = excepted.iter().filter(|pattern| shown.iter().any(|term| term.and(**pattern).is_some()));
    let mut but: Vec<String> = matter.take(LISTED + 1).map(|pattern| pattern.to_string()).collect();
    let but_omitted = if but.len() > LISTED { excepted.len() - LISTED } else { 0 };
    but.truncate(LISTED);
    let items = (!every).then(|| items.collect());
    Values { items, but, omitted, but_omitted, unknown: None }
}

fn addresses(set: &Ranges) -> Vec<String> {
    let families = [(0, V4.0 - 1), V4, (V4.1 + 1, u128::MAX)];
    let parts = set.as_slice().iter().flat_map(|(first, last)| {
        let clip = move |(from, to): (u128, u128)| (from.max(*first), to.min(*last));
        families.into_iter().map(clip).filter(|(from, to)| from <= to)
    });
    parts.map(|(from, to)| network(from, to)).collect()
}

/// A range of addresses of one family: one, a network, or from one to another.
fn network(first: u128, last: u128) -> String {
    let (from, to) = (space::address(first), space::address(last));
    let bits = if from.is_ipv4() { 32 } else { 128 };
    let host = 128 - (first ^ last).leading_zeros();
    let low = if host == 128 { u128::MAX } else { (1 << host) - 1 };
    if first == last {
        from.to_string()
    } else if first & low == 0 && last & low == low {
        format!("{from}/{}", bits - host)
    } else {
        format!("{from}-{to}")
    }
}

fn ports(set: &Ranges) -> Vec<String> {
    let text = |(first, last): &(u128, u128)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    set.as_slice().iter().map(text).collect()
}

fn operations(set: &Ranges) -> Vec<Operation> {
    Operation::ALL.into_iter().filter(|operation| set.contains(*operation as u128)).collect()
}

/// `Mon-Fri 09:00:00-18:00:00`: days with the same hours in a row, each with its hours.
fn times(set: &Ranges) -> Vec<String> {
    let clock = |second: u128| format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    let hours = |day: u128| {
        let today = Ranges::new(vec![(day * DAY, day * DAY + DAY - 1)]);
        let hours = set.and(&today);
        let text = |(first, last): &(u128, u128)| match (first % DAY, last % DAY + 1) {
            (0, DAY) => String::new(),
            (from, to) => format!(" {}-{}", clock(from), clock(to)),
        };
        hours.as_slice().iter().map(text).collect::<Vec<_>>()
    };
    let mut runs: Vec<(&str, &str, Vec<String>)> = Vec::new();
    for (day, name) in (0..).zip(DAYS) {
        let hours = hours(day);
        match runs.last_mut() {
            Some((_, last, same)) if *same == hours => *last = name,
            _ => runs.push((name, name, hours)),
        }
    }
    let text = |(first, last, hours): (&str, &str, Vec<String>)| {
        let days = if first == last { first.to_owned() } else { format!("{first}-{last}") };
        hours.into_iter().map(move |hours| format!("{days}{hours}")).collect::<Vec<_>>()
    };
    runs.into_iter().flat_map(text).collect()
}

/// Adds requests, to those that differ from them in nothing but the operation if there are such.
pub(super) fn add(requests: &mut Vec<Requests>, mut other: Requests) {
    for one in requests.iter_mut() {
        // Whether a value may be unknown is a matter of the operation.
        let unknown = |of: fn(&Requests) -> Option<bool>| match (of(one), of(&other)) {
            (Some(one), Some(other)) => (one == other).then_some(Some(one)),
            (one, other) => Some(one.or(other)),
        };
        let addresses = unknown(|one| one.addresses.unknown);
        let Some((addresses, ports)) = addresses.zip(unknown(|one| one.ports.unknown)) else { continue };
        let mut alike = other.clone();
        alike.operations.clone_from(&one.operations);
        (alike.addresses.unknown, alike.ports.unknown) = (one.addresses.unknown, one.ports.unknown);
        if *one == alike {
            (one.addresses.unknown, one.ports.unknown) = (addresses, ports);
            one.operations.append(&mut other.operations);
            one.operations.sort_unstable();
            one.operations.dedup();
            return;
        }
    }
    requests.push(other);
}
