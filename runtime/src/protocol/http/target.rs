//! What a request is for: the target of its request line and, where that names no host, its `Host` field.
use std::{fmt, net::Ipv6Addr};

use compiler::program::acl::Operation;

use super::Malformed;

/// How a target is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `http://host/path`: to a proxy.
    Absolute,
    /// `/path`: to a server; the host is in the `Host` field.
    Origin,
    /// `host:port`: CONNECT.
    Authority,
}

/// What is spoken to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// HTTP.
    Http,
    /// FTP.
    Ftp,
}

/// A target, cut into its parts. Debug prints neither credentials nor the path, which may hold some.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct RequestTarget<'a> {
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

impl fmt::Debug for RequestTarget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut target = f.debug_struct("RequestTarget");
        target.field("form", &self.form).field("scheme", &self.scheme);
        target.field("authority", &format_args!("{}", self.authority.escape_ascii())).finish_non_exhaustive()
    }
}

/// Reads a target.
///
/// # Errors
/// [`Malformed::Scheme`], [`Malformed::Host`], [`Malformed::Authority`].
pub(crate) fn parse<'a>(method: &[u8], target: &'a [u8]) -> Result<RequestTarget<'a>, Malformed> {
    if method.eq_ignore_ascii_case(b"CONNECT") {
        let (userinfo, authority) = cut_userinfo(target);
        let bad = authority.is_empty() || authority.iter().any(|byte| b"/?# ".contains(byte));
        let parsed =
            RequestTarget { form: Form::Authority, scheme: Scheme::Http, userinfo, authority, path: b"" };
        return if bad { Err(Malformed::Authority) } else { Ok(parsed) };
    }
    if target.starts_with(b"/") {
        let origin = RequestTarget {
            form: Form::Origin,
            scheme: Scheme::Http,
            userinfo: None,
            authority: b"",
            path: target,
        };
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
    Ok(RequestTarget { form: Form::Absolute, scheme, userinfo, authority, path })
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

/// Cuts `host[:port]`; without a port it is `default_port`. An IPv6 address stands in brackets, or alone without them. The host is as
/// written, and may be anything, or nothing: whether it can be one is for `TargetName::parse` to say.
///
/// # Errors
/// [`Malformed::Host`] for brackets that hold no address, and for a port that is not 1 to 65535 in digits (3proxy reads `80abc`
/// as 80 and counts modulo 65536).
pub(crate) fn host_port(authority: &[u8], default_port: u16) -> Result<(&[u8], u16), Malformed> {
    let is_v6 = |text: &[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok());
    if is_v6(authority) {
        return Ok((authority, default_port));
    }
    let (host, port) = if let Some(rest) = authority.strip_prefix(b"[") {
        let end = rest.iter().position(|&byte| byte == b']').ok_or(Malformed::Host)?;
        let address = rest.get(..end).filter(|address| is_v6(address)).ok_or(Malformed::Host)?;
        match rest.get(end + 1..).unwrap_or_default() {
            [] => (address, None),
            [b':', port @ ..] => (address, Some(port)),
            _ => return Err(Malformed::Host),
        }
    } else {
        match authority.iter().position(|&byte| byte == b':') {
            Some(colon) => (authority.get(..colon).unwrap_or_default(), authority.get(colon + 1..)),
            None => (authority, None),
        }
    };
    Ok((host, port.map_or(Ok(default_port), |port| parse_port(port, default_port))?))
}

fn parse_port(port: &[u8], default_port: u16) -> Result<u16, Malformed> {
    if port.is_empty() {
        return Ok(default_port);
    }
    if port.len() > 5 || !port.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::Host);
    }
    let number = std::str::from_utf8(port).ok().and_then(|digits| digits.parse().ok());
    number.filter(|&port| port != 0).ok_or(Malformed::Host)
}

/// The operation that an access list sees. 3proxy compares only the beginning of the method, in whatever case, so `GETX` is
/// `HTTP_GET`; here the whole method counts, so that a list is not taken in by a method that the server reads otherwise.
#[must_use]
pub(crate) fn operation(method: &[u8], scheme: Scheme) -> Operation {
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
    fn hosts_and_ports_are_cut_strictly() {
        let bad = Err(Malformed::Host);
        for (authority, expected) in [
            ("Example.COM", Ok(("Example.COM", 80))),
            ("a_b-c:8080", Ok(("a_b-c", 8080))),
            ("a:", Ok(("a", 80))),
            ("a:65535", Ok(("a", 65535))),
            ("[::1]:81", Ok(("::1", 81))),
            ("[::1]", Ok(("::1", 80))),
            ("::1", Ok(("::1", 80))),
            ("::ffff:127.0.0.1", Ok(("::ffff:127.0.0.1", 80))),
            ("", Ok(("", 80))),
            (":81", Ok(("", 81))),
            ("a b", Ok(("a b", 80))),
            ("a:0", bad),
            ("a:80abc", bad),
            ("a:65616", bad),
            ("a:000080", bad),
            ("a:-1", bad),
            ("a:+1", bad),
            ("a:1:2", bad),
            ("[::1", bad),
            ("[::1]x", bad),
            ("[a]:1", bad),
            ("[fe80::1%eth0]", bad),
        ] {
            let cut = host_port(authority.as_bytes(), 80);
            assert_eq!(
                cut.map(|(host, port)| (std::str::from_utf8(host).unwrap(), port)),
                expected,
                "{authority}"
            );
        }
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
