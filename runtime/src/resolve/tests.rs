//! The resolver against name servers on loopback.
use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use compiler::{
    program::{
        Set,
        resolve::{NameServer, Resolver as Settings, ResolverMode, StaticRecord},
        service::Family,
    },
    sources::Loc,
};
use grammar::Text;
use hickory_proto::{
    op::{Message, MessageType, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, UdpSocket},
};

use super::{Resolved, Resolver};

/// `v4.test` has an IPv4 address, `v6.test` an IPv6 one, `two.test` two, `big.test` one that only TCP tells, others do not exist.
/// 127.0.0.4, 127.0.0.5 and ::6 say that they are these, 127.0.0.6 that it is one that does not exist.
fn answer(query: &[u8], tcp: bool, code: ResponseCode) -> Vec<u8> {
    let mut message = Message::from_vec(query).unwrap();
    message.metadata.message_type = MessageType::Response;
    message.metadata.response_code = code;
    let query = message.queries[0].clone();
    let record = |data| Record::from_rdata(query.name().clone(), 60, data);
    let mut pointer = |name: &str| {
        message.answers.push(record(RData::PTR(rdata::PTR(Name::from_ascii(name).unwrap()))));
    };
    match (query.name().to_ascii().as_str(), query.query_type()) {
        ("v4.test.", RecordType::A) => message.answers.push(record(RData::A(rdata::A::new(127, 0, 0, 4)))),
        ("v6.test.", RecordType::AAAA) => {
            message.answers.push(record(RData::AAAA(rdata::AAAA::new(0, 0, 0, 0, 0, 0, 0, 6))));
        }
        ("two.test.", RecordType::A) => {
            message.answers.extend([20, 21].map(|last| record(RData::A(rdata::A::new(127, 0, 0, last)))))
        }
        ("4.0.0.127.in-addr.arpa." | "5.0.0.127.in-addr.arpa.", RecordType::PTR) => pointer("V4.test."),
        ("6.0.0.127.in-addr.arpa.", RecordType::PTR) => pointer("none.test."),
        ("21.0.0.127.in-addr.arpa.", RecordType::PTR) => pointer("two.test."),
        (name, RecordType::PTR) if name.starts_with("6.0.0.0.") => pointer("v6.test."),
        ("big.test.", RecordType::A) if tcp => {
            message.answers.push(record(RData::A(rdata::A::new(127, 0, 0, 9))))
        }
        ("big.test.", RecordType::A) => message.metadata.truncation = true,
        _ if code == ResponseCode::NoError => message.metadata.response_code = ResponseCode::NXDomain,
        _ => {}
    }
    message.to_vec().unwrap()
}

/// A name server, by UDP and TCP on one port, and how often it was asked.
async fn name_server(code: ResponseCode) -> (SocketAddr, Arc<AtomicU32>) {
    let asked = Arc::new(AtomicU32::new(0));
    let (udp, tcp) = loop {
        let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        if let Ok(tcp) = TcpListener::bind(udp.local_addr().unwrap()).await {
            break (udp, tcp);
        }
    };
    let address = udp.local_addr().unwrap();
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        let mut query = [0; 512];
        loop {
            let (length, from) = udp.recv_from(&mut query).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            // First a forgery: the wrong number.
            let mut forged = answer(&query[..length], true, code);
            forged[0] ^= 0xff;
            udp.send_to(&forged, from).await.unwrap();
            udp.send_to(&answer(&query[..length], false, code), from).await.unwrap();
        }
    });
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = tcp.accept().await.unwrap();
            let mut query = vec![0; stream.read_u16().await.unwrap().into()];
            stream.read_exact(&mut query).await.unwrap();
            count.fetch_add(1, Ordering::SeqCst);
            let reply = answer(&query, true, code);
            stream.write_u16(u16::try_from(reply.len()).unwrap()).await.unwrap();
            stream.write_all(&reply).await.unwrap();
        }
    });
    (address, asked)
}

fn settings(servers: &[(SocketAddr, bool)], cache: Option<u32>) -> Settings {
    Settings {
        servers: servers.iter().map(|&(address, tcp)| Set::default_to(NameServer { address, tcp })).collect(),
        cache: cache.map(Set::default_to),
        cache6: cache.map(Set::default_to),
        mode: Set::default_to(ResolverMode::Servers),
        ..Settings::default()
    }
}

fn record(name: &str, address: &str) -> StaticRecord {
    StaticRecord {
        at: Loc::default(),
        name: Text::from(name),
        address: address.parse().unwrap(),
        before_cache: false,
    }
}

fn resolver(settings: &Settings) -> Resolver {
    Resolver::new(settings, Duration::from_secs(5))
}

fn address(text: &str) -> Resolved {
    Resolved::Address(text.parse::<IpAddr>().unwrap())
}

#[tokio::test]
async fn names_are_asked_for_by_the_families_of_the_service_in_their_order() {
    let (server, _) = name_server(ResponseCode::NoError).await;
    for tcp in [false, true] {
        let resolver = resolver(&settings(&[(server, tcp)], None));
        for (name, family, expected) in [
            ("v4.test", Family::Default, address("127.0.0.4")),
            ("v4.test", Family::V6, Resolved::Nothing),
            ("v4.test", Family::V6ThenV4, address("127.0.0.4")),
            ("v6.test", Family::Default, Resolved::Nothing),
            ("v6.test", Family::V4, Resolved::Nothing),
            ("v6.test", Family::V4ThenV6, address("::6")),
            ("big.test", Family::V4, address("127.0.0.9")),
            ("none.test", Family::V4ThenV6, Resolved::Nothing),
        ] {
            assert_eq!(resolver.lookup(name, family).await, expected, "{name} {family:?} tcp: {tcp}");
        }
    }
}

