//! What a client names as its target.
use std::net::IpAddr;

use crate::program::service::Family;

/// A target as the client named it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TargetName {
    /// By address. An IPv4-mapped IPv6 address is taken for the IPv4 address that it is.
    Address(IpAddr),
    /// By name: lower case, without a trailing dot, no byte that a host name can't have.
    Name(Box<str>),
}

impl TargetName {
    /// Reads a target that was written as text, for a service that uses `family`.
    ///
    /// An address counts only if the service uses its family (without an option that is IPv4, as in 3proxy). `None`: this is no
    /// host: it is empty, it has a byte that no host name has, such as a NUL, a blank or a line end, or it looks like an address
    /// and is none. (`127.1`, `0x7f000001` and `0` are addresses to some resolvers, and would pass the rules as names.)
    #[must_use]
    pub fn parse(text: &[u8], family: Family) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        if let Ok(address) = text.parse::<IpAddr>() {
            let used = match address {
                IpAddr::V4(_) => family != Family::V6,
                IpAddr::V6(_) => !matches!(family, Family::Default | Family::V4),
            };
            return used.then(|| Self::Address(address.to_canonical()));
        }
        let name = text.trim_end_matches('.');
        let strange = |byte: u8| !byte.is_ascii_graphic() || br##"/\@?#:[]<>"`{}|^%,;"##.contains(&byte);
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_number = match last.strip_prefix("0x").or(last.strip_prefix("0X")) {
            Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => last.bytes().all(|byte| byte.is_ascii_digit()),
        };
        let is_name = !is_number && !name.bytes().any(strange);
        is_name.then(|| Self::Name(name.to_ascii_lowercase().into()))
    }
}

impl std::fmt::Display for TargetName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TargetName;
    use crate::program::service::Family;

    #[test]
    fn a_host_is_an_address_of_a_family_in_use_or_a_plain_name() {
        let name = |name: &str| Some(TargetName::Name(name.into()));
        let address = |address: &str| Some(TargetName::Address(address.parse().unwrap()));
        for (text, family, expected) in [
            ("127.0.0.1", Family::Default, address("127.0.0.1")),
            ("127.0.0.1", Family::V6, None),
            ("::1", Family::Default, None),
            ("::1", Family::V4, None),
            ("::1", Family::V4ThenV6, address("::1")),
            ("::ffff:127.0.0.1", Family::V6ThenV4, address("127.0.0.1")),
            ("WWW.Example.COM.", Family::Default, name("www.example.com")),
            ("host.test..", Family::Default, name("host.test")),
            ("_srv.a*b-c.test", Family::Default, name("_srv.a*b-c.test")),
            ("", Family::Default, None),
            (".", Family::Default, None),
            ("127.0.0.300", Family::Default, None),
            ("127.1", Family::Default, None),
            ("0", Family::Default, None),
            ("0x7f000001", Family::Default, None),
            ("0x7g", Family::Default, name("0x7g")),
            ("127.0.0.1.", Family::Default, None),
            ("www.example.com\0.evil.test", Family::Default, None),
            ("www.example.com\r\nX: y", Family::Default, None),
            ("www.example.com ", Family::Default, None),
            ("www.example.com/", Family::Default, None),
            ("caf\u{e9}.test", Family::Default, None),
        ] {
            assert_eq!(TargetName::parse(text.as_bytes(), family), expected, "{text:?} {family:?}");
        }
        assert_eq!(TargetName::parse(b"a\xff", Family::Default), None);
    }
}
