//! Port lists.
use super::{
    Reading,
    list::{is_any, items, listed},
    number::{modular, plain},
    shape,
};
use crate::Span;

/// An inclusive range of ports. One that is reversed matches nothing, as in 3proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port.
    pub last: u16,
}

/// Where an item of a port list is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortTrap {
    /// This text behind the port or range is not looked at.
    Junk,
    /// Above 65535, or negative: 3proxy keeps the low 16 bits.
    Wraps,
    /// The range ends before it begins, so that it holds no port.
    Reversed,
}

impl PortRange {
    /// Whether `port` lies in it.
    #[must_use]
    pub const fn contains(self, port: u16) -> bool {
        self.first <= port && port <= self.last
    }
}

/// The port field of an entry: ports and ranges at commas; `None`: it restricts nothing.
///
/// # Errors
/// The first item that does not start with a number: 3proxy rejects the file.
pub fn ports(word: &[u8]) -> Result<Reading<Option<Box<[PortRange]>>, PortTrap>, Span> {
    if is_any(word) {
        return Ok(Reading::plain(None));
    }
    let (mut ranges, mut traps) = (Vec::new(), Vec::new());
    for (at, item) in items(word) {
        let reading = item_of(item).ok_or(at)?;
        ranges.push(reading.value);
        traps.extend(reading.traps.into_iter().map(|(part, trap)| (part.shifted(at.start), trap)));
    }
    Ok(Reading { value: listed(ranges), traps })
}

fn item_of(item: &[u8]) -> Option<Reading<PortRange, PortTrap>> {
    if let Some(port) = plain(item).and_then(|port| u16::try_from(port).ok()) {
        return Some(Reading::plain(PortRange { first: port, last: port }));
    }
    let shape = shape::port_item(item)?;
    let first = *shape.read.first()?;
    let last = shape.read.get(1).copied().unwrap_or(first);
    let value = PortRange { first: modular(first) as u16, last: modular(last) as u16 };
    let wrapped = |number: &&shape::CNumber| number.negative || number.magnitude > 65_535;
    let mut traps: Vec<_> =
        shape.read.iter().filter(wrapped).map(|number| (number.at, PortTrap::Wraps)).collect();
    if value.first > value.last {
        traps.push((first.at.to(last.at), PortTrap::Reversed));
    }
    if !shape.rest.is_empty() {
        traps.push((shape.rest, PortTrap::Junk));
    }
    Some(Reading { value, traps })
}

#[cfg(test)]
mod tests {
    use super::{
        PortTrap::{self, Junk, Reversed, Wraps},
        ports,
    };
    use crate::Span;

    #[test]
    fn ports_are_read_as_3proxy_reads_them() {
        let cases: [(&str, &[(u16, u16)], &[(u32, PortTrap)]); 13] = [
            ("80", &[(80, 80)], &[]),
            ("80,443,1-1023", &[(80, 80), (443, 443), (1, 1023)], &[]),
            ("80, 443", &[(80, 80), (443, 443)], &[]),
            ("80;443", &[(80, 80)], &[(2, Junk)]),
            ("80-", &[(80, 80)], &[(2, Junk)]),
            ("80 - 90", &[(80, 80)], &[(2, Junk)]),
            ("8080abc", &[(8080, 8080)], &[(4, Junk)]),
            ("70000", &[(4464, 4464)], &[(0, Wraps)]),
            ("-1,80", &[(65_535, 65_535), (80, 80)], &[(0, Wraps)]),
            ("1-65536", &[(1, 0)], &[(2, Wraps), (0, Reversed)]),
            ("443-80", &[(443, 80)], &[(0, Reversed)]),
            ("22,80-90-100", &[(22, 22), (80, 90)], &[(8, Junk)]),
            ("99999999999999999999999", &[(65_535, 65_535)], &[(0, Wraps)]),
        ];
        for (word, ranges, traps) in cases {
            let reading = ports(word.as_bytes()).unwrap();
            let read: Vec<_> = reading.value.unwrap().iter().map(|range| (range.first, range.last)).collect();
            assert_eq!(read, ranges, "{word}");
            let found: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, *trap)).collect();
            assert_eq!(found, traps, "{word}");
        }
    }

    #[test]
    fn what_does_not_start_with_a_number_is_refused_where_it_stands() {
        for (word, at) in [("http", (0, 4)), ("-", (0, 1)), ("80,x", (3, 4))] {
            assert_eq!(ports(word.as_bytes()).unwrap_err(), Span::new(at.0, at.1), "{word}");
        }
        assert_eq!(ports(b"*").unwrap().value, None);
        assert_eq!(ports(b",").unwrap().value, None);
    }
}
