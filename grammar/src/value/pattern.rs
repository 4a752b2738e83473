//! Target lists: addresses, and name patterns for whatever is no address.
use std::fmt;

use super::{
    Reading,
    address::{self, AddressError, AddressRange, AddressTrap},
    list::{ItemList, is_any, items},
};

/// A pattern for host names, which are compared in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NamePattern<'a> {
    /// `name`.
    Exact(&'a [u8]),
    /// `name*`.
    Prefix(&'a [u8]),
    /// `*name`: the host must be longer than the suffix.
    Suffix(&'a [u8]),
    /// `*name*`.
    Contains(&'a [u8]),
}

/// The name patterns of a list, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NamePatterns(ItemList);

/// The target field: an item that parses as an address is compared with the address, any other with the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Targets {
    /// Addresses, networks and ranges.
    pub addresses: Box<[AddressRange]>,
    /// Name patterns.
    pub names: NamePatterns,
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
    /// It holds a byte that no host name has (`/`, `:` …), or begins with a dot, so that it never matches.
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
                names.push(item);
                traps.extend(name_trap(item, error).map(|trap| (at, trap)));
            }
        }
    }
    if addresses.is_empty() && names.is_empty() {
        return Reading { value: None, traps };
    }
    let value = Targets { addresses: addresses.into_boxed_slice(), names: names.into_iter().collect() };
    Reading { value: Some(value), traps }
}

impl<'a> NamePattern<'a> {
    /// Whether no host has such a name: it begins with a dot, ends with one, or has a byte that is in no name.
    #[must_use]
    pub fn is_of_no_host(self) -> bool {
        let text = self.text();
        let in_a_name = |byte: &u8| !byte.is_ascii() || byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        // A name that is asked for loses its last dot before it is compared.
        matches!(self, Self::Exact(_) | Self::Prefix(_)) && text.starts_with(b".")
            || matches!(self, Self::Exact(_) | Self::Suffix(_)) && text.ends_with(b".")
            || !text.iter().all(in_a_name)
    }

    /// The pattern that `item` is: a `*` at either end is a wildcard, any other byte stands for itself.
    #[must_use]
    pub fn new(item: &'a [u8]) -> Self {
        let (name, open_end) = item.strip_suffix(b"*").map_or((item, false), |name| (name, true));
        let (name, open_start) = name.strip_prefix(b"*").map_or((name, false), |name| (name, true));
        match (open_start, open_end) {
            (false, false) => Self::Exact(name),
            (false, true) => Self::Prefix(name),
            (true, false) => Self::Suffix(name),
            (true, true) => Self::Contains(name),
        }
    }

    /// The text between the wildcards.
    #[must_use]
    pub const fn text(self) -> &'a [u8] {
        match self {
            Self::Exact(text) | Self::Prefix(text) | Self::Suffix(text) | Self::Contains(text) => text,
        }
    }
}

/// As it is written.
impl fmt::Display for NamePattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(self.text());
        match self {
            Self::Exact(_) => f.write_str(&text),
            Self::Prefix(_) => write!(f, "{text}*"),
            Self::Suffix(_) => write!(f, "*{text}"),
            Self::Contains(_) => write!(f, "*{text}*"),
        }
    }
}

impl NamePatterns {
    /// Each of them, in the order in which they stand.
    pub fn iter(&self) -> impl Iterator<Item = NamePattern<'_>> {
        self.0.iter().map(NamePattern::new)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Of items of a list, in any case.
impl<'a> FromIterator<&'a [u8]> for NamePatterns {
    fn from_iter<T: IntoIterator<Item = &'a [u8]>>(items: T) -> Self {
        Self(ItemList::from_iter(items).into_ascii_lowercase())
    }
}

