//! Tests of what goes on.
use super::*;
use crate::protocol::http::{
    body, fields,
    head::{BadNames, Scanner, Version, request_line, split, status_line, tidy},
    target,
};

const HOP: Hop<'static> = Hop {
    disclosure: Disclosure::Nothing,
    client: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 4000),
    local: SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 3128),
    host: "gate",
    port: 3128,
};

/// The request as it goes on in `form`.
fn forwarded(text: &str, form: Form, change: impl FnOnce(&mut Request<'_>), hop: &Hop<'_>) -> String {
    let mut bytes = text.as_bytes().to_vec();
    tidy(&mut bytes).unwrap();
    let head = split(&bytes, BadNames::Refuse).unwrap();
    let line = request_line(head.line).unwrap();
    let target = target::parse(line.method, line.target).unwrap();
    let host = head.values("host").next().unwrap_or_default();
    let mut request = Request {
        head: &head,
        line,
        target,
        authority: if target.form == Form::Origin { host } else { target.authority },
        form,
        body: body::of_request(&head, line.version).unwrap(),
        keep: fields::keep(&head, line.version),
        upgrade: fields::upgrade(&head, line.version),
        transparent: false,
        authorization: None,
        proxy_authorization: None,
    };
    change(&mut request);
    let mut out = Vec::new();
    request.write(hop, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn requests_go_on_in_the_form_of_the_next_hop() {
    for (target, form, expected) in [
        ("http://a:8/p q?r#s", Form::Origin, "GET /p%20q?r#s HTTP/1.1"),
        ("http://u:p@a:8/p", Form::Absolute, "GET http://a:8/p HTTP/1.1"),
        ("http://a", Form::Origin, "GET / HTTP/1.1"),
        ("http://a?b=c", Form::Origin, "GET /?b=c HTTP/1.1"),
        ("http://a?b=c", Form::Absolute, "GET http://a/?b=c HTTP/1.1"),
        ("/p", Form::Absolute, "GET http://h/p HTTP/1.1"),
        ("//x/p", Form::Origin, "GET //x/p HTTP/1.1"),
        ("ftp://a/p", Form::Absolute, "GET ftp://a/p HTTP/1.1"),
    ] {
        let text = format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
        let out = forwarded(&text, form, |_| (), &HOP);
        assert_eq!(out.lines().next(), Some(expected), "{target}");
    }
}

#[test]
fn fields_keep_order_and_spelling_and_say_once_where_the_body_ends() {
    let text = "POST http://a/ HTTP/1.1\r\nx-LOWER: Value\r\nHOST: other\r\nConnection: X-Hop, close\r\nx-hop: 1\r\n\
        Proxy-Authorization: Bearer t\r\nProxy-Foo: 1\r\nTE: gzip\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\nExpect: 100-continue\r\n\
        content-LENGTH : 3\r\nContent-Length: 3\r\nCookie: a\r\n b\r\n\r\n";
    assert_eq!(
        forwarded(text, Form::Origin, |_| (), &HOP),
        "POST / HTTP/1.1\r\nx-LOWER: Value\r\nHOST: a\r\ncontent-LENGTH: 3\r\nCookie: a   b\r\nConnection: close\r\n\r\n"
    );
    let text = "POST http://a/ HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: \tCHUNKED\r\n\r\n";
    let out = forwarded(text, Form::Origin, |_| (), &HOP);
    assert_eq!(out, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    let text = "POST http://a/ HTTP/1.1\r\nContent-Length: \r\n\r\n";
    assert_eq!(forwarded(text, Form::Origin, |_| (), &HOP), "POST / HTTP/1.1\r\nHost: a\r\n\r\n");
}

#[test]
fn the_host_is_told_whether_the_client_did_or_not() {
    for (text, form, expected) in [
        ("GET http://a:8/ HTTP/1.0\r\n\r\n", Form::Origin, "GET / HTTP/1.0\r\nHost: a:8\r\n"),
        ("GET http://u:p@a/ HTTP/1.1\r\n\r\n", Form::Absolute, "GET http://a/ HTTP/1.1\r\nHost: a\r\n"),
        (
            "GET http://a/ HTTP/1.1\r\nX: y\r\nHost: b\r\n\r\n",
            Form::Origin,
            "GET / HTTP/1.1\r\nX: y\r\nHost: a\r\n",
        ),
        ("GET / HTTP/1.1\r\nHost: b\r\n\r\n", Form::Origin, "GET / HTTP/1.1\r\nHost: b\r\n"),
    ] {
        let out = forwarded(text, form, |_| (), &HOP);
        assert!(out.starts_with(expected), "{text}: {out}");
        assert_eq!(out.matches("Host:").count(), 1, "{out}");
    }
}

#[test]
fn transparent_services_pass_fields_of_the_hop_but_no_proxy_credentials() {
    let text = "GET /p HTTP/1.1\r\nHost: a\r\nProxy-Connection: keep-alive\r\nKeep-Alive: 5\r\nTE: trailers\r\n\
        Proxy-Authorization: Basic eDp5\r\nProxy-Foo: 1\r\n\r\n";
    let out = forwarded(text, Form::Origin, |request| request.transparent = true, &HOP);
    assert_eq!(
        out,
        "GET /p HTTP/1.1\r\nHost: a\r\nKeep-Alive: 5\r\nTE: trailers\r\nProxy-Foo: 1\r\nConnection: keep-alive\r\n\r\n"
    );
}

#[test]
fn an_upgrade_is_offered_on_and_nothing_else_of_the_connection() {
    let text = "GET http://a/ HTTP/1.1\r\nConnection: Upgrade, X-A\r\nUpgrade: websocket\r\nUpgrade: h2c\r\nX-A: 1\r\n\r\n";
    let out = forwarded(text, Form::Origin, |_| (), &HOP);
    assert_eq!(out, "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
}

#[test]
fn credentials_go_to_whom_they_are_for() {
    let pair = |user: &str| {
        Box::new(Credentials {
            user: user.as_bytes().into(),
            password: Some(grammar::Secret::from(&b"y"[..])),
        })
    };
    let (server, parent): (&Credentials, &Credentials) = (Box::leak(pair("x")), Box::leak(pair("p")));
    let text = "GET http://a/ HTTP/1.1\r\nAuthorization: Basic old\r\n\r\n";
    let out = forwarded(text, Form::Origin, |request| request.authorization = Some(server), &HOP);
    assert_eq!(out, "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic eDp5\r\n\r\n");
    let out = forwarded(text, Form::Absolute, |request| request.proxy_authorization = Some(parent), &HOP);
    assert_eq!(
        out,
        "GET http://a/ HTTP/1.1\r\nHost: a\r\nAuthorization: Basic old\r\nProxy-Authorization: Basic cDp5\r\n\r\n"
    );
}

#[test]
fn the_client_is_disclosed_as_the_service_says() {
    let text = "GET http://a/ HTTP/1.0\r\nForwarded: for=9.9.9.9\r\n\r\n";
    let out = |hop: &Hop<'_>| forwarded(text, Form::Origin, |_| (), hop);
    let before = "GET / HTTP/1.0\r\nHost: a\r\nForwarded: for=9.9.9.9\r\n";
    assert_eq!(out(&HOP), format!("{before}Connection: close\r\n\r\n"));
    let shown = Hop { disclosure: Disclosure::Forwarded, ..HOP };
    let line = "Forwarded: for=127.0.0.1:4000;by=gate:3128";
    assert_eq!(out(&shown), format!("{before}{line}\r\nConnection: close\r\n\r\n"));
    let v6 = Hop { client: "[::1]:4000".parse().unwrap(), ..shown };
    let line = "Forwarded: for=\"[::1]:4000\";by=gate:3128";
    assert_eq!(out(&v6), format!("{before}{line}\r\nConnection: close\r\n\r\n"));
    let via = Hop { disclosure: Disclosure::Via(HOP.client.ip()), ..HOP };
    let lines = "Via: 1.1 gate:3128 (cfgc)\r\nX-Forwarded-For: 127.0.0.1";
    assert_eq!(out(&via), format!("{before}{lines}\r\nConnection: close\r\n\r\n"));
}

/// The response as it goes on.
fn answered(text: &str, change: impl FnOnce(&mut Response<'_>)) -> String {
    let head = split(text.as_bytes(), BadNames::Drop).unwrap();
    let status = status_line(head.line).unwrap().status;
    let body = body::of_response(&head, status, b"GET").unwrap();
    let mut response = Response {
        head: &head,
        status,
        body,
        keep: Keep::Implied,
        transparent: false,
        session_authentication: true,
    };
    change(&mut response);
    let mut out = Vec::new();
    response.write(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn responses_lose_what_was_for_the_proxy() {
    let text = "HTTP/1.1 200 OK\r\nProxy-Foo: bar\r\nX-Resp: 1\r\nKeep-Alive: 5\r\nContent-Length: 57\r\nContent-Length: 57\r\n\
        Connection: keep-alive, X-Resp2\r\nX-Resp2: 1\r\nUpgrade: h2\r\n\r\n";
    let rest = "X-Resp: 1\r\nContent-Length: 57\r\n";
    let out = answered(text, |response| response.keep = Keep::Close);
    assert_eq!(out, format!("HTTP/1.1 200 OK\r\n{rest}Connection: close\r\n\r\n"));
    let out = answered(text, |response| response.keep = Keep::Asked);
    assert_eq!(out, format!("HTTP/1.1 200 OK\r\n{rest}Connection: keep-alive\r\n\r\n"));
    assert!(answered(text, |response| response.transparent = true).contains("Proxy-Foo: bar\r\n"));
}

#[test]
fn responses_say_once_where_their_body_ends() {
    for (fields, status, expected) in [
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 200, "Transfer-Encoding: chunked\r\n"),
        ("Content-Length: 5\r\n", 304, "Content-Length: 5\r\n"),
        ("Content-Length: 5\r\n", 204, ""),
        ("Content-Length: 5\r\n", 103, ""),
        ("Transfer-Encoding: chunked\r\n", 204, ""),
        ("Transfer-Encoding: chunked\r\n", 304, "Transfer-Encoding: chunked\r\n"),
    ] {
        let out = answered(&format!("HTTP/1.1 {status} X\r\n{fields}\r\n"), |_| ());
        assert_eq!(out, format!("HTTP/1.1 {status} X\r\n{expected}\r\n"));
    }
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let out = answered(chunked, |response| (response.body, response.keep) = (Body::Close, Keep::Close));
    assert_eq!(out, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "taken apart for HTTP/1.0");
}

#[test]
fn a_change_of_protocols_and_session_authentication_are_announced() {
    let out = answered("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", |_| ());
    assert_eq!(out, "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    let out = answered("HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 0\r\n\r\n", |_| ());
    assert!(out.contains("Proxy-support: Session-Based-Authentication\r\nConnection: Proxy-support\r\n"));
}

/// Pieces that heads for smuggling are made of.
const PIECES: [&str; 24] = [
    "Content-Length: 3",
    "Content-Length: 3",
    "Content-Length : 4",
    "Content-Length:",
    "content-length: 0x3",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked",
    "transfer-encoding : Chunked",
    "Transfer-Encoding: \x0bchunked",
    "Transfer-Encoding: identity",
    "Connection: close, Content-Length",
    "Connection: Transfer-Encoding",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Host: b",
    " Content-Length: 5",
    "\tTransfer-Encoding: chunked",
    "X: y",
    "NoColon",
    ": nameless",
    "Expect: 100-continue",
    "X\x0b: \x7f",
    "Proxy-Authorization: Basic eDp5",
    "TE: chunked",
];

proptest::proptest! {
    #[test]
    fn what_goes_on_is_one_head_that_ends_its_body_where_this_one_does(
        lines in proptest::collection::vec((proptest::sample::select(&PIECES[..]), proptest::sample::select(&["\r\n", "\n"][..])), 0..7),
        form in proptest::sample::select(&[Form::Origin, Form::Absolute][..]),
    ) {
        let fields: String = lines.iter().map(|(line, end)| format!("{line}{end}")).collect();
        let mut bytes = format!("POST http://a/p HTTP/1.1\r\n{fields}\r\n").into_bytes();
        let readable = tidy(&mut bytes).is_ok()
            && split(&bytes, BadNames::Refuse).is_ok_and(|head| body::of_request(&head, Version::Http11).is_ok());
        if readable {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let out = forwarded(&text, form, |_| (), &HOP).into_bytes();
            proptest::prop_assert_eq!(Scanner::default().scan(&out), Ok(Some(out.len())));
            let mut tidied = out.clone();
            tidy(&mut tidied).unwrap();
            proptest::prop_assert_eq!(&tidied, &out);
            let (before, after) = (split(&bytes, BadNames::Refuse).unwrap(), split(&out, BadNames::Refuse).unwrap());
            let body = body::of_request(&before, Version::Http11).unwrap();
            proptest::prop_assert_eq!(body::of_request(&after, Version::Http11), Ok(body));
            let framing = after.values("content-length").count() + after.values("transfer-encoding").count();
            proptest::prop_assert_eq!(framing, usize::from(body != Body::None));
            proptest::prop_assert!(after.values("proxy-authorization").next().is_none());
        }
    }
}
