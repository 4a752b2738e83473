//! `socks` and `tcppm` over loopback sockets.
use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::serve;
use crate::{session::Session, testing::snapshot};

/// A service that serves every client of a listener, and where that is.
pub(super) async fn service(config: &str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let snapshot = snapshot(config);
    tokio::spawn(async move {
        loop {
            let (stream, client) = listener.accept().await.unwrap();
            let local = stream.local_addr().unwrap();
            let service = snapshot.services[0].clone();
            let session = Box::new(Session::new(snapshot.clone(), service, client, local));
            tokio::spawn(serve(stream, session));
        }
    });
    address
}

/// A server that sends back what it gets, until its client has sent all.
pub(super) async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
            });
        }
    });
    address
}

/// All that comes back for these bytes, sent at once, with nothing behind them.
pub(super) async fn talk(service: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(service).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    read.expect("the connection is closed").expect("and not reset");
    answer
}

fn connect5(target: SocketAddr) -> Vec<u8> {
    [&b"\x05\x01\0\x01\x7f\0\0\x01"[..], &target.port().to_be_bytes()].concat()
}

fn connect4(target: SocketAddr) -> Vec<u8> {
    [&b"\x04\x01"[..], &target.port().to_be_bytes(), b"\x7f\0\0\x01bob\0"].concat()
}

/// A SOCKS 5 reply with this status, as this service gives it.
fn reply5(status: u8, service: SocketAddr) -> Vec<u8> {
    [&[5, status, 0, 1, 127, 0, 0, 1][..], &service.port().to_be_bytes()].concat()
}

fn reply4(status: u8, service: SocketAddr) -> Vec<u8> {
    [&[0, status][..], &service.port().to_be_bytes(), &[127, 0, 0, 1]].concat()
}

#[tokio::test]
async fn what_a_client_sends_behind_its_request_reaches_the_target() {
    let (service, echo) = (service("allow *\nsocks\n").await, echo().await);
    let answer = talk(service, &[&b"\x05\x01\0"[..], &connect5(echo), b"hello"].concat()).await;
    assert_eq!(answer, [&b"\x05\0"[..], &reply5(0, service), b"hello"].concat());
    let answer = talk(service, &[&connect4(echo)[..], b"hello"].concat()).await;
    assert_eq!(answer, [&reply4(90, service)[..], b"hello"].concat());
}

#[tokio::test]
async fn a_login_is_judged_with_the_request() {
    let (service, echo) =
        (service("users bob:CL:secret\nauth strong\nallow bob\nsocks\n").await, echo().await);
    for (login, status) in
        [(&b"\x01\x03bob\x06secret"[..], 0), (b"\x01\x03bob\x05wrong", 2), (b"\x01\0\0", 2)]
    {
        let answer = talk(service, &[&b"\x05\x02\0\x02"[..], login, &connect5(echo)].concat()).await;
        assert_eq!(answer, [&b"\x05\x02\x01\0"[..], &reply5(status, service)].concat(), "{login:?}");
    }
    let answer = talk(service, &[&b"\x05\x01\0"[..], &connect5(echo)].concat()).await;
    assert_eq!(answer, [&b"\x05\0"[..], &reply5(2, service)].concat());
}

#[tokio::test]
async fn where_a_login_is_demanded_a_client_without_one_gets_no_further() {
    let service = service("allow *\nsocks -u2\n").await;
    assert!(talk(service, b"\x05\x01\0").await.starts_with(b"\x05\xff"));
}

#[tokio::test]
async fn a_message_cut_at_any_byte_is_answered_and_the_service_goes_on() {
    let (service, echo) = (service("allow *\nsocks\n").await, echo().await);
    let five = [&b"\x05\x02\0\x02\x01\x03bob\x06secret"[..], &connect5(echo)].concat();
    for length in 0..five.len() {
        let answer = talk(service, &five[..length]).await;
        let greeted: &[u8] = match length {
            0..4 => b"",
            4..16 => b"\x05\x02",
            _ => b"\x05\x02\x01\0",
        };
        let rest = answer.strip_prefix(greeted).unwrap_or_else(|| panic!("cut to {length}: {answer:?}"));
        let is_refusal = match length {
            0 => rest == reply4(91, service),
            _ => rest.len() == 10 && rest[0] == 5 && (1..=8).contains(&rest[1]),
        };
        assert!(is_refusal, "cut to {length}: {rest:?}");
    }
    let named = b"\x04\x01\0\x50\0\0\0\x01bob\0www.test\0";
    for message in [&connect4(echo)[..], named] {
        for length in 1..message.len() {
            assert_eq!(talk(service, &message[..length]).await, reply4(91, service), "cut to {length}");
        }
    }
    assert!(talk(service, &[&connect4(echo)[..], b"still here"].concat()).await.ends_with(b"still here"));
}

