//! Parents on loopback.
use compiler::{
    program::acl::{Parent, ParentHost, ParentKind},
    sources::Loc,
};
use grammar::{Secret, Text};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::{announcement, credentials, first_address, hop, hop::HopTarget, route};
use crate::session::{Credentials, Route};

pub(crate) fn parent(kind: ParentKind) -> Parent {
    Parent {
        at: Loc::default(),
        weight: 1000,
        kind,
        secure: false,
        host: ParentHost::Address([127, 0, 0, 1].into()),
        port: 1,
        user: None,
        password: None,
    }
}

fn bob() -> Credentials {
    Credentials { user: b"bob"[..].into(), password: Some(Secret::from(&b"secret"[..])) }
}

/// Negotiates with a parent that reads what it is sent and answers in turn; what follows the negotiation is returned.
async fn negotiated(
    kind: ParentKind,
    answers: &[&[u8]],
    credentials: Option<Credentials>,
) -> Result<Vec<u8>, u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let answering = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        for answer in answers {
            let mut message = [0; 600];
            if stream.read(&mut message).await.unwrap() == 0 {
                return;
            }
            stream.write_all(answer).await.unwrap();
        }
    };
    let asking = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let target =
            HopTarget { name: Some("www.example.com".to_owned()), address: "127.0.0.2:80".parse().unwrap() };
        let outcome = hop::negotiate(&mut stream, &parent(kind), &target, credentials.as_ref()).await;
        outcome.map_err(|failure| failure.code)?;
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        Ok(rest)
    };
    tokio::join!(asking, answering).0
}

#[tokio::test]
async fn what_follows_a_parent_s_answer_is_left_for_the_tunnel() {
    for (kind, answers) in [
        (ParentKind::Connect, &[&b"HTTP/1.0 200 OK\r\nA: b\r\n\r\nrest"[..]][..]),
        (ParentKind::ConnectName, &[b"HTTP/1.1 299\n\nrest"]),
        (ParentKind::Socks4, &[b"\0\x5a\0\0\0\0\0\0rest"]),
        (ParentKind::Socks4Name, &[b"\0\x5a\0\0\0\0\0\0rest"]),
        (ParentKind::Socks4Short, &[b"\0\x5a\0rest"]),
        (ParentKind::Socks5, &[b"\x05\0", b"\x05\0\0\x01\0\0\0\0\0\0rest"]),
        (ParentKind::Socks5Name, &[b"\x05\0", b"\x05\0\0\x03\x02ab\0\0rest"]),
        (ParentKind::Socks5, &[b"\x05\0", b"\x05\0\0\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0rest"]),
        (ParentKind::Socks5Short, &[b"\x05\0", b"\x05\0\0\x01rest"]),
    ] {
        assert_eq!(negotiated(kind, answers, None).await.as_deref(), Ok(&b"rest"[..]), "{kind:?}");
    }
    let answers: [&[u8]; 3] = [b"\x05\x02", b"\x01\0", b"\x05\0\0\x01\0\0\0\0\0\0rest"];
    assert_eq!(negotiated(ParentKind::Socks5, &answers, Some(bob())).await.as_deref(), Ok(&b"rest"[..]));
}

