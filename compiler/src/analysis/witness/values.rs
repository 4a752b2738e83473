//! What example requests are made of: values that stand for any, and those that a field of an entry means.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{
    program::acl::{AddressRange, Matcher, NamePattern},
    table::WeekTime,
};

/// Monday, 10:00.
pub(crate) const OFFICE_HOURS: WeekTime = WeekTime { day: 1, second: 10 * 60 * 60 };
/// Sunday, 3:00.
pub(crate) const NIGHT: WeekTime = WeekTime { day: 0, second: 3 * 60 * 60 };

/// Client addresses and targets that stand for any: of the documentation ranges, which no real network has.
pub(crate) const STRANGERS: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)), IpAddr::V4(Ipv4Addr::new(198, 51, 100, 23))];
pub(crate) const ELSEWHERE: IpAddr = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 80));
pub(crate) const ELSEWHERE_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x80));
/// The address of the host itself.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(crate) const NAMES: [&str; 2] = ["www.example.net", "mail.example.org"];
pub(crate) const USERS: [&str; 2] = ["alice", "mallory"];
/// What most clients ask for.
pub(crate) const PORTS: [u16; 4] = [443, 80, 25, 8443];
/// A port that hardly any entry lists.
pub(crate) const RARE_PORT: u16 = 40_961;

/// A name that a pattern means; what it leaves open is `label`.
pub(crate) fn name(pattern: NamePattern<'_>, label: &[u8]) -> Vec<u8> {
    match pattern {
        NamePattern::Exact(name) => name.to_vec(),
        NamePattern::Prefix(prefix) if prefix.ends_with(b".") => [prefix, &b"example.net"[..]].concat(),
        NamePattern::Prefix(prefix) => [prefix, &b".example.net"[..]].concat(),
        NamePattern::Suffix(suffix) if suffix.starts_with(b".") => [label, suffix].concat(),
        NamePattern::Suffix(suffix) => [label, b"-", suffix].concat(),
        NamePattern::Contains(part) => [label, b".", part, b".example.net"].concat(),
    }
}

/// Whether a name can only be one of this host: `localhost`, and what ends in it as a domain.
pub(crate) fn is_of_loopback(name: &[u8]) -> bool {
    let name = name.strip_suffix(b".").unwrap_or(name);
    let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or(name);
    last.eq_ignore_ascii_case(b"localhost")
}

/// A time at which an entry matches: the `usual` one as far as it may be.
pub(crate) fn time(matcher: &Matcher, usual: WeekTime) -> Option<WeekTime> {
    let mut days = (0..7).map(|day| (day + usual.day) % 7);
    let day = days.find(|day| matcher.weekdays.is_none_or(|listed| listed.has(*day)))?;
    let second = match matcher.periods.as_deref() {
        None => usual.second,
        Some(periods) => periods.iter().find(|period| period.from < period.to)?.from,
    };
    Some(WeekTime { day, second })
}

/// An address of a range that looks like a host's.
pub(crate) fn host(range: AddressRange) -> IpAddr {
    next(range.first).filter(|second| range.contains(*second)).unwrap_or(range.first)
}

/// An address amid a range, where a narrower entry is not likely to have taken it.
pub(crate) fn amid(AddressRange { first, last }: AddressRange) -> Option<IpAddr> {
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
pub(crate) const fn within(first: u128, last: u128) -> u128 {
    first + last.saturating_sub(first) / 8 * 5
}

/// The address behind another.
pub(crate) fn next(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => Some(Ipv4Addr::from_bits(address.to_bits().checked_add(1)?).into()),
        IpAddr::V6(address) => Some(Ipv6Addr::from_bits(address.to_bits().checked_add(1)?).into()),
    }
}

/// The address before another.
pub(crate) fn previous(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => Some(Ipv4Addr::from_bits(address.to_bits().checked_sub(1)?).into()),
        IpAddr::V6(address) => Some(Ipv6Addr::from_bits(address.to_bits().checked_sub(1)?).into()),
    }
}
