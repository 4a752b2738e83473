//! What a client's request head asks for.
use crate::{
    protocol::http::{
        Malformed,
        body::{self, Body},
        credentials,
        fields::{self, Keep},
        forward,
        head::{BadNames, Head, RequestLine, request_line, split, tidy},
        target::{self, Form, RequestTarget, Scheme},
    },
    session::Credentials,
};

/// A request head, read.
#[derive(Debug)]
pub(super) struct Request<'a> {
    /// Its parts.
    pub(super) head: Head<'a>,
    /// Its first line.
    pub(super) line: RequestLine<'a>,
    /// Its target, by the first line.
    pub(super) target: RequestTarget<'a>,
    /// The host as written: in the target, or in the `Host` field.
    pub(super) authority: &'a [u8],
    /// The host in it.
    pub(super) host: &'a [u8],
    /// The port.
    pub(super) port: u16,
    /// How its body is delimited.
    pub(super) body: Body,
    /// Whether the client wants its connection kept.
    pub(super) keep: Keep,
    /// What it offers to change to.
    pub(super) upgrade: Option<&'a [u8]>,
    /// It sends its body only when asked to.
    pub(super) waits: bool,
    /// For this proxy.
    pub(super) credentials: Option<Credentials>,
    /// For the server, from the URL.
    pub(super) server_credentials: Option<Credentials>,
}

/// What of a service decides how requests are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reading {
    /// The service takes names: it does unless it has `-u`.
    pub(super) takes_names: bool,
    /// `-T`: credentials for a proxy are not for this one.
    pub(super) transparent: bool,
}

impl<'a> Request<'a> {
    /// Reads a whole head.
    ///
    /// # Errors
    /// Why it can't be served.
    pub(super) fn read(bytes: &'a mut [u8], reading: Reading) -> Result<Self, Malformed> {
        tidy(bytes)?;
        let head = split(bytes, BadNames::Refuse)?;
        let line = request_line(head.line)?;
        let target = target::parse(line.method, line.target)?;
        if head.values("host").nth(1).is_some() {
            return Err(Malformed::Field);
        }
        let authority = match target.form {
            Form::Origin => head.values("host").next().unwrap_or_default(),
            Form::Absolute | Form::Authority => target.authority,
        };
        let (host, port) = target::host_port(authority, if target.scheme == Scheme::Ftp { 21 } else { 80 })?;
        let body = match target.form {
            Form::Authority => Body::None,
            Form::Absolute | Form::Origin => body::of_request(&head, line.version)?,
        };
        let told = target
            .userinfo
            .map(|info| credentials::of_userinfo(info, reading.takes_names))
            .unwrap_or_default();
        let proxy = head.values("proxy-authorization").filter_map(credentials::of_field).last();
        Ok(Self {
            line,
            target,
            authority,
            host,
            port,
            body,
            keep: fields::keep(&head, line.version),
            upgrade: fields::upgrade(&head, line.version),
            waits: body != Body::None && head.fields.iter().any(forward::is_continue),
            credentials: proxy.filter(|_| !reading.transparent).or(told.proxy),
            server_credentials: told.server,
            head,
        })
    }

    /// Whether it asks for a tunnel.
    pub(super) fn is_connect(&self) -> bool {
        self.target.form == Form::Authority
    }
}

/// The first line of a head, as the log shows it: up to the first byte that can't be in one, and without the password that an URL
/// may hold, even one that can't be served.
pub(super) fn log_text(head: &[u8]) -> Vec<u8> {
    let end = head.iter().position(|byte| b"\r\n\0".contains(byte)).unwrap_or(head.len());
    let line = head.get(..end).unwrap_or_default();
    let Some(start) = host_start(line) else { return line.to_vec() };
    let (before, rest) = line.split_at_checked(start).unwrap_or((line, b""));
    let authority = may_hold_password(line, rest);
    let secret = authority.iter().rposition(|&byte| byte == b'@');
    let colon = secret.and_then(|at| authority.get(..at)?.iter().position(|&byte| byte == b':'));
    match (secret, colon) {
        (Some(at), Some(colon)) => {
            let (user, behind) = (rest.get(..colon).unwrap_or_default(), rest.get(at..).unwrap_or_default());
            [before, user, b":***", behind].concat()
        }
        _ => line.to_vec(),
    }
}

