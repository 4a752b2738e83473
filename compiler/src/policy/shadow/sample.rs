//! A request that an entry is likely to decide itself, made from what it lists and, for what it does not, from what hardly any lists.
use std::{collections::HashSet, net::IpAddr};

use crate::{
    policy::witness::{OFFICE_HOURS, Target, Witness},
    program::{
        Program,
        acl::{Ace, AddressRange, Matcher, NamePattern, Operation},
    },
    requests::asked::{Asked, Names},
    table::{WeekTime, oracle::name_matches},
};

/// Values that hardly any entry lists.
const USER: &[u8] = b"mallory";
const HOST: &[u8] = b"www.example.net";
const PORT: u16 = 40_961;
const SOURCE: [u8; 4] = [203, 0, 113, 7];
const OTHER_SOURCE: [u8; 4] = [198, 51, 100, 23];
const ADDRESS: [u8; 4] = [203, 0, 113, 80];
const ADDRESS_V6: [u16; 8] = [0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x80];

/// Sunday, 3:00.
const NIGHT: WeekTime = WeekTime { day: 0, second: 3 * 60 * 60 };

/// Makes them for the entries of one list.
pub(super) struct Sampler<'a> {
    /// Those who have a password, where nobody else is let to the list.
    defined: HashSet<&'a [u8]>,
    /// One whom no entry lists, if there is one.
    stranger: &'a [u8],
}

impl<'a> Sampler<'a> {
    pub(super) fn new(program: &'a Program, entries: impl Iterator<Item = &'a Ace>, asked: &Asked) -> Self {
        if asked.names != Names::Defined {
            return Self { defined: HashSet::new(), stranger: USER };
        }
        let users = || program.users.iter().map(|user| user.name.as_bytes());
        let listed: HashSet<&[u8]> = entries.flat_map(|ace| ace.matcher.users.iter().flatten()).collect();
        let stranger = users().find(|name| !listed.contains(name)).or_else(|| users().next());
        Self { defined: users().collect(), stranger: stranger.unwrap_or(USER) }
    }

    /// One that an entry with these fields matches, or `again` another one. `None`: clients can't make such a request.
    pub(super) fn witness(&self, matcher: &Matcher, asked: &Asked, again: bool) -> Option<Witness> {
        let can = |operation: &&Operation| matcher.operations.is_none_or(|listed| listed.has(**operation));
        let operations = || asked.operations.iter().filter(can);
        let others = || operations().filter(|one| **one != Operation::Bind);
        let operation =
            if again { others().next_back() } else { others().next() }.or_else(|| operations().next())?;
        let (target, port) = if asked.fixed.is_empty() {
            target(matcher, asked).zip(port(matcher))
        } else {
            fixed(matcher, asked)
        }?;
        Some(Witness {
            user: self.user(matcher, asked)?,
            source: matcher
                .sources
                .as_deref()
                .map_or_else(|| Some(if again { OTHER_SOURCE } else { SOURCE }.into()), amid)?,
            target,
            port,
            operation: *operation,
            time: time(matcher, if again { NIGHT } else { OFFICE_HOURS })?,
        })
    }

    fn user(&self, matcher: &Matcher, asked: &Asked) -> Option<Option<Vec<u8>>> {
        let named = asked.names != Names::Hidden;
        let Some(listed) = matcher.users.as_ref() else {
            return Some(
                named.then(|| if asked.names == Names::Any { USER } else { self.stranger }.to_vec()),
            );
        };
        let exists = |name: &&[u8]| {
            named && *name != b"-" && (asked.names == Names::Any || self.defined.contains(name))
        };
        let user = listed.iter().find(exists).map(|name| Some(name.to_vec()));
        user.or_else(|| (asked.nobody && listed.iter().any(|name| name == b"-")).then_some(None))
    }
}

fn port(matcher: &Matcher) -> Option<u16> {
    let Some(ports) = matcher.ports.as_deref() else { return Some(PORT) };
    let range = ports.iter().find(|range| range.first <= range.last && range.last > 0)?;
    Some(u16::try_from(within(range.first.max(1).into(), range.last.into())).unwrap_or(range.last))
}

/// The target and port of a port mapper that the entry accepts.
fn fixed(matcher: &Matcher, asked: &Asked) -> Option<(Target, u16)> {
    let targets = matcher.targets.as_deref();
    asked.fixed.iter().find_map(|(name, literal, port)| {
        let ports = matcher.ports.as_deref();
        if !ports.is_none_or(|ports| ports.iter().any(|range| (range.first..=range.last).contains(port))) {
            return None;
        }
        let named = targets
            .is_none_or(|targets| targets.names.iter().any(|pattern| name_matches(pattern, name.as_bytes())));
        let ranges = targets.map_or(&[][..], |targets| &targets.addresses);
        let address = match literal {
            Some(address) if named || ranges.iter().any(|range| range.contains(*address)) => Some(*address),
            Some(_) => None,
            None if named => Some(elsewhere(asked)),
            None => amid(ranges),
        };
        Some((Target { host: Some(name.as_bytes().to_vec()), address: Some(address?) }, *port))
    })
}

fn elsewhere(asked: &Asked) -> IpAddr {
    if asked.v4 { IpAddr::from(ADDRESS) } else { ADDRESS_V6.into() }
}

fn target(matcher: &Matcher, asked: &Asked) -> Option<Target> {
    let elsewhere = elsewhere(asked);
    let Some(targets) = matcher.targets.as_deref() else {
        return Some(Target { host: Some(HOST.to_vec()), address: Some(elsewhere) });
    };
    match targets.names.iter().last() {
        Some(pattern) => Some(Target { host: Some(named(pattern)), address: Some(elsewhere) }),
        None => amid(&targets.addresses).map(Target::literal),
    }
}

/// A name that `pattern` means.
fn named(pattern: NamePattern<'_>) -> Vec<u8> {
    let text = pattern.text();
    match pattern {
        NamePattern::Exact(_) => text.to_vec(),
        NamePattern::Prefix(_) => [text, b"x"].concat(),
        NamePattern::Suffix(_) => [b"x", text].concat(),
        NamePattern::Contains(_) => [b"x", text, b"x"].concat(),
    }
}

/// An address within the last of `ranges`, where a narrower entry is not likely to have taken it.
fn amid(ranges: &[AddressRange]) -> Option<IpAddr> {
    let AddressRange { first, last } = *ranges.last()?;
    match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            let bits = within(first.to_bits().into(), last.to_bits().into());
            Some(IpAddr::V4(u32::try_from(bits).ok()?.into()))
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => {
            Some(IpAddr::V6(within(first.to_bits(), last.to_bits()).into()))
        }
        _ => None,
    }
}

/// A number from `first` to `last`, nearer to the end.
const fn within(first: u128, last: u128) -> u128 {
    first + last.saturating_sub(first) / 8 * 5
}

fn time(matcher: &Matcher, usual: WeekTime) -> Option<WeekTime> {
    let day = match matcher.weekdays {
        Some(days) => (0..7).find(|day| days.has(*day))?,
        None => usual.day,
    };
    let second = match matcher.periods.as_deref() {
        Some(periods) => periods.iter().find(|period| period.from < period.to)?.from,
        None => usual.second,
    };
    Some(WeekTime { day, second })
}