#[tokio::test]
async fn each_way_to_fail_has_its_code() {
    let (http, four, five) = (ParentKind::Connect, ParentKind::Socks4, ParentKind::Socks5);
    for (kind, answers, code) in [
        (http, &[&b""[..]][..], 32),
        (http, &[b"HTTP/1.0 2"], 32),
        (http, &[b"HTTP/1.0 403 No\r\n\r\n"], 33),
        (http, &[b"HTTP/1.0 200 OK\r\nA: b\r\n"], 34),
        (http, &[&[b'a'; 9000]], 34),
        (four, &[b"\0\x5a\0"], 42),
        (four, &[b"\0\x5b\0\0\0\0\0\0"], 43),
        (five, &[b"\x05"], 52),
        (five, &[b"\x04\0"], 53),
        (five, &[b"\x05\xff"], 54),
        (five, &[b"\x05\x02"], 54),
        (five, &[b"\x05\0", b"\x05\0"], 57),
        (five, &[b"\x05\0", b"\x04\0\0\x01"], 53),
        (five, &[b"\x05\0", b"\x05\x02\0\x01\0\0\0\0\0\0"], 62),
        (five, &[b"\x05\0", b"\x05\0\0\x02"], 58),
        (five, &[b"\x05\0", b"\x05\0\0\x01\0"], 59),
        (five, &[b"\x05\0", b"\x05\0\0\x03\x09ab"], 59),
    ] {
        let outcome = negotiated(kind, answers, None).await;
        assert_eq!(outcome, Err(code), "{kind:?} {:?}", answers.last());
    }
    for (answers, code) in [(&[&b"\x05\x02"[..], b"\x01"][..], 55), (&[b"\x05\x02", b"\x01\x01"], 56)] {
        assert_eq!(negotiated(five, answers, Some(bob())).await, Err(code));
    }
}

#[tokio::test]
async fn a_parent_that_wants_tls_is_never_spoken_to_in_the_clear() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let secure = Parent { secure: true, ..parent(ParentKind::Socks5) };
    let target = HopTarget { name: None, address: "127.0.0.2:80".parse().unwrap() };
    assert!(hop::negotiate(&mut stream, &secure, &target, None).await.is_err());
    drop(stream);
    let mut sent = Vec::new();
    listener.accept().await.unwrap().0.read_to_end(&mut sent).await.unwrap();
    assert_eq!(sent, b"");
}

#[test]
fn zeros_stand_for_the_request_s_own() {
    for (parent, expected) in [
        ("127.0.0.3:3128", "127.0.0.3:3128"),
        ("0.0.0.0:3128", "127.0.0.1:3128"),
        ("127.0.0.3:0", "127.0.0.3:80"),
    ] {
        let address = first_address(parent.parse().unwrap(), "127.0.0.1:80".parse().unwrap());
        assert_eq!(address.to_string(), expected);
    }
}

#[test]
fn only_a_star_passes_the_client_s_credentials_on() {
    let with = |kind, user: &str, password: Option<&str>| Parent {
        user: Some(Text::from(user)),
        password: password.map(|text| Secret::from(text.as_bytes())),
        ..parent(kind)
    };
    let own = |user: &str, password: Option<&str>| {
        Some(Credentials {
            user: user.as_bytes().into(),
            password: password.map(|text| Secret::from(text.as_bytes())),
        })
    };
    let star = with(ParentKind::Http, "*", Some("*"));
    assert_eq!(credentials(&star, Some(&bob())), Some(bob()));
    assert_eq!(route(&star, Some(&bob())).unwrap(), Route::HttpProxy(Some(bob())));
    let name_only = with(ParentKind::Tcp, "*", None);
    assert_eq!(route(&name_only, Some(&bob())).unwrap(), Route::StandIn(own("bob", None)));
    let starred = with(ParentKind::Http, "*x", Some("pw"));
    assert_eq!(credentials(&starred, Some(&bob())), own("*x", Some("pw")));
    assert_eq!(route(&parent(ParentKind::Socks5), Some(&bob())).unwrap(), Route::Tunnel);
}

#[test]
fn the_proxy_header_names_both_ends_in_one_family() {
    let header = |client: &str, local: &str| announcement(client.parse().unwrap(), local.parse().unwrap());
    assert_eq!(header("127.0.0.9:1234", "127.0.0.1:80"), "PROXY TCP4 127.0.0.9 127.0.0.1 1234 80\r\n");
    assert_eq!(header("[::9]:1234", "[::1]:80"), "PROXY TCP6 ::9 ::1 1234 80\r\n");
}
