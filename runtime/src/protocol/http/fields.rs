//! Which fields go on, and which end at the proxy (RFC 9110, section 7.6.1).
use super::head::{Field, Head, Version, items};

/// Fields that a sender must not take away by naming them in `Connection`: the proxy writes them itself, or they say who asks
/// for what.
const NEVER_BY_NAME: [&str; 6] =
    ["host", "content-length", "transfer-encoding", "authorization", "cookie", "x-forwarded-for"];

/// Whether a field is for this connection alone.
#[must_use]
pub(crate) fn is_hop_by_hop(field: &Field<'_>, head: &Head<'_>) -> bool {
    is_connection(field)
        || has_prefix(field, b"proxy-")
        || field.is("keep-alive")
        || field.is("te")
        || is_named(field, head)
}

/// `Connection` and its unofficial relative: both say whether the connection is kept.
#[must_use]
pub(crate) fn is_connection(field: &Field<'_>) -> bool {
    field.is("connection") || field.is("proxy-connection")
}

/// Credentials for a proxy, in whatever scheme. They are for this proxy, and end here.
#[must_use]
pub(crate) fn is_proxy_authorization(field: &Field<'_>) -> bool {
    field.is("proxy-authorization")
}

/// Fields that may not come behind a body: they decide how it is read, where it goes and who asks.
#[must_use]
pub(crate) fn may_be_trailer(line: &[u8]) -> bool {
    let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
    let field = Field { name, value: b"" };
    let fixed = [
        "content-encoding",
        "content-type",
        "content-range",
        "expect",
        "set-cookie",
        "te",
        "trailer",
        "upgrade",
    ];
    !(is_connection(&field)
        || has_prefix(&field, b"proxy-")
        || NEVER_BY_NAME.iter().chain(&fixed).any(|fixed| field.is(fixed)))
}

fn has_prefix(field: &Field<'_>, prefix: &[u8]) -> bool {
    field.name.split_at_checked(prefix.len()).is_some_and(|(start, _)| start.eq_ignore_ascii_case(prefix))
}

fn is_named(field: &Field<'_>, head: &Head<'_>) -> bool {
    let named = head.values("connection").flat_map(items).any(|item| item.eq_ignore_ascii_case(field.name));
    named && !NEVER_BY_NAME.iter().any(|name| field.is(name))
}

/// Whether the sender of a head wants its connection kept, and how it said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// It closes.
    Close,
    /// It asked for it.
    Asked,
    /// It said nothing, and its version keeps.
    Implied,
}

/// Reads `Connection` and `Proxy-Connection`. `close` wins over all else.
#[must_use]
pub(crate) fn keep(head: &Head<'_>, version: Version) -> Keep {
    let says = |item| head.lists("connection", item) || head.lists("proxy-connection", item);
    if says("close") {
        Keep::Close
    } else if says("keep-alive") {
        Keep::Asked
    } else if version >= Version::Http11 {
        Keep::Implied
    } else {
        Keep::Close
    }
}

/// The protocols that a request offers to change to, if it does so properly. HTTP/2 is not offered on: its requests would name
/// hosts that nobody judged.
#[must_use]
pub(crate) fn upgrade<'a>(head: &Head<'a>, version: Version) -> Option<&'a [u8]> {
    let offered = version >= Version::Http11 && head.lists("connection", "upgrade");
    let is_http2 = |value: &[u8]| items(value).any(|item| item.eq_ignore_ascii_case(b"h2c"));
    head.values("upgrade").next().filter(|value| offered && !value.is_empty() && !is_http2(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http::head::{BadNames, split};

    #[test]
    fn what_ends_at_the_proxy() {
        let text = b"GET / HTTP/1.1\r\nConnection: close, X-Mine, Host, Content-Length\r\nProxy-Connection: x\r\nPROXY-Foo: x\r\n\
            Keep-Alive: 5\r\nTE: trailers\r\nx-mine: 1\r\nHost: a\r\nContent-Length: 0\r\nX-Other: 1\r\nProxyx: 1\r\n\r\n";
        let head = split(text, BadNames::Refuse).unwrap();
        let kept: Vec<_> =
            head.fields.iter().filter(|field| !is_hop_by_hop(field, &head)).map(|field| field.name).collect();
        assert_eq!(kept, [&b"Host"[..], b"Content-Length", b"X-Other", b"Proxyx"]);
    }

    #[test]
    fn who_keeps_the_connection() {
        for (fields, version, expected) in [
            ("", Version::Http11, Keep::Implied),
            ("", Version::Http10, Keep::Close),
            ("Connection: Keep-Alive\r\n", Version::Http10, Keep::Asked),
            ("Proxy-Connection: keep-alive\r\n", Version::Http10, Keep::Asked),
            ("Connection: foo, close\r\nConnection: keep-alive\r\n", Version::Http11, Keep::Close),
            ("Connection: upgrade\r\n", Version::Http11, Keep::Implied),
        ] {
            let text = format!("GET / HTTP/1.1\r\n{fields}\r\n");
            assert_eq!(
                keep(&split(text.as_bytes(), BadNames::Refuse).unwrap(), version),
                expected,
                "{fields:?}"
            );
        }
    }

    #[test]
    fn an_upgrade_is_one_that_the_connection_field_names() {
        let websocket = "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n";
        for (fields, version, expected) in [
            (websocket, Version::Http11, Some("websocket")),
            (websocket, Version::Http10, None),
            ("Upgrade: websocket\r\n", Version::Http11, None),
            ("Connection: Upgrade\r\nUpgrade: \r\n", Version::Http11, None),
            ("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: H2C\r\n", Version::Http11, None),
            ("Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", Version::Http11, None),
        ] {
            let text = format!("GET / HTTP/1.1\r\n{fields}\r\n");
            let head = split(text.as_bytes(), BadNames::Refuse).unwrap();
            assert_eq!(upgrade(&head, version), expected.map(str::as_bytes), "{fields:?}");
        }
    }

    #[test]
    fn trailers_can_t_change_what_was_decided() {
        assert!(may_be_trailer(b"X-Checksum: 1"));
        for line in [
            "Content-Length: 1",
            "transfer-encoding: chunked",
            "Host: a",
            "Proxy-Authorization: x",
            "Cookie: x",
        ] {
            assert!(!may_be_trailer(line.as_bytes()), "{line}");
        }
    }
}
