//! `dnspr` with a name server on loopback.
use std::{net::SocketAddr, sync::Arc};

use compiler::{program::acl::Operation, query, target::TargetName};
use hickory_proto::{
    op::{Message, MessageType, OpCode, Query, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
};
use proptest::prelude::*;
use tokio::net::UdpSocket;

use super::answer;
use crate::{
    snapshot::Snapshot,
    testing::{session, snapshot},
};

/// A name server that knows `real.test`, by all types of records that the tests ask for.
async fn name_server() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut query = [0; 1500];
        loop {
            let (length, from) = socket.recv_from(&mut query).await.unwrap();
            let mut message = Message::from_vec(&query[..length]).unwrap();
            message.metadata.message_type = MessageType::Response;
            let question = message.queries[0].clone();
            let data = match (question.name.to_ascii().to_lowercase().as_str(), question.query_type) {
                ("real.test.", RecordType::A) => Some(RData::A(rdata::A::new(127, 0, 0, 9))),
                ("real.test.", RecordType::TXT) => {
                    Some(RData::TXT(rdata::TXT::new(vec!["hello".to_owned()])))
                }
                ("real.test.", _) => None,
                _ => {
                    message.metadata.response_code = ResponseCode::NXDomain;
                    None
                }
            };
            let name = question.name.clone();
            message.answers.extend(data.map(|data| Record::from_rdata(name, 60, data)));
            socket.send_to(&message.to_vec().unwrap(), from).await.unwrap();
        }
    });
    address
}

const NAMES: &str =
    "nscache 512\nnscache6 512\nnsrecord www.example.com 127.0.0.1\nnsrecord bad.test 127.0.0.1\n";

async fn config(rest: &str) -> Arc<Snapshot> {
    snapshot(&format!("nserver {}\n{NAMES}{rest}", name_server().await))
}

/// The code and the first record that a client of this snapshot's first service is answered, if it is, and what is logged.
async fn ask(
    snapshot: &Arc<Snapshot>,
    name: &str,
    wanted: RecordType,
) -> Option<(ResponseCode, Option<RData>)> {
    let mut query = Message::new(77, MessageType::Query, OpCode::Query);
    query.add_query(Query::query(Name::from_ascii(name).unwrap(), wanted));
    let session = Box::new(session(snapshot, 0, "127.0.0.1"));
    let answer = answer(&query.to_vec().unwrap(), session, std::future::pending()).await?;
    let answer = Message::from_vec(&answer).unwrap();
    assert_eq!((answer.metadata.id, answer.metadata.message_type), (77, MessageType::Response));
    Some((answer.metadata.response_code, answer.answers.first().map(|record| record.data.clone())))
}

/// Whether the engine lets this client ask for a name.
fn traced(snapshot: &Arc<Snapshot>, name: &str) -> bool {
    let query = query::Query {
        service: 0,
        user: None,
        password: None,
        from: Some([127, 0, 0, 1].into()),
        target: Some(TargetName::Name(name.into())),
        written: None,
        port: 53,
        operation: Operation::DnsResolve,
        at: None,
        resolved: query::Resolution::Unknown,
    };
    query::decide(&snapshot.policy, &query).code.passes()
}

fn a(last: u8) -> Option<(ResponseCode, Option<RData>)> {
    Some((ResponseCode::NoError, Some(RData::A(rdata::A::new(127, 0, 0, last)))))
}

#[tokio::test]
async fn addresses_come_from_records_and_servers_and_all_else_from_servers() {
    let plain = config("dnspr\n").await;
    let text = RData::TXT(rdata::TXT::new(vec!["hello".to_owned()]));
    let own = RData::PTR(rdata::PTR(Name::from_ascii("3proxy.").unwrap()));
    for (name, wanted, expected) in [
        ("www.example.com.", RecordType::A, a(1)),
        ("WWW.Example.com.", RecordType::A, a(1)),
        ("real.test.", RecordType::A, a(9)),
        // It is there, and has no such record.
        ("real.test.", RecordType::AAAA, Some((ResponseCode::NoError, None))),
        ("real.test.", RecordType::TXT, Some((ResponseCode::NoError, Some(text)))),
        ("none.test.", RecordType::A, Some((ResponseCode::NXDomain, None))),
        ("www.example.com.", RecordType::AAAA, Some((ResponseCode::NXDomain, None))),
        // The address that it listens on.
        ("1.0.0.127.in-addr.arpa.", RecordType::PTR, Some((ResponseCode::NoError, Some(own)))),
        ("2.0.0.127.in-addr.arpa.", RecordType::PTR, Some((ResponseCode::NXDomain, None))),
    ] {
        assert_eq!(ask(&plain, name, wanted).await, expected, "{name} {wanted}");
    }
    let made_up = config("dnspr -F127.0.0.77\n").await;
    assert_eq!(ask(&made_up, "none.test.", RecordType::A).await, a(77));
    assert_eq!(ask(&made_up, "none.test.", RecordType::AAAA).await, Some((ResponseCode::NXDomain, None)));
    let passed_on = config("dnspr -s\n").await;
    assert_eq!(
        ask(&passed_on, "www.example.com.", RecordType::A).await,
        Some((ResponseCode::NXDomain, None))
    );
    let alone = snapshot(&format!("{NAMES}dnspr\n"));
    assert_eq!(ask(&alone, "www.example.com.", RecordType::A).await, a(1));
    assert_eq!(ask(&alone, "real.test.", RecordType::A).await, Some((ResponseCode::NXDomain, None)));
}

