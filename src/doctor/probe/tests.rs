//! Peers that answer, refuse, stay silent or lie, on loopback.
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, UdpSocket},
    path::Path,
    thread,
    time::Duration,
};

use compiler::{compile, program::resolve::NameServer, sources::MemoryFiles};
use grammar::Secret;
use openssl::hash::{MessageDigest, hash};

use super::{Peer, ask, peers};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(10);

/// A server that sends what `answer` makes of each packet.
fn udp(answer: impl Fn(&[u8]) -> Vec<u8> + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut packet = [0; 4096];
        while let Ok((length, from)) = socket.recv_from(&mut packet) {
            socket.send_to(&answer(&packet[..length]), from).unwrap();
        }
    });
    address
}

/// A port on which nobody listens.
fn closed() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_parent_listens_or_not() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    assert_eq!(ask::connect(address, LONG), Ok(()));
    assert_eq!(ask::connect_name("localhost", address.port(), LONG), Ok(()));
    assert_eq!(ask::connect(closed(), LONG), Err("the connection is refused".to_owned()));
    assert!(ask::connect_name("nowhere.invalid", 1, LONG).is_err());
}

fn answered(question: &[u8]) -> Vec<u8> {
    let mut reply = question.to_vec();
    reply[2] |= 0x80;
    reply
}

#[test]
fn a_name_server_answers_the_question() {
    let server = |address| NameServer { address, tcp: false };
    assert_eq!(ask::name_server(server(udp(answered)), LONG), Ok(()));
    // A question is no answer, nor is the answer to another question.
    let silent = Err("it is silent".to_owned());
    assert_eq!(ask::name_server(server(udp(<[u8]>::to_vec)), SHORT), silent);
    let other = udp(|question| answered(&[&[!question[0]], &question[1..]].concat()));
    assert_eq!(ask::name_server(server(other), SHORT), silent);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut question = [0; 19];
        client.read_exact(&mut question).unwrap();
        assert_eq!(question[..2], [0, 17]);
        client.write_all(&[&question[..2], &answered(&question[2..])].concat()).unwrap();
    });
    assert_eq!(ask::name_server(NameServer { address, tcp: true }, LONG), Ok(()));
    assert!(ask::name_server(NameServer { address: closed(), tcp: true }, LONG).is_err());
}

/// A RADIUS server's Access-Accept, signed with `secret`.
fn accept(request: &[u8], secret: &str) -> Vec<u8> {
    let head = [2, request[1], 0, 20];
    let signed = [&head[..], &request[4..20], secret.as_bytes()].concat();
    [&head[..], &hash(MessageDigest::md5(), &signed).unwrap()].concat()
}

#[test]
fn a_radius_server_knows_the_secret() {
    let secret = Secret::from(&b"testing123"[..]);
    let server = udp(|request| {
        assert_eq!((request[0], request.len(), &request[20..22]), (12, 38, &[80, 18][..]));
        accept(request, "testing123")
    });
    assert_eq!(ask::radius(server, &secret, LONG), Ok(()));
    let told = |answer: Result<(), String>| answer.unwrap_err();
    let stranger = udp(|request| accept(request, "another"));
    assert_eq!(told(ask::radius(stranger, &secret, SHORT)), "it answers, but not with this secret");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(told(ask::radius(socket.local_addr().unwrap(), &secret, SHORT)).contains("silent"));
    for short in [&b""[..], b"\x02", &[2, 1, 0, 200], &[2, 1, 0, 1, 5]] {
        let broken = udp(move |_| short.to_vec());
        assert!(ask::radius(broken, &secret, SHORT).is_err());
    }
}

#[test]
fn everybody_is_asked_once() {
    let config = "nserver 192.0.2.1\nnserver 192.0.2.1\nradius secret 192.0.2.2\nauth radius\nallow *\n\
        parent 500 socks5 192.0.2.3 1080\nparent 500 http parent.example 3128\nparent 1000 extip 192.0.2.9 0\n\
        allow *\nparent 1000 socks5 192.0.2.3 1080\nproxy -i127.0.0.1\n";
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    let compiled = compile(Path::new("3proxy.cfg"), &files);
    let peers: Vec<_> = peers(&compiled.program).iter().map(|(peer, _)| peer.describe()).collect();
    assert_eq!(
        peers,
        [
            "the parent `192.0.2.3:1080`",
            "the parent `parent.example:3128`",
            "the name server `192.0.2.1:53`",
            "the RADIUS server `192.0.2.2:1812`"
        ]
    );
    let server = Peer::Radius(closed(), Secret::from(&b"testing123"[..]));
    assert!(!server.describe().contains("testing123"));
}
