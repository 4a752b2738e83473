//! Hellos as clients send them, split in every way, and those that nobody should send.
use proptest::prelude::*;

use super::{Fault, Handshake, Hello, Message, client_hello, kind, server_hello};

/// A vector with its length in front, in so many bytes.
fn vector(width: usize, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&length[4 - width..], content].concat()
}

fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &vector(2, data)].concat()
}

fn server_name(name: &[u8]) -> Vec<u8> {
    extension(0, &vector(2, &[&[0][..], &vector(2, name)].concat()))
}

fn body(extensions: &[u8]) -> Vec<u8> {
    let session = vector(1, &[9; 32]);
    [&[3, 3][..], &[7; 32], &session, &vector(2, &[0x13, 1]), &vector(1, &[0]), extensions].concat()
}

fn with(extensions: &[Vec<u8>]) -> Result<Hello, Fault> {
    client_hello(&Message { kind: kind::CLIENT_HELLO, body: body(&vector(2, &extensions.concat())) })
}

/// A message in records of at most so many bytes.
fn records(message: &[u8], longest: usize) -> Vec<u8> {
    message.chunks(longest).flat_map(|part| [&[22, 3, 1][..], &vector(2, part)].concat()).collect()
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind][..], &vector(3, body)].concat()
}

/// What becomes of bytes that come in these parts.
fn first(parts: &[&[u8]]) -> Result<Option<Message>, Fault> {
    let mut handshake = Handshake::default();
    for part in parts {
        handshake.push(part);
        let next = handshake.next();
        if next != Ok(None) {
            return next;
        }
    }
    Ok(None)
}

#[test]
fn a_hello_says_which_host_which_protocol_and_which_version() {
    let hello = |version, host: Option<&str>, protocol: Option<&str>| {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Ok(Hello { version, host: host.map(bytes), protocol: protocol.map(bytes) })
    };
    let alpn = extension(16, &vector(2, &[vector(1, b"h2"), vector(1, b"http/1.1")].concat()));
    // A number that means nothing, TLS 1.3, TLS 1.2.
    let versions = extension(43, &vector(1, &[0xda, 0xda, 3, 4, 3, 3]));
    let name = server_name(b"www.example.com");
    assert_eq!(with(&[]), hello(3, None, None));
    assert_eq!(with(std::slice::from_ref(&name)), hello(3, Some("www.example.com"), None));
    assert_eq!(
        with(&[extension(0xaaaa, b"x"), versions, name, alpn]),
        hello(4, Some("www.example.com"), Some("h2"))
    );
    let bare = Message { kind: kind::CLIENT_HELLO, body: body(&[]) };
    assert_eq!(client_hello(&bare), hello(3, None, None), "old clients have no extensions");
    let server =
        [&[3, 3][..], &[7; 32], &[0], &[0x13, 1], &[0], &vector(2, &extension(43, &[3, 4]))].concat();
    assert_eq!(server_hello(&Message { kind: kind::SERVER_HELLO, body: server }), hello(4, None, None));
}

#[test]
fn a_hello_that_can_be_read_in_two_ways_is_not_read() {
    let name = server_name(b"www.example.com");
    let two = [&[0][..], &vector(2, b"a"), &[0], &vector(2, b"b")].concat();
    for extensions in [
        vec![name.clone(), server_name(b"other.example")],
        vec![extension(0, &vector(2, &two))],
        vec![extension(0, &[vector(2, &[&[0][..], &vector(2, b"a")].concat()), vec![0]].concat())],
        vec![extension(0, &vector(2, &[&[1][..], &vector(2, b"a")].concat()))],
        vec![server_name(b"")],
        vec![extension(0, &[])],
        vec![extension(0, &[0, 9, 0, 0, 1, b'a'])],
        vec![extension(16, &[0])],
        vec![extension(43, &[3, 3, 4])],
        vec![vec![0, 0, 0]],
    ] {
        assert_eq!(with(&extensions), Err(Fault::Malformed), "{extensions:?}");
    }
    let mut behind = body(&vector(2, &name));
    behind.push(0);
    assert_eq!(client_hello(&Message { kind: kind::CLIENT_HELLO, body: behind }), Err(Fault::Malformed));
    let mut ssl2 = body(&[]);
    ssl2[0] = 2;
    assert_eq!(client_hello(&Message { kind: kind::CLIENT_HELLO, body: ssl2 }), Err(Fault::Malformed));
    assert_eq!(client_hello(&Message { kind: kind::SERVER_HELLO, body: body(&[]) }), Err(Fault::NotHello));
    assert_eq!(server_hello(&Message { kind: kind::CLIENT_HELLO, body: body(&[]) }), Err(Fault::NotHello));
}