#[tokio::test]
async fn the_next_server_is_asked_when_one_can_not_answer_but_not_when_it_says_no() {
    let closed = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let (failing, _) = name_server(ResponseCode::ServFail).await;
    let (working, asked) = name_server(ResponseCode::NoError).await;
    let resolver = resolver(&settings(&[(closed, false), (failing, false), (working, false)], None));
    assert_eq!(resolver.lookup("v4.test", Family::V4).await, address("127.0.0.4"));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let (other, not_asked) = name_server(ResponseCode::NoError).await;
    let resolver = self::resolver(&settings(&[(working, false), (other, false)], None));
    assert_eq!(resolver.lookup("none.test", Family::V4).await, Resolved::Nothing);
    assert_eq!(not_asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn answers_are_remembered_only_with_a_cache() {
    let (server, asked) = name_server(ResponseCode::NoError).await;
    for (cache, expected) in [(None, 2), (Some(100), 1)] {
        asked.store(0, Ordering::SeqCst);
        let resolver = resolver(&settings(&[(server, false)], cache));
        for _ in 0..2 {
            assert_eq!(resolver.lookup("v4.test", Family::V4).await, address("127.0.0.4"));
        }
        assert_eq!(asked.load(Ordering::SeqCst), expected, "cache {cache:?}");
    }
}

#[tokio::test]
async fn records_come_first_and_without_regard_to_case() {
    let (server, asked) = name_server(ResponseCode::NoError).await;
    let records = vec![
        record("V4.Test", "127.0.0.77"),
        record("both.test", "::1"),
        record("both.test", "127.0.0.3"),
        record("null.test", "0.0.0.0"),
        StaticRecord { before_cache: true, ..record("lost.test", "127.0.0.1") },
    ];
    let resolver = resolver(&Settings { records, ..settings(&[(server, false)], Some(100)) });
    for (name, family, expected) in [
        ("v4.test", Family::V4, address("127.0.0.77")),
        ("both.test", Family::V4ThenV6, address("127.0.0.3")),
        ("both.test", Family::V6ThenV4, address("::1")),
        ("null.test", Family::V4ThenV6, address("0.0.0.0")),
    ] {
        assert_eq!(resolver.lookup(name, family).await, expected, "{name}");
    }
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    assert_eq!(resolver.lookup("lost.test", Family::V4).await, Resolved::Nothing);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn fakeresolve_makes_up_addresses_for_targets_but_not_for_parents() {
    let (server, _) = name_server(ResponseCode::NoError).await;
    let mode = Set::default_to(ResolverMode::Fake);
    let resolver = resolver(&Settings { mode, ..settings(&[(server, false)], None) });
    assert_eq!(resolver.lookup("any.thing", Family::Default).await, address("127.0.0.2"));
    assert_eq!(resolver.lookup("any.thing", Family::V6).await, address("::2"));
    assert_eq!(resolver.lookup_parent("v4.test").await, Some("127.0.0.4".parse().unwrap()));
}

#[tokio::test]
async fn a_host_is_known_only_if_its_name_leads_back_to_it() {
    let (server, _) = name_server(ResponseCode::NoError).await;
    let host = async |resolver: &Resolver, address: &str| resolver.host_of(address.parse().unwrap()).await;
    let servers = settings(&[(server, false)], None);
    let by_servers = resolver(&servers);
    for (address, expected) in [
        ("127.0.0.4", Some("V4.test")),
        // It says that it is a host whose address is another,
        ("127.0.0.5", None),
        // one that does not exist,
        ("127.0.0.6", None),
        // or nothing.
        ("127.0.0.7", None),
        ("127.0.0.21", Some("two.test")),
        ("::6", Some("v6.test")),
        ("::7", None),
    ] {
        assert_eq!(host(&by_servers, address).await.as_deref(), expected, "{address}");
    }
    let records = vec![record("v4.test", "127.0.0.5"), record("v6.test", "127.0.0.6")];
    let with_records = resolver(&Settings { records, ..servers.clone() });
    assert_eq!(host(&with_records, "127.0.0.4").await, None, "a static record says otherwise");
    assert_eq!(host(&with_records, "127.0.0.5").await.as_deref(), Some("V4.test"));
    assert_eq!(
        host(&with_records, "::6").await.as_deref(),
        Some("v6.test"),
        "that of another family says nothing"
    );
    let fake = resolver(&Settings { mode: Set::default_to(ResolverMode::Fake), ..servers });
    assert_eq!(host(&fake, "127.0.0.5").await, None, "nothing is made up");
    assert_eq!(host(&fake, "127.0.0.4").await.as_deref(), Some("V4.test"));
    let by_system = resolver(&Settings::default());
    assert_eq!(host(&by_system, "127.0.0.1").await, None, "nobody is asked");
}

#[tokio::test]
async fn a_server_for_hosts_is_asked_alone_and_what_it_says_is_remembered_with_a_cache() {
    let (for_names, asked_names) = name_server(ResponseCode::NoError).await;
    let (for_hosts, asked_hosts) = name_server(ResponseCode::NoError).await;
    let auth_server = Some(Set::default_to(NameServer { address: for_hosts, tcp: false }));
    for (cache, expected) in [(None, 4), (Some(100), 2)] {
        asked_hosts.store(0, Ordering::SeqCst);
        let resolver = resolver(&Settings { auth_server, ..settings(&[(for_names, false)], cache) });
        for _ in 0..2 {
            assert_eq!(resolver.host_of([127, 0, 0, 4].into()).await.as_deref(), Some("V4.test"));
        }
        assert_eq!(asked_hosts.load(Ordering::SeqCst), expected, "cache {cache:?}");
    }
    assert_eq!(asked_names.load(Ordering::SeqCst), 0);
}
