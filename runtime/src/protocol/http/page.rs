//! What the proxy itself says: the end of a request that goes nowhere, and the opening of a tunnel.
use super::head::Version;

/// An answer of the proxy itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The request is not HTTP, or not safe to forward.
    BadRequest,
    /// An entry refuses it.
    Forbidden,
    /// Who asks must say who it is.
    AuthenticationRequired,
    /// The client took too long over its request.
    RequestTimeout,
    /// The proxy failed.
    InternalError,
    /// The proxy can't do that.
    NotImplemented,
    /// The server can't be reached.
    ServerUnreachable,
    /// A parent can't be reached, or refuses.
    ParentFailed,
    /// What the server said is not HTTP.
    BadResponse,
    /// The server took too long over its response.
    ServerSilent,
    /// The request came from this proxy itself.
    Loop,
    /// A limit is reached.
    LimitReached,
}

impl Page {
    /// The page for one of 3proxy's result codes, or `None` where there is nothing to say. `need_user`: the service asks for names
    /// (it does unless it has `-u`).
    #[must_use]
    pub const fn of_code(code: u16, need_user: bool) -> Option<Self> {
        Some(match code {
            1 => Self::Forbidden,
            2..=9 if !need_user => Self::Forbidden,
            2..=9 => Self::AuthenticationRequired,
            10 => Self::LimitReached,
            11..=19 | 100 => Self::ServerUnreachable,
            20..=29 => Self::InternalError,
            30..=79 => Self::ParentFailed,
            511..=516 => Self::BadRequest,
            519 => Self::Loop,
            999 => Self::NotImplemented,
            _ => return None,
        })
    }

    /// Status and reason.
    #[must_use]
    pub const fn status(self) -> (u16, &'static str) {
        match self {
            Self::BadRequest => (400, "Bad Request"),
            Self::Forbidden => (403, "Forbidden"),
            Self::AuthenticationRequired => (407, "Proxy Authentication Required"),
            Self::RequestTimeout => (408, "Request Timeout"),
            Self::InternalError => (500, "Internal Server Error"),
            Self::NotImplemented => (501, "Not Implemented"),
            Self::ServerUnreachable | Self::ParentFailed | Self::BadResponse => (502, "Bad Gateway"),
            Self::LimitReached | Self::Loop => (503, "Service Unavailable"),
            Self::ServerSilent => (504, "Gateway Timeout"),
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::BadRequest => "The proxy can't read this request, or can't forward it safely.",
            Self::Forbidden => "The proxy's access rules refuse this request.",
            Self::AuthenticationRequired => {
                "The proxy serves this request only to users it knows. Log in, or ask its administrator."
            }
            Self::RequestTimeout => "The request did not arrive in time.",
            Self::InternalError => "The proxy failed to handle this request.",
            Self::NotImplemented => "The proxy does not support this kind of request.",
            Self::ServerUnreachable => "The server's name is unknown, or the server does not answer.",
            Self::ParentFailed => "The next proxy on the way does not answer, or refuses.",
            Self::BadResponse => "The server's answer is not valid HTTP.",
            Self::ServerSilent => "The server did not answer in time.",
            Self::Loop => "The request leads back to this proxy.",
            Self::LimitReached => "A limit of the proxy is reached. Try again later.",
        }
    }

    /// The whole response. After it the connection is closed. `body` is false in answer to a HEAD request.
    #[must_use]
    pub(crate) fn response(self, version: Version, body: bool) -> Vec<u8> {
        let (status, reason) = self.status();
        let text = self.text();
        let page = format!(
            "<!doctype html><html><head><title>{status} {reason}</title></head>\n\
             <body><h1>{status} {reason}</h1><p>{text}</p></body></html>\n"
        );
        let challenge = match self {
            Self::AuthenticationRequired => "Proxy-Authenticate: Basic realm=\"proxy\"\r\n",
            _ => "",
        };
        let head = format!(
            "{} {status} {reason}\r\n{challenge}Connection: close\r\nContent-Type: text/html; charset=utf-8\r\n\
             Content-Length: {}\r\n\r\n",
            version.text(),
            page.len()
        );
        let body = if body { page.as_str() } else { "" };
        [head.as_bytes(), body.as_bytes()].concat()
    }
}

/// The answer that opens a tunnel.
#[must_use]
pub(crate) fn established(version: Version) -> Vec<u8> {
    format!("{} 200 Connection established\r\n\r\n", version.text()).into_bytes()
}

/// The answer that asks for the body of a request.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_status_that_3proxy_answers() {
        let status = |code, need_user| Page::of_code(code, need_user).map(|page| page.status().0);
        for (code, with_users, without) in [
            (0, None, None),
            (1, Some(403), Some(403)),
            (2, Some(407), Some(403)),
            (3, Some(407), Some(403)),
            (9, Some(407), Some(403)),
            (10, Some(503), Some(503)),
            (11, Some(502), Some(502)),
            (13, Some(502), Some(502)),
            (21, Some(500), Some(500)),
            (33, Some(502), Some(502)),
            (92, None, None),
            (100, Some(502), Some(502)),
            (507, None, None),
            (511, Some(400), Some(400)),
            (516, Some(400), Some(400)),
            (519, Some(503), Some(503)),
            (537, None, None),
            (999, Some(501), Some(501)),
        ] {
            assert_eq!((status(code, true), status(code, false)), (with_users, without), "{code}");
        }
    }

    #[test]
    fn a_page_is_a_whole_response_that_ends_the_connection() {
        let response =
            String::from_utf8(Page::AuthenticationRequired.response(Version::Http11, true)).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(
            "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"proxy\"\r\n"
        ));
        assert!(head.contains("\r\nConnection: close\r\n"));
        assert!(head.contains(&format!("\r\nContent-Length: {}", body.len())));
        assert!(Page::Forbidden.response(Version::Http10, false).ends_with(b"\r\n\r\n"));
    }
}
