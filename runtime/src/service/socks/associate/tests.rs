//! UDP ASSOCIATE over loopback sockets.
use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpStream, UdpSocket},
    time::timeout,
};

use super::relay::Sender;
use crate::{
    protocol::socks::datagram::{header, parse},
    random,
    service::tests::service,
};

const SOON: Duration = Duration::from_secs(20);

/// A server that sends back what it gets.
async fn echo(ip: &str) -> SocketAddr {
    let socket = UdpSocket::bind((ip, 0)).await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut bytes = vec![0; 70_000];
        while let Ok((length, from)) = socket.recv_from(&mut bytes).await {
            let _ = socket.send_to(&bytes[..length], from).await;
        }
    });
    address
}

/// A client with an association, or the status that it was refused with.
struct Client {
    control: TcpStream,
    socket: UdpSocket,
    relay: SocketAddr,
}

impl Client {
    async fn open(service: SocketAddr, announced: SocketAddr) -> Result<Self, u8> {
        let mut control = TcpStream::connect(service).await.unwrap();
        let announced = header(announced);
        let request = [b"\x05\x01\0\x05\x03\0", &announced.as_slice()[3..]].concat();
        control.write_all(&request).await.unwrap();
        let mut reply = [0; 12];
        control.read_exact(&mut reply).await.unwrap();
        if reply[3] != 0 {
            return Err(reply[3]);
        }
        let relay = ([127, 0, 0, 1], u16::from_be_bytes([reply[10], reply[11]])).into();
        Ok(Self { control, socket: UdpSocket::bind("127.0.0.1:0").await.unwrap(), relay })
    }

    async fn send(&self, to: SocketAddr, payload: &[u8]) {
        self.send_raw(&[header(to).as_slice(), payload].concat()).await;
    }

    async fn send_raw(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.relay).await.unwrap();
    }

    async fn received(&self) -> (Vec<u8>, Vec<u8>) {
        let mut bytes = vec![0; 70_000];
        let (length, from) = timeout(SOON, self.socket.recv_from(&mut bytes)).await.unwrap().unwrap();
        assert_eq!(from, self.relay);
        let payload = parse(&bytes[..length]).unwrap().payload;
        (bytes[..length - payload.len()].into(), payload.into())
    }

    /// This comes back from `to`, and nothing came before it.
    async fn echoes(&self, to: SocketAddr, payload: &[u8]) {
        self.send(to, payload).await;
        assert_eq!(self.received().await, (header(to).as_slice().into(), payload.into()));
    }

    /// The service ends the connection.
    async fn ends(mut self) {
        let read = timeout(SOON, self.control.read(&mut [0])).await;
        assert_eq!(read.expect("it ends").unwrap_or(0), 0);
    }
}

fn anywhere() -> SocketAddr {
    ([0, 0, 0, 0], 0).into()
}

#[test]
fn only_the_client_may_send_and_only_from_its_first_port() {
    let at = |text: &str| text.parse::<SocketAddr>().unwrap();
    let client = at("127.0.0.1:1000").ip();
    let mut sender = Sender::new(client, Some(anywhere()));
    for (from, admitted) in [
        ("127.0.0.2:1000", false),
        ("[::1]:1000", false),
        ("127.0.0.1:0", false),
        ("127.0.0.1:1000", true),
        ("127.0.0.1:1001", false),
        ("127.0.0.2:1000", false),
        ("127.0.0.1:1000", true),
    ] {
        assert_eq!(sender.admits(at(from)), admitted, "{from}");
    }
    let mut announced = Sender::new(client, Some(at("127.0.0.1:1001")));
    assert!(!announced.admits(at("127.0.0.1:1000")));
    assert!(announced.admits(at("127.0.0.1:1001")));
    let mut elsewhere = Sender::new(client, Some(at("127.0.0.9:1001")));
    assert!(elsewhere.admits(at("127.0.0.1:1000")), "an address behind which the client is not says nothing");
}

#[tokio::test]
async fn datagrams_go_out_and_come_back_in_both_families_and_whole() {
    let (service, v4, v6) = (service("allow *\nsocks\n").await, echo("127.0.0.1").await, echo("::1").await);
    let client = Client::open(service, anywhere()).await.unwrap();
    for to in [v4, v6, v4] {
        client.echoes(to, b"hello").await;
    }
    client.echoes(v4, &vec![7; 65_507 - 10]).await;
    let stranger = UdpSocket::bind("127.0.0.2:0").await.unwrap();
    stranger.send_to(&[header(v4).as_slice(), b"stranger"].concat(), client.relay).await.unwrap();
    client.echoes(v4, b"nothing of a stranger").await;
}