#[tokio::test]
async fn garbage_and_endless_messages_are_answered_and_closed() {
    let service = service("allow *\nsocks\n").await;
    let long_user = [&b"\x04\x01\0\x50\x7f\0\0\x01"[..], &[b'u'; 100_000]].concat();
    let long_name = [&b"\x04\x01\0\x50\0\0\0\x01\0"[..], &[b'n'; 100_000]].concat();
    for bytes in [b"GET / HTTP/1.1\r\n\r\n", &[0xff; 70_000][..], &long_user, &long_name, b"\x04\x09rest"] {
        assert_eq!(talk(service, bytes).await, reply4(91, service), "{:?}", bytes.get(..20));
    }
    for (request, status) in [
        (&b"\x05\x04\0\x01\x7f\0\0\x01\0\x50"[..], 7),
        (b"\x05\x01\0\x02\x7f\0\0\x01\0\x50", 8),
        (b"\x04\x01\0\x01\x7f\0\0\x01\0\x50", 1),
        (b"\x05\x01\0\x01\0\0\0\0\0\x50", 1),
        (b"\x05\x01\0\x01\x7f\0\0\x01\0\0", 1),
        (b"\x05\x01\0\x03\0\0\x50", 4),
        (b"\x05\x01\0\x03\x0ea.test\0.b.test\0\x50", 4),
        (b"\x05\x01\0\x03\x08a\r\nX: y \0\x50", 4),
        (b"\x05\x01\0\x03\x05127.1\0\x50", 4),
    ] {
        let answer = talk(service, &[b"\x05\x01\0", request].concat()).await;
        assert_eq!(answer, [&b"\x05\0"[..], &reply5(status, service)].concat(), "{request:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_let_go_of() {
    let service = service("allow *\nsocks\n").await;
    let mut stream = TcpStream::connect(service).await.unwrap();
    stream.write_all(b"\x05\x01").await.unwrap();
    let mut answer = Vec::new();
    let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    assert_eq!(read.expect("the connection is closed").unwrap(), answer.len());
    assert_eq!(answer, reply5(1, service));
}

#[tokio::test]
async fn a_port_is_mapped_to_its_target_if_the_list_lets_it() {
    let echo = echo().await;
    let config = format!("tcppm 9 127.0.0.1 {}\n", echo.port());
    assert_eq!(talk(service(&format!("allow *\n{config}")).await, b"hello").await, b"hello");
    assert_eq!(talk(service(&format!("deny *\n{config}")).await, b"").await, b"");
}

/// What is read until there are so many bytes.
async fn receive(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await.unwrap();
    bytes
}

#[tokio::test]
async fn bind_tells_where_it_waits_and_who_came() {
    let service = service("allow *\nsocks\n").await;
    for (request, version) in
        [(&b"\x05\x01\0\x05\x02\0\x01\0\0\0\0\0\0"[..], 5), (b"\x04\x02\0\0\0\0\0\0bob\0", 4)]
    {
        let mut client = TcpStream::connect(service).await.unwrap();
        client.write_all(request).await.unwrap();
        let length = if version == 5 { 10 } else { 8 };
        let port = |reply: &[u8]| {
            let at = if version == 5 { 8 } else { 2 };
            u16::from_be_bytes([reply[at], reply[at + 1]])
        };
        if version == 5 {
            assert_eq!(receive(&mut client, 2).await, b"\x05\0");
        }
        let waits = receive(&mut client, length).await;
        let mut peer = TcpStream::connect(("127.0.0.1", port(&waits))).await.unwrap();
        let came = receive(&mut client, length).await;
        assert_eq!(port(&came), peer.local_addr().unwrap().port());
        assert_eq!([waits[1], came[1]], if version == 5 { [0, 0] } else { [90, 90] });
        peer.write_all(b"from the peer").await.unwrap();
        assert_eq!(receive(&mut client, 13).await, b"from the peer");
        client.write_all(b"to the peer").await.unwrap();
        assert_eq!(receive(&mut peer, 11).await, b"to the peer");
    }
}

#[tokio::test]
async fn bind_takes_only_the_peer_that_was_named_and_ends_with_its_client() {
    let service = service("allow *\nsocks\n").await;
    let mut client = TcpStream::connect(service).await.unwrap();
    client.write_all(b"\x05\x01\0\x05\x02\0\x01\x7f\0\0\x05\0\0").await.unwrap();
    let waits = receive(&mut client, 12).await;
    let address = SocketAddr::from(([127, 0, 0, 1], u16::from_be_bytes([waits[10], waits[11]])));
    let mut stranger = TcpStream::connect(address).await.unwrap();
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "nothing is said of a stranger");
    let _ = stranger.read_to_end(&mut rest).await;
    assert_eq!(rest, b"");

    let mut client = TcpStream::connect(service).await.unwrap();
    client.write_all(b"\x05\x01\0\x05\x02\0\x01\0\0\0\0\0\0").await.unwrap();
    receive(&mut client, 12).await;
    client.shutdown().await.unwrap();
    client.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"", "the wait is over");
}

