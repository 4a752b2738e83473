//! Queries as clients send them, and answers as servers give them.
use std::time::Duration;

use hickory_proto::{
    op::{Edns, Message, MessageType, OpCode, Query as Question, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
};
use proptest::prelude::*;

use super::{Fault, LEAST_ROOM, MOST_ROOM, Query};

fn message(name: &str, wanted: RecordType) -> Message {
    let mut message = Message::new(4711, MessageType::Query, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.add_query(Question::query(Name::from_ascii(name).unwrap(), wanted));
    message
}

fn query(name: &str, wanted: RecordType) -> Query {
    Query::parse(&message(name, wanted).to_vec().unwrap()).unwrap()
}

fn parse(change: impl FnOnce(&mut Message)) -> Result<(), Fault> {
    let mut message = message("www.example.com.", RecordType::A);
    change(&mut message);
    Query::parse(&message.to_vec().unwrap()).map(|_| ())
}

#[test]
fn only_one_question_and_nothing_else_is_a_query() {
    let record = || Record::from_rdata(Name::root(), 1, RData::A(rdata::A::new(127, 0, 0, 1)));
    assert_eq!(parse(|_| {}), Ok(()));
    assert_eq!(parse(|message| message.edns = Some(Edns::new())), Ok(()));
    assert_eq!(
        parse(|message| message.metadata.message_type = MessageType::Response),
        Err(Fault::NoQuestion)
    );
    assert_eq!(parse(|message| message.metadata.op_code = OpCode::Update), Err(Fault::NoQuestion));
    assert_eq!(parse(|message| message.queries.push(message.queries[0].clone())), Err(Fault::NoQuestion));
    assert_eq!(parse(|message| message.answers.push(record())), Err(Fault::NoQuestion));
    assert_eq!(parse(|message| message.authorities.push(record())), Err(Fault::NoQuestion));
    assert_eq!(Query::parse(&[0; 13]).unwrap_err(), Fault::Length);
    assert_eq!(Query::parse(&[0; 1001]).unwrap_err(), Fault::Length);
    assert_eq!(Query::parse(&[0; 14]).unwrap_err(), Fault::NoQuestion);
}

#[test]
fn a_name_is_text_that_can_be_read_in_one_way() {
    for (labels, text, host) in [
        (&[&b"WWW"[..], b"Example", b"com"][..], "WWW.Example.com", Some("www.example.com")),
        (&[b"_sip", b"_tcp", b"example"], "_sip._tcp.example", Some("_sip._tcp.example")),
        (&[], "", None),
        (&[b"www.example", b"com"], "www\\046example.com", None),
        (&[b"a b", b"test"], "a\\032b.test", None),
        (&[b"a\nb\\", b"test"], "a\\010b\\092.test", None),
    ] {
        let mut message = message("x.", RecordType::A);
        message.queries[0].set_name(Name::from_labels(labels.iter().copied()).unwrap());
        let query = Query::parse(&message.to_vec().unwrap()).unwrap();
        assert_eq!(query.name(), text);
        assert_eq!(query.host(RecordType::A).as_deref(), host, "{text}");
        assert_eq!(query.host(RecordType::AAAA), None);
    }
}

#[test]
fn an_answer_repeats_the_question_and_its_number() {
    let query = query("Host.test.", RecordType::AAAA);
    let answer = query.address("::5".parse().unwrap(), Duration::from_secs(77)).unwrap();
    let answer = Message::from_vec(&answer).unwrap();
    assert_eq!((answer.metadata.id, answer.metadata.message_type), (4711, MessageType::Response));
    assert!(answer.metadata.recursion_desired && answer.metadata.recursion_available);
    assert!(answer.queries[0].name.eq_case(&Name::from_ascii("Host.test.").unwrap()));
    let [record] = answer.answers.as_slice() else { panic!("{answer:?}") };
    assert_eq!((record.ttl, &record.data), (77, &RData::AAAA(rdata::AAAA::new(0, 0, 0, 0, 0, 0, 0, 5))));
    let none = Message::from_vec(&query.no_such_name().unwrap()).unwrap();
    assert_eq!((none.metadata.response_code, none.answers.len()), (ResponseCode::NXDomain, 0));
    let pointer = Message::from_vec(&query.pointer("proxy", Duration::ZERO).unwrap()).unwrap();
    assert!(matches!(pointer.answers[0].data, RData::PTR(_)));
}

/// What a server answers with so many bytes of text.
fn reply(id: u16, length: usize, change: impl FnOnce(&mut Message)) -> Vec<u8> {
    let mut reply = message("host.test.", RecordType::TXT);
    reply.metadata.id = id;
    reply.metadata.message_type = MessageType::Response;
    let text = rdata::TXT::from_bytes(vec![&vec![b'x'; length][..]]);
    reply.answers = vec![Record::from_rdata(Name::from_ascii("host.test.").unwrap(), 5, RData::TXT(text))];
    change(&mut reply);
    reply.to_vec().unwrap()
}

#[test]
fn only_an_answer_to_the_query_is_passed_on() {
    let query = query("host.test.", RecordType::TXT);
    assert_eq!(query.under(9)[..2], [0, 9]);
    let passed = query.reply(9, &reply(9, 5, |_| {})).unwrap();
    assert!(passed.answers && passed.settles && !passed.truncated);
    assert_eq!(passed.bytes[..2], 4711_u16.to_be_bytes());
    assert_eq!(passed.bytes[2..], reply(9, 5, |_| {})[2..]);
    let other = Name::from_ascii("other.test.").unwrap();
    assert_eq!(query.reply(9, &reply(8, 5, |_| {})), None);
    assert_eq!(query.reply(9, &reply(9, 5, |reply| reply.metadata.message_type = MessageType::Query)), None);
    assert_eq!(query.reply(9, &reply(9, 5, |reply| _ = reply.queries[0].set_name(other))), None);
    assert_eq!(query.reply(9, &reply(9, 5, |reply| reply.queries.clear())), None);
    let failed =
        |code| query.reply(9, &reply(9, 5, |reply| reply.metadata.response_code = code)).unwrap().settles;
    assert!(failed(ResponseCode::NXDomain) && !failed(ResponseCode::ServFail));
}

#[test]
fn an_answer_is_no_longer_than_the_client_can_take() {
    for (offered, room) in [(None, 512), (Some(100), 512), (Some(700), 700), (Some(4096), 1232)] {
        let mut message = message("host.test.", RecordType::TXT);
        message.edns = offered.map(|offered| {
            let mut edns = Edns::new();
            edns.set_max_payload(offered);
            edns
        });
        let query = Query::parse(&message.to_vec().unwrap()).unwrap();
        for records in 0..10 {
            let long = reply(9, 200, |reply| {
                reply.answers = vec![reply.answers[0].clone(); records];
            });
            let passed = query.reply(9, &long).unwrap();
            let told = Message::from_vec(&passed.bytes).unwrap();
            let fits = long.len() <= room;
            assert_eq!(told.metadata.truncation, !fits, "{offered:?} {records}");
            assert_eq!(told.answers.len(), if fits { records } else { 0 });
            assert!(passed.bytes.len() <= room);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_a_query_or_not(bytes in proptest::collection::vec(any::<u8>(), 0..1100)) {
        if let Ok(query) = Query::parse(&bytes) {
            let _ = (query.no_such_name(), query.under(1), query.reply(1, &bytes), query.host(RecordType::A));
        }
    }

    #[test]
    fn changed_bytes_never_panic_and_no_answer_is_longer_than_allowed(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        replied in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..5),
        length in 0_usize..250,
    ) {
        let change = |bytes: &mut Vec<u8>, changes: &[(prop::sample::Index, u8)]| {
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        };
        let mut asked = message("host.test.", RecordType::TXT).to_vec().unwrap();
        change(&mut asked, &changes);
        let mut said = reply(9, length, |_| {});
        change(&mut said, &replied);
        if let Ok(query) = Query::parse(&asked) {
            prop_assert!(query.text.bytes().all(|byte| byte.is_ascii_graphic()));
            prop_assert!((LEAST_ROOM..=MOST_ROOM).contains(&query.room));
            if let Some(reply) = query.reply(9, &said) {
                prop_assert!(reply.bytes.len() <= query.room);
            }
        }
    }
}