/// As much of what stands behind the scheme as credentials may stand in. As [`target::parse`] cuts it, a blank may stand in a
/// password; where no host and port come out (`http://bob:pass/word@host/`), so may what ends a host.
fn may_hold_password<'a>(line: &[u8], rest: &'a [u8]) -> &'a [u8] {
    let authority = rest.split(|byte| b"/?#".contains(byte)).next().unwrap_or_default();
    let place = authority.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    let is_place = !place.ends_with(b":") && target::host_port(place, 80).is_ok();
    // The target of CONNECT has no path.
    let is_connect =
        line.split(|&byte| byte == b' ').next().unwrap_or_default().eq_ignore_ascii_case(b"CONNECT");
    if is_place && !is_connect { authority } else { rest }
}

/// Where the host, or what stands before its `@`, begins in a request line.
fn host_start(line: &[u8]) -> Option<usize> {
    let scheme = line.windows(3).position(|three| three == b"://").map(|at| at + 3);
    scheme.or_else(|| line.iter().position(|&byte| byte == b' ').map(|at| at + 1))
}

/// The same for a request in origin form, which 3proxy logs with its host.
pub(super) fn log_text_with_host(request: &Request<'_>) -> Vec<u8> {
    let (line, version) = (&request.line, request.line.version.text().as_bytes());
    [line.method, b" http://", request.authority, line.target, b" ", version].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http::head::MAX_LINE;

    const READING: Reading = Reading { takes_names: true, transparent: false };

    #[test]
    fn requests_are_read_whole_or_refused() {
        for (text, expected) in [
            ("GET http://A.test:81/ HTTP/1.1\r\nHost: b\r\n\r\n", Ok(("A.test", 81))),
            ("GET / HTTP/1.1\r\nHost: b.test:82\r\n\r\n", Ok(("b.test", 82))),
            ("GET / HTTP/1.1\r\n\r\n", Ok(("", 80))),
            ("GET / HTTP/1.1\r\nHost: \r\n\r\n", Ok(("", 80))),
            ("GET ftp://a/ HTTP/1.0\r\n\r\n", Ok(("a", 21))),
            ("CONNECT [::1]:443 HTTP/1.1\r\nContent-Length: x\r\n\r\n", Ok(("::1", 443))),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", Err(Malformed::Field)),
            ("GET http://a/ HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", Err(Malformed::Field)),
            ("GET http://a:80b/ HTTP/1.1\r\n\r\n", Err(Malformed::Host)),
            ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", Ok(("u@a", 80))),
            ("GET http://a/\x01 HTTP/1.1\r\n\r\n", Err(Malformed::Line)),
            ("\r\n\r\n", Err(Malformed::Line)),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            let read = Request::read(&mut bytes, READING);
            assert_eq!(
                read.map(|request| (std::str::from_utf8(request.host).unwrap(), request.port)),
                expected,
                "{text:?}"
            );
        }
    }

    #[test]
    fn credentials_for_the_proxy_are_those_of_the_field_then_of_the_url() {
        let user = |fields: &str, reading| {
            let mut bytes = format!("GET http://u:p:x:y@a/ HTTP/1.1\r\n{fields}\r\n").into_bytes();
            let request = Request::read(&mut bytes, reading).unwrap();
            request.credentials.map(|credentials| String::from_utf8(credentials.user.into()).unwrap())
        };
        let field = "Proxy-Authorization: Basic Ym9iOnNlY3JldA==\r\n";
        assert_eq!(user(field, READING).as_deref(), Some("bob"));
        assert_eq!(user("Proxy-Authorization: Bearer x\r\n", READING).as_deref(), Some("u"));
        assert_eq!(user("", Reading { takes_names: false, ..READING }), None);
        assert_eq!(user(field, Reading { transparent: true, ..READING }).as_deref(), Some("u"));
    }

    #[test]
    fn what_prints_of_a_request_holds_no_credential() {
        let head = "GET http://u:hidden@a/?token=hidden HTTP/1.1\r\nProxy-Authorization: Basic hidden\r\n\
            Authorization: hidden\r\nCookie: hidden\r\n\r\n";
        let mut bytes = head.as_bytes().to_vec();
        let request = Request::read(&mut bytes, READING).unwrap();
        let printed = format!("{request:?} {request:#?} {:?} {:?}", request.head, request.target);
        assert!(!printed.contains("hidden") && printed.contains("Cookie"), "{printed}");
        let hidden = format!("{:?}", b"hidden");
        assert!(!printed.contains(hidden.trim_matches(['[', ']'])), "{printed}");
    }

    #[test]
    fn the_log_shows_the_line_without_a_password() {
        for (head, expected) in [
            ("GET http://a/b HTTP/1.1\r\nHost: a\r\n", "GET http://a/b HTTP/1.1"),
            ("GET http://bob:secret:x:y@a:1/@b HTTP/1.1\r\n", "GET http://bob:***@a:1/@b HTTP/1.1"),
            ("GET http://bob:se cret@a/b HTTP/1.1\r\n", "GET http://bob:***@a/b HTTP/1.1"),
            ("CONNECT bob:se cret@a:443 HTTP/1.1\r\n", "CONNECT bob:***@a:443 HTTP/1.1"),
            ("CONNECT bob:secret@a:443 HTTP/1.1\r\n", "CONNECT bob:***@a:443 HTTP/1.1"),
            ("GET https://bob:secret@a HTTP/1.1\r\n", "GET https://bob:***@a HTTP/1.1"),
            ("GET http://bob@a/x:y@z HTTP/1.1\r\n", "GET http://bob@a/x:y@z HTTP/1.1"),
            ("GET http://a/\0b HTTP/1.1\r\n", "GET http://a/"),
            ("GET http://bob:se/cret@a/ HTTP/1.1\r\n", "GET http://bob:***@a/ HTTP/1.1"),
            ("GET http://bob:s e/cr?e#t@a/b HTTP/1.1\r\n", "GET http://bob:***@a/b HTTP/1.1"),
            ("GET http://bob:/cret@a/ HTTP/1.1\r\n", "GET http://bob:***@a/ HTTP/1.1"),
            ("GET http://bob:a@b:c/d@a/ HTTP/1.1\r\n", "GET http://bob:***@a/ HTTP/1.1"),
            ("GET bob:se/cret@a/ HTTP/1.1\r\n", "GET bob:***@a/ HTTP/1.1"),
            ("CONNECT bob:80/cret@a:443 HTTP/1.1\r\n", "CONNECT bob:***@a:443 HTTP/1.1"),
            ("GET http://a:8080/@bob/x:y HTTP/1.1\r\n", "GET http://a:8080/@bob/x:y HTTP/1.1"),
            ("GET http://[::1]:80/@bob HTTP/1.1\r\n", "GET http://[::1]:80/@bob HTTP/1.1"),
            ("GET /a@b:c HTTP/1.1\r\n", "GET /a@b:c HTTP/1.1"),
            ("\u{5}\u{1}\0", "\u{5}\u{1}"),
            ("", ""),
        ] {
            assert_eq!(String::from_utf8_lossy(&log_text(head.as_bytes())), expected, "{head:?}");
        }
        assert_eq!(log_text(&vec![b'a'; MAX_LINE]).len(), MAX_LINE);
        let mut bytes = b"GET /p HTTP/1.0\r\nHost: h:1\r\n\r\n".to_vec();
        let request = Request::read(&mut bytes, READING).unwrap();
        assert_eq!(log_text_with_host(&request), b"GET http://h:1/p HTTP/1.0");
    }
}