#[tokio::test]
async fn auto_speaks_what_its_client_speaks() {
    let echo = echo().await;
    let service = service(&format!("allow *\nauto -P{}\n", echo.port())).await;
    let answer = talk(service, &[&b"\x05\x01\0"[..], &connect5(echo), b"hello"].concat()).await;
    assert_eq!(answer, [&b"\x05\0"[..], &reply5(0, service), b"hello"].concat());
    let answer = talk(service, &[&connect4(echo)[..], b"hello"].concat()).await;
    assert_eq!(answer, [&reply4(90, service)[..], b"hello"].concat());
    let answer = talk(service, format!("CONNECT {echo} HTTP/1.0\r\n\r\nhello").as_bytes()).await;
    assert!(answer.starts_with(b"HTTP/1.0 200 ") && answer.ends_with(b"\r\n\r\nhello"), "{answer:?}");
    let name = [&b"\0\0\0\x0e\0\x0c\0\0\x09"[..], b"127.0.0.1"].concat();
    let hello = [&[3, 3][..], &[0; 32], b"\0\0\x02\x13\x01\x01\0\0\x12", &name].concat();
    let hello = [
        &[22, 3, 1, 0, u8::try_from(hello.len() + 4).unwrap(), 1, 0, 0][..],
        &[u8::try_from(hello.len()).unwrap()],
        &hello,
    ]
    .concat();
    assert_eq!(talk(service, &hello).await, hello, "TLS goes to the host that it names");
    for bytes in [&b"\x01\x02\r\n\r\n"[..], b"\x16\x02\x01\x02\r\n\r\n"] {
        let answer = talk(service, bytes).await;
        assert_eq!(answer.starts_with(b"HTTP/1.0 400 "), bytes[0] != 22, "{bytes:?} {answer:?}");
    }
    assert_eq!(talk(service, b"").await, b"");
}

#[tokio::test]
async fn behind_a_load_balancer_the_client_is_who_the_header_says() {
    let echo = echo().await;
    let config = "allow * 10.1.2.3,2001:db8::1\ndeny *\nsocks -H\n";
    let service = service(config).await;
    let v2 = |address: [u8; 4]| {
        let addresses = [&address[..], &[127, 0, 0, 1, 4, 0, 4, 0], b"\x04\0\x01x"].concat();
        [&b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x10"[..], &addresses].concat()
    };
    for (header, passes) in [
        (b"PROXY TCP4 10.1.2.3 127.0.0.1 1111 2222\r\n".to_vec(), true),
        (b"PROXY TCP6 2001:db8::1 ::1 1111 2222\r\n".to_vec(), true),
        (b"PROXY TCP6 ::ffff:10.1.2.3 ::1 1111 2222\r\n".to_vec(), true),
        (b"PROXY TCP4 10.1.2.4 127.0.0.1 1111 2222\r\n".to_vec(), false),
        (b"PROXY UNKNOWN\r\n".to_vec(), false),
        (v2([10, 1, 2, 3]), true),
        (v2([10, 1, 2, 4]), false),
        (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(), false),
    ] {
        let answer = talk(service, &[&header[..], b"\x05\x01\0", &connect5(echo), b"hello"].concat()).await;
        let expected = if passes { [&reply5(0, service)[..], b"hello"].concat() } else { reply5(2, service) };
        assert_eq!(answer, [&b"\x05\0"[..], &expected].concat(), "{:?}", String::from_utf8_lossy(&header));
    }
    // Without a header to the letter nothing is said.
    let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(200));
    for header in [
        &b""[..],
        b"PROXY TCP4 10.1.2.3 127.0.0.1 1111\r\n",
        b"PROXY ",
        b"GET / HTTP/1.1\r\n",
        long.as_bytes(),
    ] {
        assert_eq!(
            talk(service, &[header, b"\x05\x01\0", &connect5(echo)].concat()).await,
            b"",
            "{header:?}"
        );
    }
}
