//! What a request is for: the target of its request line and, where that names no host, its `Host` field.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use compiler::program::acl::Operation;

use super::Malformed;

/// Longest host name, in bytes.
const MAX_NAME: usize = 253;

/// How a target is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `http://host/path`: to a proxy.
    Absolute,
    /// `/path`: to a server; the host is in the `Host` field.
    Origin,
    /// `host:port`: CONNECT.
    Authority,
}

/// What is spoken to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP.
    Http,
    /// FTP.
    Ftp,
}

/// A target, cut into its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// How it is written.
    pub form: Form,
    /// What is spoken to it.
    pub scheme: Scheme,
    /// What stands before the last `@`.
    pub userinfo: Option<&'a [u8]>,
    /// `host[:port]`; empty in origin form.
    pub authority: &'a [u8],
    /// What follows: path, query and all.
    pub path: &'a [u8],
}

/// Reads a target.
///
/// # Errors
/// [`Malformed::Scheme`], [`Malformed::Host`], [`Malformed::Authority`].
pub fn parse<'a>(method: &[u8], target: &'a [u8]) -> Result<Target<'a>, Malformed> {
    if method.eq_ignore_ascii_case(b"CONNECT") {
        let (userinfo, authority) = cut_userinfo(target);
        let bad = authority.is_empty() || authority.iter().any(|byte| b"/?# ".contains(byte));
        let parsed = Target { form: Form::Authority, scheme: Scheme::Http, userinfo, authority, path: b"" };
        return if bad { Err(Malformed::Authority) } else { Ok(parsed) };
    }
    if target.starts_with(b"/") {
        let origin =
            Target { form: Form::Origin, scheme: Scheme::Http, userinfo: None, authority: b"", path: target };
        return Ok(origin);
    }
    let (scheme, rest) = if let Some(rest) = strip_prefix(target, b"http://") {
        (Scheme::Http, rest)
    } else if let Some(rest) = strip_prefix(target, b"ftp://") {
        (Scheme::Ftp, rest)
    } else {
        return Err(Malformed::Scheme);
    };
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, b""));
    let (userinfo, authority) = cut_userinfo(authority);
    if authority.is_empty() {
        return Err(Malformed::Host);
    }
    Ok(Target { form: Form::Absolute, scheme, userinfo, authority, path })
}

fn strip_prefix<'a>(bytes: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = bytes.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn cut_userinfo(authority: &[u8]) -> (Option<&[u8]>, &[u8]) {
    match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => (authority.get(..at), authority.get(at + 1..).unwrap_or_default()),
        None => (None, authority),
    }
}

/// A host as a client wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A name: lower case, no trailing dot.
    Name(Box<str>),
    /// Nothing, or a name too long to exist: it can't be resolved.
    Nowhere,
}

/// Reads `host[:port]`; without a port it is `default_port`. An address in brackets, or an IPv6 address without, is an address.
///
/// # Errors
/// [`Malformed::Host`] for bytes that no host name has and for a port that is not 1 to 65535 in digits (3proxy reads `80abc` as
/// 80 and counts modulo 65536).
pub fn host_port(authority: &[u8], default_port: u16) -> Result<(Host, u16), Malformed> {
    let text = std::str::from_utf8(authority).map_err(|_| Malformed::Host)?;
    if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']').ok_or(Malformed::Host)?;
        let address: Ipv6Addr = address.parse().map_err(|_| Malformed::Host)?;
        let port = match after.strip_prefix(':') {
            Some(port) => parse_port(port, default_port)?,
            None if after.is_empty() => default_port,
            None => return Err(Malformed::Host),
        };
        return Ok((Host::Address(IpAddr::V6(address).to_canonical()), port));
    }
    if let Ok(address) = text.parse::<Ipv6Addr>() {
        return Ok((Host::Address(IpAddr::V6(address).to_canonical()), default_port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, parse_port(port, default_port)?),
        None => (text, default_port),
    };
    Ok((host_of(host)?, port))
}

fn host_of(host: &str) -> Result<Host, Malformed> {
    if let Ok(address) = host.parse::<Ipv4Addr>() {
        return Ok(Host::Address(IpAddr::V4(address)));
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    if name.bytes().any(|byte| !(byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))) {
        return Err(Malformed::Host);
    }
    if name.is_empty() || name.len() > MAX_NAME {
        return Ok(Host::Nowhere);
    }
    Ok(Host::Name(name.to_ascii_lowercase().into_boxed_str()))
}

fn parse_port(port: &str, default_port: u16) -> Result<u16, Malformed> {
    if port.is_empty() {
        return Ok(default_port);
    }
    if port.len() > 5 || !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Malformed::Host);
    }
    port.parse().ok().filter(|&port| port != 0).ok_or(Malformed::Host)
}