/// What a reader of `item`, which is no address, may be wrong about.
fn name_trap(item: &[u8], error: AddressError) -> Option<TargetTrap> {
    let pattern = NamePattern::new(item);
    let text = pattern.text();
    let is_port = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    if matches!(pattern, NamePattern::Suffix(_)) && text.strip_prefix(b":").is_some_and(is_port) {
        return Some(TargetTrap::NeverAName);
    }
    if looks_like_address(text) {
        let plain = matches!(pattern, NamePattern::Exact(_)) && !text.contains(&b'*');
        return Some(if plain { TargetTrap::ReadAsName(error) } else { TargetTrap::AddressWildcard });
    }
    if text.contains(&b'*') {
        return Some(TargetTrap::WildcardInside);
    }
    (pattern.is_of_no_host() && !is_of_addresses(pattern)).then_some(TargetTrap::NeverAName)
}

/// Whether a pattern is for the text of IPv6 addresses, which clients may ask for: with `*:*` all of them.
fn is_of_addresses(pattern: NamePattern<'_>) -> bool {
    let text = pattern.text();
    let known = |byte: &u8| byte.is_ascii_hexdigit() || b".:".contains(byte);
    match pattern {
        NamePattern::Contains(_) | NamePattern::Prefix(_) => text.contains(&b':') && text.iter().all(known),
        NamePattern::Exact(_) | NamePattern::Suffix(_) => false,
    }
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

    #[test]
    fn an_item_that_is_no_address_is_a_pattern() {
        let cases: [(&str, NamePattern<'_>, Option<TargetTrap>); 23] = [
            ("Example.COM", Exact(b"example.com"), None),
            ("www.*", Prefix(b"www."), None),
            ("*.example.com", Suffix(b".example.com"), None),
            ("*bad*", Contains(b"bad"), None),
            ("**", Contains(b""), None),
            ("a*b", Exact(b"a*b"), Some(WildcardInside)),
            ("*.a*b.c", Suffix(b".a*b.c"), Some(WildcardInside)),
            ("10.0.0.256", Exact(b"10.0.0.256"), Some(ReadAsName(AddressError::NotAnAddress))),
            ("127.0.0", Exact(b"127.0.0"), Some(ReadAsName(AddressError::NotAnAddress))),
            ("10.0.0.0/33", Exact(b"10.0.0.0/33"), Some(ReadAsName(AddressError::Length))),
            ("10.0.0.9-10.0.0.1", Exact(b"10.0.0.9-10.0.0.1"), Some(ReadAsName(AddressError::Reversed))),
            ("fe80::1::2", Exact(b"fe80::1::2"), Some(ReadAsName(AddressError::NotAnAddress))),
            ("10.0.*", Prefix(b"10.0."), Some(AddressWildcard)),
            ("10.*.0.1", Exact(b"10.*.0.1"), Some(AddressWildcard)),
            ("example.com:443", Exact(b"example.com:443"), Some(NeverAName)),
            ("http://a.example/", Exact(b"http://a.example/"), Some(NeverAName)),
            ("bad.example.", Exact(b"bad.example."), Some(NeverAName)),
            ("*.bad.example.", Suffix(b".bad.example."), Some(NeverAName)),
            ("*:*", Contains(b":"), None),
            ("fe80:*", Prefix(b"fe80:"), None),
            ("*:443", Suffix(b":443"), Some(NeverAName)),
            ("*:x*", Contains(b":x"), Some(NeverAName)),
            ("1-800.example", Exact(b"1-800.example"), None),
        ];
        for (item, pattern, trap) in cases {
            let reading = targets(item.as_bytes());
            let names = reading.value.unwrap().names;
            assert_eq!(names.iter().collect::<Vec<_>>(), [pattern], "{item}");
            assert_eq!(pattern.to_string(), item.to_ascii_lowercase());
            assert_eq!(reading.traps.first().map(|(_, trap)| *trap), trap, "{item}");
        }
    }

    #[test]
    fn addresses_and_names_stand_side_by_side() {
        let reading = targets(b"10.0.0.1,a.example,,fd00::/");
        let value = reading.value.unwrap();
        assert_eq!((value.addresses.len(), value.names.iter().count()), (2, 1));
        let traps: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, *trap)).collect();
        assert_eq!(traps, [(26, TargetTrap::Address(AddressTrap::LengthMissing))]);
        assert_eq!(targets(b"*").value, None);
        assert_eq!(targets(b",,").value, None);
        assert!(targets(b"*,x").value.is_some());
    }
}
