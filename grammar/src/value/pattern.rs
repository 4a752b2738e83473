//! Target lists: addresses, and name patterns for whatever is no address.
use super::{
    Reading,
    address::{self, AddressError, AddressRange, AddressTrap},
    list::{is_any, items},
};

/// A pattern for host names. Compared without regard to ASCII case; kept in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamePattern {
    /// `name`.
    Exact(Box<[u8]>),
    /// `name*`.
    Prefix(Box<[u8]>),
    /// `*name`: the host must be longer than the suffix.
    Suffix(Box<[u8]>),
    /// `*name*`.
    Contains(Box<[u8]>),
}

/// The target field: an item that parses as an address is compared with the address, any other with the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Targets {
    /// Addresses, networks and ranges.
    pub addresses: Box<[AddressRange]>,
    /// Name patterns.
    pub names: Box<[NamePattern]>,
}

/// Where an item of a target list is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetTrap {
    /// An address that is read otherwise than written.
    Address(AddressTrap),
    /// It has the look of an address, but since it is none 3proxy compares it with names.
    ReadAsName(AddressError),
    /// An address with `*`: it is a pattern for names, and no name looks so.
    AddressWildcard,
    /// A `*` in the middle, which stands for itself.
    WildcardInside,
    /// It holds a byte that no host name has (`/`, `:` …), so that it never matches.
    NeverAName,
}

/// The target field of an entry; `None`: it restricts nothing.
#[must_use]
pub fn targets(word: &[u8]) -> Reading<Option<Targets>, TargetTrap> {
    if is_any(word) {
        return Reading::plain(None);
    }
    let (mut addresses, mut names, mut traps) = (Vec::new(), Vec::new(), Vec::new());
    for (at, item) in items(word) {
        match address::range(item) {
            Ok(reading) => {
                addresses.push(reading.value);
                let parts = reading.traps.into_iter();
                traps.extend(parts.map(|(part, trap)| (part.shifted(at.start), TargetTrap::Address(trap))));
            }
            Err(error) => {
                names.push(NamePattern::new(item));
                traps.extend(name_trap(item, error).map(|trap| (at, trap)));
            }
        }
    }
    if addresses.is_empty() && names.is_empty() {
        return Reading { value: None, traps };
    }
    let value = Targets { addresses: addresses.into_boxed_slice(), names: names.into_boxed_slice() };
    Reading { value: Some(value), traps }
}

impl NamePattern {
    /// The pattern that `item` is: a `*` at either end is a wildcard, any other byte stands for itself.
    #[must_use]
    pub fn new(item: &[u8]) -> Self {
        let lower = |name: &[u8]| name.to_ascii_lowercase().into_boxed_slice();
        let (name, open_end) = item.strip_suffix(b"*").map_or((item, false), |name| (name, true));
        let (name, open_start) = name.strip_prefix(b"*").map_or((name, false), |name| (name, true));
        match (open_start, open_end) {
            (false, false) => Self::Exact(lower(name)),
            (false, true) => Self::Prefix(lower(name)),
            (true, false) => Self::Suffix(lower(name)),
            (true, true) => Self::Contains(lower(name)),
        }
    }

    /// The text between the wildcards.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        match self {
            Self::Exact(text) | Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text) => text,
        }
    }
}

/// What a reader of `item`, which is no address, may be wrong about.
fn name_trap(item: &[u8], error: AddressError) -> Option<TargetTrap> {
    let pattern = NamePattern::new(item);
    let text = pattern.text();
    if looks_like_address(text) {
        let plain = matches!(pattern, NamePattern::Exact(_)) && !text.contains(&b'*');
        return Some(if plain { TargetTrap::ReadAsName(error) } else { TargetTrap::AddressWildcard });
    }
    if text.contains(&b'*') {
        return Some(TargetTrap::WildcardInside);
    }
    let in_a_name = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (!text.iter().all(in_a_name)).then_some(TargetTrap::NeverAName)
}

/// Whether `text` was meant as an address, a network or a range.
fn looks_like_address(text: &[u8]) -> bool {
    let v6 = text.iter().filter(|byte| **byte == b':').count() >= 2;
    let known =
        |byte: &u8| byte.is_ascii_digit() || b".:/-*".contains(byte) || (v6 && byte.is_ascii_hexdigit());
    let separated = text.iter().any(|byte| b".:/".contains(byte));
    separated && text.iter().any(u8::is_ascii_digit) && text.iter().all(known)
}

#[cfg(test)]
mod tests {
    use super::{
        NamePattern::{self, Contains, Exact, Prefix, Suffix},
        TargetTrap::{self, AddressWildcard, NeverAName, ReadAsName, WildcardInside},
        targets,
    };
    use crate::value::{AddressError, AddressTrap};

    fn boxed(text: &str) -> Box<[u8]> {
        text.as_bytes().into()
    }

    #[test]
    fn an_item_that_is_no_address_is_a_pattern() {
        let cases: [(&str, NamePattern, Option<TargetTrap>); 17] = [
            ("Example.COM", Exact(boxed("example.com")), None),
            ("www.*", Prefix(boxed("www.")), None),
            ("*.example.com", Suffix(boxed(".example.com")), None),
            ("*bad*", Contains(boxed("bad")), None),
            ("**", Contains(boxed("")), None),
            ("a*b", Exact(boxed("a*b")), Some(WildcardInside)),
            ("*.a*b.c", Suffix(boxed(".a*b.c")), Some(WildcardInside)),
            ("10.0.0.256", Exact(boxed("10.0.0.256")), Some(ReadAsName(AddressError::NotAnAddress))),
            ("127.0.0", Exact(boxed("127.0.0")), Some(ReadAsName(AddressError::NotAnAddress))),
            ("10.0.0.0/33", Exact(boxed("10.0.0.0/33")), Some(ReadAsName(AddressError::Length))),
            (
                "10.0.0.9-10.0.0.1",
                Exact(boxed("10.0.0.9-10.0.0.1")),
                Some(ReadAsName(AddressError::Reversed)),
            ),
            ("fe80::1::2", Exact(boxed("fe80::1::2")), Some(ReadAsName(AddressError::NotAnAddress))),
            ("10.0.*", Prefix(boxed("10.0.")), Some(AddressWildcard)),
            ("10.*.0.1", Exact(boxed("10.*.0.1")), Some(AddressWildcard)),
            ("example.com:443", Exact(boxed("example.com:443")), Some(NeverAName)),
            ("http://a.example/", Exact(boxed("http://a.example/")), Some(NeverAName)),
            ("1-800.example", Exact(boxed("1-800.example")), None),
        ];
        for (item, pattern, trap) in cases {
            let reading = targets(item.as_bytes());
            assert_eq!(reading.value.unwrap().names.as_ref(), [pattern], "{item}");
            assert_eq!(reading.traps.first().map(|(_, trap)| *trap), trap, "{item}");
        }
    }

    #[test]
    fn addresses_and_names_stand_side_by_side() {
        let reading = targets(b"10.0.0.1,a.example,,fd00::/");
        let value = reading.value.unwrap();
        assert_eq!((value.addresses.len(), value.names.len()), (2, 1));
        let traps: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, *trap)).collect();
        assert_eq!(traps, [(26, TargetTrap::Address(AddressTrap::LengthMissing))]);
        assert_eq!(targets(b"*").value, None);
        assert_eq!(targets(b",,").value, None);
        assert!(targets(b"*,x").value.is_some());
    }
}