/// The operation that an access list sees. 3proxy compares only the beginning of the method, in whatever case, so `GETX` is
/// `HTTP_GET`; here the whole method counts, so that a list is not taken in by a method that the server reads otherwise.
#[must_use]
pub fn operation(method: &[u8], scheme: Scheme) -> Operation {
    let is = |name: &[u8]| method.eq_ignore_ascii_case(name);
    match scheme {
        Scheme::Ftp if is(b"GET") => Operation::FtpGet,
        Scheme::Ftp if is(b"PUT") => Operation::FtpPut,
        _ if is(b"CONNECT") => Operation::HttpConnect,
        _ if is(b"GET") => Operation::HttpGet,
        _ if is(b"PUT") => Operation::HttpPut,
        _ if is(b"POST") || is(b"BITS_POST") => Operation::HttpPost,
        _ if is(b"HEAD") => Operation::HttpHead,
        _ => Operation::HttpOther,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(method: &str, target: &str) -> Result<(Form, String, String, Option<String>), Malformed> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let target = parse(method.as_bytes(), target.as_bytes())?;
        Ok((target.form, text(target.authority), text(target.path), target.userinfo.map(text)))
    }

    #[test]
    fn targets_are_cut_where_the_host_ends() {
        let ok = |form, authority: &str, path: &str, userinfo: Option<&str>| {
            Ok((form, authority.to_owned(), path.to_owned(), userinfo.map(str::to_owned)))
        };
        for (method, target, expected) in [
            ("GET", "http://a:1/b?c#d", ok(Form::Absolute, "a:1", "/b?c#d", None)),
            ("GET", "HTTP://a", ok(Form::Absolute, "a", "", None)),
            ("GET", "http://a?q=/@b", ok(Form::Absolute, "a", "?q=/@b", None)),
            ("GET", "http://a#@b", ok(Form::Absolute, "a", "#@b", None)),
            ("GET", "http://u:p@x@a/@c", ok(Form::Absolute, "a", "/@c", Some("u:p@x"))),
            ("GET", "http://good.com\\@evil.com/", ok(Form::Absolute, "evil.com", "/", Some("good.com\\"))),
            ("GET", "/a b", ok(Form::Origin, "", "/a b", None)),
            ("GET", "//h/p", ok(Form::Origin, "", "//h/p", None)),
            ("connect", "u:p@a:443", ok(Form::Authority, "a:443", "", Some("u:p"))),
            ("CONNECT", "http://a/", Err(Malformed::Authority)),
            ("CONNECT", "a:443/x", Err(Malformed::Authority)),
            ("CONNECT", "u@", Err(Malformed::Authority)),
            ("GET", "http://", Err(Malformed::Host)),
            ("GET", "http:///x", Err(Malformed::Host)),
            ("GET", "http://u@/x", Err(Malformed::Host)),
            ("GET", "https://a/", Err(Malformed::Scheme)),
            ("GET", "*", Err(Malformed::Scheme)),
            ("OPTIONS", "*", Err(Malformed::Scheme)),
            ("GET", "a/b", Err(Malformed::Scheme)),
        ] {
            assert_eq!(parsed(method, target), expected, "{method} {target}");
        }
    }

    #[test]
    fn hosts_and_ports_are_read_strictly() {
        let name = |name: &str, port| Ok((Host::Name(name.into()), port));
        let address = |address: &str, port| Ok((Host::Address(address.parse().unwrap()), port));
        for (authority, expected) in [
            ("Example.COM", name("example.com", 80)),
            ("example.com.", name("example.com", 80)),
            ("a_b-c:8080", name("a_b-c", 8080)),
            ("a:", name("a", 80)),
            ("a:65535", name("a", 65535)),
            ("127.0.0.1:1", address("127.0.0.1", 1)),
            ("[::1]:81", address("::1", 81)),
            ("[::1]", address("::1", 80)),
            ("::1", address("::1", 80)),
            ("[::ffff:127.0.0.1]:81", address("127.0.0.1", 81)),
            ("", Ok((Host::Nowhere, 80))),
            (".", Ok((Host::Nowhere, 80))),
            (":81", Ok((Host::Nowhere, 81))),
            ("a:0", Err(Malformed::Host)),
            ("a:80abc", Err(Malformed::Host)),
            ("a:65616", Err(Malformed::Host)),
            ("a:000080", Err(Malformed::Host)),
            ("a:-1", Err(Malformed::Host)),
            ("a:+1", Err(Malformed::Host)),
            ("a:1:2", Err(Malformed::Host)),
            ("[::1", Err(Malformed::Host)),
            ("[::1]x", Err(Malformed::Host)),
            ("[a]:1", Err(Malformed::Host)),
            ("[fe80::1%eth0]", Err(Malformed::Host)),
            ("a b", Err(Malformed::Host)),
            ("a\u{e9}", Err(Malformed::Host)),
            ("a\\b", Err(Malformed::Host)),
        ] {
            assert_eq!(host_port(authority.as_bytes(), 80), expected, "{authority}");
        }
        assert_eq!(host_port("h".repeat(300).as_bytes(), 80), Ok((Host::Nowhere, 80)));
        assert_eq!(host_port(b"a\xff", 80), Err(Malformed::Host));
    }

    #[test]
    fn operations_are_those_of_the_whole_method() {
        for (method, scheme, expected) in [
            ("GET", Scheme::Http, Operation::HttpGet),
            ("get", Scheme::Http, Operation::HttpGet),
            ("GETX", Scheme::Http, Operation::HttpOther),
            ("BITS_POST", Scheme::Http, Operation::HttpPost),
            ("CONNECT", Scheme::Http, Operation::HttpConnect),
            ("DELETE", Scheme::Http, Operation::HttpOther),
            ("GET", Scheme::Ftp, Operation::FtpGet),
            ("HEAD", Scheme::Ftp, Operation::HttpHead),
        ] {
            assert_eq!(operation(method.as_bytes(), scheme), expected, "{method}");
        }
    }
}