#[tokio::test]
async fn what_the_list_denies_is_not_reached_whatever_a_client_sends() {
    let (allowed, denied) = (echo("127.0.0.1").await, UdpSocket::bind("127.0.0.2:0").await.unwrap());
    let config = format!(
        "nserver 127.0.0.1\nnscache 512\nnsrecord good.test 127.0.0.1\nnsrecord bad.test 127.0.0.2\nallow * * 127.0.0.1 {}\nsocks\n",
        allowed.port()
    );
    let service = service(&config).await;
    let forbidden = denied.local_addr().unwrap();
    let heads = |port: u16| {
        let named = |name: &[u8]| [&[0, 0, 0, 3, name.len() as u8][..], name, &port.to_be_bytes()].concat();
        let mapped = std::net::Ipv4Addr::new(127, 0, 0, 2).to_ipv6_mapped();
        [
            header(([127, 0, 0, 2], port).into()).as_slice().to_vec(),
            header((mapped, port).into()).as_slice().to_vec(),
            header(([127, 0, 0, 1], port).into()).as_slice().to_vec(),
            named(b"bad.test"),
            named(b"BAD.test."),
            named(b"good.test"),
            named(b"127.0.0.2"),
        ]
    };
    let heads = [heads(forbidden.port()), heads(allowed.port())].concat();
    let below = |bound: usize| random::below(bound as u32) as usize;
    for _ in 0..30 {
        let client = Client::open(service, anywhere()).await.unwrap();
        for _ in 0..20 {
            client.send_raw(&[&heads[below(heads.len())], &b"payload"[..]].concat()).await;
        }
        client.send(allowed, b"last").await;
        while client.received().await.1 != b"last" {}
        // Damaged ones may end the association.
        let mut damaged = heads[below(heads.len())].clone();
        let at = below(damaged.len());
        damaged[at] = damaged[at].wrapping_add(below(256) as u8);
        client.send_raw(&damaged[..below(damaged.len() + 1)]).await;
        client.send_raw(&[&damaged, &b"payload"[..]].concat()).await;
        drop(client.control);
    }
    let client = Client::open(service, anywhere()).await.unwrap();
    client.echoes(allowed, b"all others were before").await;
    let mut bytes = [0; 100];
    assert!(denied.try_recv_from(&mut bytes).is_err(), "{bytes:?}");
}

#[tokio::test]
async fn an_association_is_refused_where_no_destination_would_be_allowed() {
    let announced: SocketAddr = ([127, 0, 0, 1], 9).into();
    for (config, expected) in [
        ("deny *\nsocks\n", Some(2)),
        ("allow * * * * CONNECT\nsocks\n", Some(2)),
        ("users bob:CL:secret\nauth strong\nallow bob\nsocks\n", Some(2)),
        ("deny * * 127.0.0.1\nallow *\nsocks\n", None),
        ("allow * * 127.0.0.1 53\nsocks\n", None),
        ("auth none\ndeny *\nsocks\n", None),
    ] {
        let refused = Client::open(service(config).await, announced).await.err();
        assert_eq!(refused, expected, "{config}");
    }
}

#[tokio::test]
async fn it_ends_with_its_connection_and_with_what_is_no_datagram() {
    let (service, echo) = (service("allow *\nsocks\n").await, echo("127.0.0.1").await);
    for datagram in [&b""[..], b"\0\0\x01\x01\x7f\0\0\x01\0\x50x", b"\0\0\0\x03\x05a\0b.c\0\x50x", b"short"] {
        let client = Client::open(service, anywhere()).await.unwrap();
        client.echoes(echo, b"before").await;
        client.send_raw(datagram).await;
        client.ends().await;
    }
    let mut client = Client::open(service, anywhere()).await.unwrap();
    client.echoes(echo, b"before").await;
    client.control.write_all(b"not a word is expected here").await.unwrap();
    client.ends().await;
}

#[tokio::test]
async fn it_ends_in_silence() {
    let service = service("timeouts 1 5 30 60 180 1\nallow *\nsocks\n").await;
    Client::open(service, anywhere()).await.unwrap().ends().await;
}

#[tokio::test]
async fn with_u0_and_u1_the_first_destination_that_is_allowed_opens_the_others() {
    let (first, second) = (echo("127.0.0.1").await, echo("127.0.0.2").await);
    for (option, is_open) in [("-U", true), ("-U1", true), ("-U2", false), ("-U3", false), ("", false)] {
        let service = service(&format!("deny * * 127.0.0.2\nallow *\nsocks {option}\n")).await;
        let client = Client::open(service, anywhere()).await.unwrap();
        client.echoes(first, b"first").await;
        client.send(second, b"second").await;
        client.send(first, b"third").await;
        let next = client.received().await.1;
        assert_eq!(next == b"second", is_open, "{option}: {next:?}");
        // Denied once, it stays so.
        let client = Client::open(service, anywhere()).await.unwrap();
        client.send(second, b"second").await;
        client.echoes(first, b"first").await;
        client.send(second, b"second").await;
        client.echoes(first, b"and again").await;
    }
}
