//! Addresses, networks and ranges, and names where 3proxy takes a name for an address.
use std::net::{IpAddr, Ipv4Addr};

use ipnet::IpNet;

use super::{
    Reading,
    list::{is_any, items, listed},
    number::{NumberTrap, number},
};
use crate::{Span, Text};

/// An inclusive range of addresses of one family: a single address, a network, or `FROM-TO`.
///
/// IPv4-mapped IPv6 is kept as written: whether it is taken for IPv4 is decided where it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressRange {
    /// First address.
    pub first: IpAddr,
    /// Last address; of the same family, not before the first.
    pub last: IpAddr,
}

/// One address, or a name that 3proxy resolves when it loads the file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A name.
    Name(Text),
}

/// Where an address, network or range is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressTrap {
    /// No number behind the slash: 3proxy reads `/0`, every address.
    LengthMissing,
    /// This text behind the length is not looked at.
    LengthJunk,
    /// The length is too large to hold: 3proxy keeps its low bits.
    LengthWraps,
    /// The address has bits below the length; they are cleared.
    HostBits,
    /// This text behind a range is not looked at.
    BehindRange,
}

/// Why an item is not an address, network or range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressError {
    /// Neither IPv4 nor IPv6.
    NotAnAddress,
    /// The range ends before it begins.
    Reversed,
    /// One end is IPv4, the other IPv6.
    MixedFamilies,
    /// More bits than the address has, or less than none.
    Length,
}

impl AddressRange {
    /// Whether it is every address of its family.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        let last = match self.last {
            IpAddr::V4(last) => last.to_bits() == u32::MAX,
            IpAddr::V6(last) => last.to_bits() == u128::MAX,
        };
        self.first.is_unspecified() && last
    }

    /// A single address.
    #[must_use]
    pub const fn single(address: IpAddr) -> Self {
        Self { first: address, last: address }
    }

    /// Whether `address` lies in it; never for another family.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && self.first <= address && address <= self.last
    }
}

impl From<IpNet> for AddressRange {
    fn from(network: IpNet) -> Self {
        Self { first: network.network(), last: network.broadcast() }
    }
}

/// An address or name, as 3proxy reads one address.
///
/// # Errors
/// Text that has the look of an address and is none, or that can't be a name: 3proxy does not resolve it.
pub fn host(word: &[u8]) -> Result<Host, AddressError> {
    if let Some(address) = address(word) {
        return Ok(Host::Address(address));
    }
    let may_be_name =
        word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte) || !byte.is_ascii());
    if word.is_empty() || has_the_look(word) || !may_be_name {
        return Err(AddressError::NotAnAddress);
    }
    Ok(Host::Name(Text::from(word)))
}

/// An address alone.
#[must_use]
pub fn address(word: &[u8]) -> Option<IpAddr> {
    // The standard library takes what `inet_pton` takes.
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The IPv4 address that a C library reads from a word which 3proxy hands to it as a name: `127.1`, `0x7f.1`, `2130706433`. Parts left
/// out are those before the last, and a part may be octal or hexadecimal.
#[must_use]
pub fn short_address(word: &[u8]) -> Option<Ipv4Addr> {
    if has_the_look(word) {
        return None;
    }
    let parts: Vec<u32> = word.split(|byte| *byte == b'.').map(c_number).collect::<Option<_>>()?;
    let (last, leading) = parts.split_last().filter(|(_, leading)| leading.len() < 4)?;
    let room = 8 * (4 - leading.len() as u32);
    let mut bits = u64::from(*last);
    for (part, shift) in leading.iter().zip([24, 16, 8]) {
        bits |= u64::from(u8::try_from(*part).ok()?) << shift;
    }
    (u64::from(*last) < 1 << room).then(|| Ipv4Addr::from_bits(bits as u32))
}

/// A number as C writes it, whole.
fn c_number(text: &[u8]) -> Option<u32> {
    let text = str::from_utf8(text).ok()?;
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if text.len() > 1 && text.starts_with('0') => (text, 8),
        None => (text, 10),
    };
    let is_number = digits.chars().all(|digit| digit.is_digit(radix));
    is_number.then(|| u32::from_str_radix(digits, radix).ok())?
}