#[test]
fn what_is_no_handshake_is_told_from_its_first_bytes() {
    assert_eq!(first(&[b"G"]), Ok(None));
    assert_eq!(first(&[b"GE"]), Err(Fault::NotTls));
    assert_eq!(first(&[&[21, 3, 3]]), Err(Fault::NotHandshake));
    assert_eq!(first(&[&[22, 2]]), Err(Fault::NotTls));
    assert_eq!(first(&[&[22, 3, 1]]), Ok(None));
    assert_eq!(first(&[&[22, 3, 1, 0, 0]]), Err(Fault::TooLong), "an empty record");
    assert_eq!(first(&[&[22, 3, 1, 0x40, 1]]), Err(Fault::TooLong));
    assert_eq!(first(&[&records(&[1, 1, 0, 1], 4)]), Err(Fault::TooLong), "a message of more than 64 KiB");
    assert_eq!(first(&[&records(&[1, 1, 0, 0], 4)]), Ok(None));
}

#[test]
fn messages_come_one_after_the_other_from_one_record_or_many() {
    let both = [message(2, b"hello"), message(11, &[1; 20_000])].concat();
    for longest in [1, 3, 9_000, 16_384] {
        let mut handshake = Handshake::default();
        handshake.push(&records(&both, longest));
        assert_eq!(handshake.next(), Ok(Some(Message { kind: 2, body: b"hello".to_vec() })));
        assert_eq!(handshake.next(), Ok(Some(Message { kind: 11, body: vec![1; 20_000] })));
        assert_eq!(handshake.next(), Ok(None));
        handshake.push(&[20, 3, 3, 0, 1, 1]);
        assert_eq!(handshake.next(), Err(Fault::NotHandshake));
        assert_eq!(handshake.record_version(), Some(1));
    }
}

proptest! {
    #[test]
    fn any_bytes_in_any_parts_give_the_same_answer(
        bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..400),
            (proptest::collection::vec(any::<u8>(), 0..400), 1_usize..50)
                .prop_map(|(content, longest)| records(&content, longest)),
            (proptest::collection::vec(any::<u8>(), 0..60), 1_usize..50)
                .prop_map(|(content, longest)| records(&message(1, &content), longest)),
        ],
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let mut parts = Vec::new();
        let mut from = 0;
        for cut in cuts {
            parts.push(&bytes[from..cut]);
            from = cut;
        }
        parts.push(&bytes[from..]);
        let whole = first(&[&bytes]);
        prop_assert_eq!(first(&parts), whole.clone());
        if let Ok(Some(message)) = whole {
            let _ = (client_hello(&message), server_hello(&message));
        }
    }

    #[test]
    fn a_hello_with_changed_bytes_never_panics(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), length in any::<prop::sample::Index>()) {
        let versions = extension(43, &vector(1, &[3, 4]));
        let alpn = extension(16, &vector(2, &vector(1, b"h2")));
        let mut body = body(&vector(2, &[server_name(b"www.example.com"), versions, alpn].concat()));
        for (at, byte) in changes {
            let at = at.index(body.len());
            body[at] = byte;
        }
        body.truncate(length.index(body.len() + 1));
        for kind in [kind::CLIENT_HELLO, kind::SERVER_HELLO] {
            let message = Message { kind, body: body.clone() };
            let _ = (client_hello(&message), server_hello(&message));
        }
    }

    #[test]
    fn the_host_is_found_however_the_hello_is_split(name in "[a-z0-9.-]{1,200}", longest in 1_usize..300, part in 1_usize..100) {
        let message = message(1, &body(&vector(2, &server_name(name.as_bytes()))));
        let bytes = records(&message, longest);
        let found = first(&bytes.chunks(part).collect::<Vec<_>>()).unwrap().unwrap();
        prop_assert_eq!(client_hello(&found).unwrap().host, Some(name.into_bytes()));
    }
}
