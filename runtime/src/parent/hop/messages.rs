//! What is written to parents.
use std::net::IpAddr;

use grammar::Secret;

use super::{HopTarget, Told};
use crate::{protocol::http::credentials::basic, session::Credentials};

/// An HTTP CONNECT request. An address of IPv6, and a name that is one, stand in brackets.
pub(super) fn connect(target: &HopTarget, credentials: Option<&Credentials>) -> Vec<u8> {
    let host = match target.told() {
        Told::Name(name) => name.to_owned(),
        Told::Address(address) => address.to_string(),
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let port = target.address.port();
    let mut request = format!("CONNECT {host}:{port} HTTP/1.0\r\nConnection: keep-alive\r\n");
    if let Some(credentials) = credentials {
        request.push_str(&format!("Proxy-Authorization: {}\r\n", basic(credentials)));
    }
    request.push_str("\r\n");
    request.into_bytes()
}

/// Where a head ends: behind its first empty line.
pub(super) fn head_end(head: &[u8]) -> Option<usize> {
    let mut line_start = 0;
    for (at, _) in head.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        if matches!(head.get(line_start..at), Some(b"" | b"\r")) {
            return Some(at + 1);
        }
        line_start = at + 1;
    }
    None
}

/// A SOCKS 4 or 4a request; `None`: it can't say this (an IPv6 address, or a NUL in a name).
pub(super) fn socks4(target: &HopTarget, credentials: Option<&Credentials>) -> Option<Vec<u8>> {
    // 3proxy wants the address even if it tells the name.
    let IpAddr::V4(address) = target.address.ip() else { return None };
    let user = credentials.map_or(&b"anonymous"[..], |credentials| &credentials.user);
    let (address, name) = match target.told() {
        Told::Name(name) => ([0, 0, 0, 3], Some(name)),
        Told::Address(_) => (address.octets(), None),
    };
    if user.contains(&0) || name.is_some_and(|name| name.contains('\0') || name.len() > 255) {
        return None;
    }
    let mut request = vec![4, 1];
    request.extend(target.address.port().to_be_bytes());
    request.extend(address);
    request.extend(user);
    request.push(0);
    if let Some(name) = name {
        request.extend(name.as_bytes());
        request.push(0);
    }
    Some(request)
}

/// A SOCKS 5 request; `None`: the name is too long for it.
pub(super) fn socks5(target: &HopTarget) -> Option<Vec<u8>> {
    let mut request = vec![5, 1, 0];
    match target.told() {
        Told::Name(name) => {
            request.extend([3, u8::try_from(name.len()).ok()?]);
            request.extend(name.as_bytes());
        }
        Told::Address(IpAddr::V4(address)) => {
            request.push(1);
            request.extend(address.octets());
        }
        Told::Address(IpAddr::V6(address)) => {
            request.push(4);
            request.extend(address.octets());
        }
    }
    request.extend(target.address.port().to_be_bytes());
    Some(request)
}

/// A SOCKS 5 request to pass datagrams on, from wherever they come on the way to the parent.
pub(super) const SOCKS5_ASSOCIATE: [u8; 10] = [5, 3, 0, 1, 0, 0, 0, 0, 0, 0];

/// A SOCKS 5 name and password; `None`: one is too long for it.
pub(super) fn socks5_password(credentials: &Credentials) -> Option<Vec<u8>> {
    let password = credentials.password.as_ref().map_or(&[][..], Secret::expose);
    let mut message = vec![1, u8::try_from(credentials.user.len()).ok()?];
    message.extend(&credentials.user);
    message.push(u8::try_from(password.len()).ok()?);
    message.extend(password);
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: Option<&str>, address: &str) -> HopTarget {
        HopTarget { name: name.map(str::to_owned), address: address.parse().unwrap() }
    }

    fn bob() -> Credentials {
        Credentials { user: b"bob"[..].into(), password: Some(Secret::from(&b"secret"[..])) }
    }

    #[test]
    fn http_tells_the_name_or_the_address() {
        for (target, host) in [
            (target(None, "127.0.0.1:80"), "127.0.0.1:80"),
            (target(None, "[::1]:80"), "[::1]:80"),
            (target(Some("www.example.com"), "127.0.0.1:80"), "www.example.com:80"),
            (target(Some("::1"), "[::1]:80"), "[::1]:80"),
        ] {
            let request = String::from_utf8(connect(&target, None)).unwrap();
            assert_eq!(request, format!("CONNECT {host} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
        }
        let request = String::from_utf8(connect(&target(None, "127.0.0.1:80"), Some(&bob()))).unwrap();
        assert!(request.ends_with("\r\nProxy-Authorization: Basic Ym9iOnNlY3JldA==\r\n\r\n"), "{request}");
    }

    #[test]
    fn socks4_says_only_what_it_can() {
        let by_address = target(None, "127.0.0.2:80");
        assert_eq!(socks4(&by_address, None).unwrap(), b"\x04\x01\0\x50\x7f\0\0\x02anonymous\0");
        assert_eq!(socks4(&by_address, Some(&bob())).unwrap(), b"\x04\x01\0\x50\x7f\0\0\x02bob\0");
        let by_name = target(Some("a.b"), "127.0.0.2:80");
        assert_eq!(socks4(&by_name, None).unwrap(), b"\x04\x01\0\x50\0\0\0\x03anonymous\0a.b\0");
        assert_eq!(socks4(&target(None, "[::1]:80"), None), None);
        assert_eq!(socks4(&target(Some(&"a".repeat(256)), "127.0.0.2:80"), None), None);
        let nul = Credentials { user: b"b\0b"[..].into(), password: None };
        assert_eq!(socks4(&by_address, Some(&nul)), None);
    }

    #[test]
    fn socks5_tells_names_addresses_and_passwords_by_their_length() {
        assert_eq!(socks5(&target(None, "127.0.0.2:80")).unwrap(), b"\x05\x01\0\x01\x7f\0\0\x02\0\x50");
        assert_eq!(socks5(&target(Some("a.b"), "127.0.0.2:80")).unwrap(), b"\x05\x01\0\x03\x03a.b\0\x50");
        assert_eq!(socks5(&target(None, "[::1]:80")).unwrap().len(), 22);
        assert_eq!(socks5(&target(Some(&"a".repeat(256)), "127.0.0.2:80")), None);
        assert_eq!(socks5_password(&bob()).unwrap(), b"\x01\x03bob\x06secret");
        let long = Credentials { user: b"u".repeat(256).into(), password: None };
        assert_eq!(socks5_password(&long), None);
    }

    #[test]
    fn a_head_ends_behind_its_first_empty_line() {
        for (head, end) in [
            (&b"HTTP/1.0 200 OK\r\n\r\nrest"[..], Some(19)),
            (b"HTTP/1.0 200 OK\n\nrest", Some(17)),
            (b"HTTP/1.0 200 OK\r\nA: b\r\n\r\n", Some(25)),
            (b"HTTP/1.0 200 OK\r\nA: b\r\n\r", None),
            (b"\r\n", Some(2)),
            (b"", None),
        ] {
            assert_eq!(head_end(head), end, "{head:?}");
        }
    }
}