/// Whether 3proxy takes `word` for an address, right or wrong, rather than for a name.
#[must_use]
pub fn has_the_look(word: &[u8]) -> bool {
    let count = |wanted: u8| word.iter().filter(|byte| **byte == wanted).count();
    let (dots, colons) = (count(b'.'), count(b':'));
    let letters = word.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte == b'%').count();
    let known = |byte: &u8| byte.is_ascii_hexdigit() || b".:%".contains(byte);
    dots <= 3
        && colons <= 7
        && word.iter().all(known)
        && ((dots == 3 && colons == 0 && letters == 0) || colons >= 2)
}

/// The source field of an entry: addresses, networks and ranges at commas; `None`: it restricts nothing.
///
/// # Errors
/// The first item that is none of these, and why: 3proxy rejects the file.
pub fn sources(
    word: &[u8],
) -> Result<Reading<Option<Box<[AddressRange]>>, AddressTrap>, (Span, AddressError)> {
    if is_any(word) {
        return Ok(Reading::plain(None));
    }
    let (mut ranges, mut traps) = (Vec::new(), Vec::new());
    for (at, item) in items(word) {
        let reading = range(item).map_err(|error| (at, error))?;
        ranges.push(reading.value);
        traps.extend(reading.traps.into_iter().map(|(part, trap)| (part.shifted(at.start), trap)));
    }
    Ok(Reading { value: listed(ranges), traps })
}

/// An address, network or range.
///
/// # Errors
/// Why it is none.
pub fn range(item: &[u8]) -> Result<Reading<AddressRange, AddressTrap>, AddressError> {
    let slash = item.iter().position(|byte| *byte == b'/');
    let (body, behind) =
        slash.and_then(|at| Some((item.get(..at)?, item.get(at + 1..)))).unwrap_or((item, None));
    let dash = body.iter().position(|byte| *byte == b'-');
    let (first, last) =
        dash.and_then(|at| Some((body.get(..at)?, body.get(at + 1..)))).unwrap_or((body, None));
    let first = address(first).ok_or(AddressError::NotAnAddress)?;
    let behind_at = Span::new(body.len() as u32, item.len() as u32);
    match (last, behind) {
        (None, None) => Ok(Reading::plain(AddressRange::single(first))),
        (None, Some(length)) => network(first, length, behind_at),
        (Some(last), behind) => {
            let last = address(last).ok_or(AddressError::NotAnAddress)?;
            if first.is_ipv4() != last.is_ipv4() {
                return Err(AddressError::MixedFamilies);
            }
            if last < first {
                return Err(AddressError::Reversed);
            }
            let traps = behind.map(|_| (behind_at, AddressTrap::BehindRange)).into_iter().collect();
            Ok(Reading { value: AddressRange { first, last }, traps })
        }
    }
}

/// `length` stands behind a slash; `at` covers both.
fn network(
    address: IpAddr,
    length: &[u8],
    at: Span,
) -> Result<Reading<AddressRange, AddressTrap>, AddressError> {
    let read = number(length);
    let bits = u8::try_from(read.value).map_err(|_| AddressError::Length)?;
    let network = IpNet::new(address, bits).map_err(|_| AddressError::Length)?;
    let mut traps: Vec<_> = read
        .traps
        .into_iter()
        .map(|(part, trap)| match trap {
            NumberTrap::NotANumber => (at, AddressTrap::LengthMissing),
            NumberTrap::Junk => (part.shifted(at.start + 1), AddressTrap::LengthJunk),
            NumberTrap::Wraps => (at, AddressTrap::LengthWraps),
        })
        .collect();
    if network.network() != address && traps.is_empty() {
        traps.push((Span::new(0, at.end), AddressTrap::HostBits));
    }
    Ok(Reading { value: network.into(), traps })
}

#[cfg(test)]
mod tests {
    use super::{AddressError, AddressTrap, Host, host, range, short_address, sources};
    use crate::{Span, Text};