#[tokio::test]
async fn a_query_is_judged_by_its_name_too() {
    for (rules, good, bad) in [
        ("allow * * * * DNSRESOLVE\n", true, true),
        ("allow * * *.example.com 53\ndeny *\n", true, false),
        ("allow * * *.example.com 80\ndeny *\n", false, false),
        ("allow * 127.0.0.2\n", false, false),
        ("deny *\n", false, false),
        // For 3proxy there is nothing to compare, so this refuses all.
        ("deny * * bad.test\nallow *\n", false, false),
        ("auth none\ndeny *\n", true, true),
        ("", true, true),
    ] {
        let service = config(&format!("{rules}dnspr\n")).await;
        assert_eq!(ask(&service, "www.example.com.", RecordType::A).await.is_some(), good, "{rules}");
        assert_eq!(ask(&service, "bad.test.", RecordType::A).await.is_some(), bad, "{rules}");
        assert_eq!(ask(&service, "bad.test.", RecordType::TXT).await.is_some(), bad, "{rules}");
        assert_eq!(traced(&service, "www.example.com"), good, "{rules}");
        assert_eq!(traced(&service, "bad.test"), bad, "{rules}");
    }
}

#[tokio::test]
async fn where_no_server_answers_the_client_is_told_so() {
    let failure = Some((ResponseCode::ServFail, None));
    let closed = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let silent = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for server in [closed, silent.local_addr().unwrap()] {
        for options in ["", "-s"] {
            let config = format!("timeouts 1 5 30 60 180 1800 1\nnserver {server}\n{NAMES}dnspr {options}\n");
            let service = snapshot(&config);
            let asked = [RecordType::A, RecordType::TXT].map(|wanted| ask(&service, "real.test.", wanted));
            let [address, text] = asked;
            assert_eq!(tokio::join!(address, text), (failure.clone(), failure.clone()), "{config}");
        }
    }
    let mut asked = 0;
    while silent.try_recv(&mut [0; 512]).is_ok() {
        asked += 1;
    }
    assert_eq!(asked, 4, "each of the four queries is waited for once");
    let service = snapshot(&format!("nserver {closed}\n{NAMES}dnspr\n"));
    assert_eq!(ask(&service, "www.example.com.", RecordType::A).await, a(1));
}

#[tokio::test]
async fn what_servers_say_that_can_not_tell_is_passed_on() {
    let refusing = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let server = refusing.local_addr().unwrap();
    tokio::spawn(async move {
        let mut query = [0; 1500];
        loop {
            let (length, from) = refusing.recv_from(&mut query).await.unwrap();
            let mut message = Message::from_vec(&query[..length]).unwrap();
            message.metadata.message_type = MessageType::Response;
            message.metadata.response_code = ResponseCode::Refused;
            refusing.send_to(&message.to_vec().unwrap(), from).await.unwrap();
        }
    });
    let service = snapshot(&format!("nserver {server}\n{NAMES}dnspr\n"));
    assert_eq!(ask(&service, "real.test.", RecordType::A).await, Some((ResponseCode::Refused, None)));
}

proptest! {
    #[test]
    fn any_datagram_is_answered_or_dropped(datagram in proptest::collection::vec(any::<u8>(), 0..1100)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let service = snapshot(&format!("{NAMES}dnspr\n"));
            let session = Box::new(session(&service, 0, "127.0.0.1"));
            let answered = answer(&datagram, session, std::future::pending()).await;
            prop_assert!(answered.is_none_or(|answer| answer.len() <= 1232));
            Ok(())
        })?;
    }
}