    fn show(item: &str) -> String {
        match range(item.as_bytes()) {
            Ok(reading) => format!("{}-{} {:?}", reading.value.first, reading.value.last, reading.traps),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn items_are_read_as_3proxy_reads_them() {
        let cases = [
            ("10.0.0.1", "10.0.0.1-10.0.0.1 []"),
            ("10.0.0.0/8", "10.0.0.0-10.255.255.255 []"),
            ("10.1.2.3/20", "10.1.0.0-10.1.15.255 [(0..11, HostBits)]"),
            ("10.0.0.0/0", "0.0.0.0-255.255.255.255 [(0..10, HostBits)]"),
            ("0.0.0.0/0", "0.0.0.0-255.255.255.255 []"),
            ("10.0.0.1/32", "10.0.0.1-10.0.0.1 []"),
            ("10.0.0.0/", "0.0.0.0-255.255.255.255 [(8..9, LengthMissing)]"),
            ("10.0.0.0/abc", "0.0.0.0-255.255.255.255 [(8..12, LengthMissing)]"),
            ("10.0.0.0/8x", "10.0.0.0-10.255.255.255 [(10..11, LengthJunk)]"),
            ("10.0.0.0/4294967304", "10.0.0.0-10.255.255.255 [(8..19, LengthWraps)]"),
            ("10.0.0.0/33", "Length"),
            ("10.0.0.0/-1", "Length"),
            ("10.0.0.1-10.0.0.9", "10.0.0.1-10.0.0.9 []"),
            ("10.0.0.1-10.0.0.9/24", "10.0.0.1-10.0.0.9 [(17..20, BehindRange)]"),
            ("10.0.0.9-10.0.0.1", "Reversed"),
            ("10.0.0.1-::1", "MixedFamilies"),
            ("10.0.0.1-", "NotAnAddress"),
            ("-10.0.0.1", "NotAnAddress"),
            ("10.0.0.0/24-10.0.0.9", "10.0.0.0-10.0.0.255 [(11..20, LengthJunk)]"),
            ("fd00::/8", "fd00::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff []"),
            ("::1-::f", "::1-::f []"),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.1-::ffff:10.0.0.1 []"),
            ("10.0.0.a", "NotAnAddress"),
            ("10.1.1", "NotAnAddress"),
            ("010.0.0.1", "NotAnAddress"),
            ("host.test", "NotAnAddress"),
            ("", "NotAnAddress"),
        ];
        for (item, expected) in cases {
            assert_eq!(
                show(item).replace("Span { start: ", "").replace(", end: ", "..").replace(" }", ""),
                expected,
                "{item}"
            );
        }
    }

    #[test]
    fn a_bad_source_is_refused_where_it_stands() {
        assert_eq!(sources(b"10.0.0.1,*"), Err((Span::new(9, 10), AddressError::NotAnAddress)));
        let reading = sources(b"::1,10.0.0.0/").unwrap();
        assert_eq!(reading.traps, [(Span::new(12, 13), AddressTrap::LengthMissing)]);
        assert_eq!(sources(b"*").unwrap().value, None);
        assert_eq!(sources(b",").unwrap().value, None);
    }

    #[test]
    fn short_addresses_are_read_as_a_c_library_reads_them() {
        for (word, expected) in [
            ("127.1", Some([127, 0, 0, 1])),
            ("192.168.1", Some([192, 168, 0, 1])),
            ("10.65535", Some([10, 0, 255, 255])),
            ("2130706433", Some([127, 0, 0, 1])),
            ("0x7f000001", Some([127, 0, 0, 1])),
            ("0x7f.1", Some([127, 0, 0, 1])),
            ("0177.1", Some([127, 0, 0, 1])),
            ("0x7f.0.0.0x1", Some([127, 0, 0, 1])),
            ("3128", Some([0, 0, 12, 56])),
            ("0", Some([0, 0, 0, 0])),
            // 3proxy reads these itself.
            ("127.0.0.1", None),
            ("127.0.0.01", None),
            ("1.2.3.256", None),
            // These are none.
            ("1.2.3.4.5", None),
            ("256.1", None),
            ("1.16777216", None),
            ("4294967296", None),
            ("08.1", None),
            ("0x", None),
            ("+1.2", None),
            ("1.", None),
            ("a.1", None),
            ("", None),
        ] {
            assert_eq!(short_address(word.as_bytes()), expected.map(Into::into), "{word}");
        }
    }

    #[test]
    fn hosts_are_addresses_or_names() {
        assert_eq!(host(b"127.0.0.1"), Ok(Host::Address([127, 0, 0, 1].into())));
        assert_eq!(host(b"localhost"), Ok(Host::Name(Text::from("localhost"))));
        for wrong in ["", "127.0.0.300", "127.0.0.02", "1.2.3.4:80", "fe80::1%eth0", "::g::", "a b", ":::"] {
            assert_eq!(host(wrong.as_bytes()), Err(AddressError::NotAnAddress), "{wrong}");
        }
    }
}
