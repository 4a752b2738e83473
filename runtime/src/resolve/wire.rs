//! DNS messages: what is asked, and what an answer says. Bytes from the net are taken for what they are: possibly forged.
use std::{net::IpAddr, time::Duration};

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query, ResponseCode},
    rr::{DNSClass, Name, RData, Record, RecordType},
};

use crate::expiring::Expiring;

/// The longest that an answer is kept, as in 3proxy.
const LONGEST: u32 = 12 * 3600;

/// Which kind of address is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// IPv4.
    A,
    /// IPv6.
    Aaaa,
}

impl Kind {
    pub(super) const fn record_type(self) -> RecordType {
        match self {
            Self::A => RecordType::A,
            Self::Aaaa => RecordType::AAAA,
        }
    }
}

/// What an answer says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer<T> {
    /// This. No record: the name has no such, or does not exist.
    Told(T),
    /// The answer did not fit: ask by TCP.
    Truncated(T),
    /// The server can't answer: ask the next.
    Failed(T),
}

/// One question to one server.
pub(super) struct Question {
    id: u16,
    name: Name,
    wanted: RecordType,
}

impl Question {
    /// Asks for the records of `name` of the type `wanted` under an unguessable `id`; `None`: DNS has no such name.
    pub(super) fn new(id: u16, name: &str, wanted: RecordType) -> Option<Self> {
        let mut name = Name::from_labels(name.split('.').map(str::as_bytes)).ok()?;
        name.set_fqdn(true);
        Some(Self { id, name, wanted })
    }

    /// The message to send.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut message = Message::new(self.id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(self.name.clone(), self.wanted));
        message.to_vec().ok()
    }

    /// What `reply` says to this question; `None`: it is no reply to it.
    pub(super) fn answer(&self, reply: &[u8]) -> Option<Answer<Vec<Record>>> {
        let reply = Message::from_vec(reply).ok()?;
        let [query] = reply.queries.as_slice() else { return None };
        let is_ours = reply.metadata.id == self.id
            && reply.metadata.message_type == MessageType::Response
            && query.name() == &self.name
            && query.query_type() == self.wanted;
        is_ours.then(|| match reply.metadata.response_code {
            _ if reply.metadata.truncation => Answer::Truncated(Vec::new()),
            ResponseCode::NoError => Answer::Told(reply.answers),
            ResponseCode::NXDomain => Answer::Told(Vec::new()),
            _ => Answer::Failed(Vec::new()),
        })
    }
}

/// The addresses of that kind, whatever aliases led to them.
pub(super) fn addresses(answers: &[Record], kind: Kind) -> impl Iterator<Item = Expiring<IpAddr>> {
    of_internet(answers).filter_map(move |record| {
        let value = match (&record.data, kind) {
            (RData::A(address), Kind::A) => address.0.into(),
            (RData::AAAA(address), Kind::Aaaa) => address.0.into(),
            _ => return None,
        };
        Some(Expiring { value, lifetime: lifetime(record) })
    })
}

/// The first name that a reverse lookup has found, if that is the name of a host.
pub(super) fn host(answers: &[Record]) -> Option<Expiring<Box<str>>> {
    let (record, name) = of_internet(answers).find_map(|record| match &record.data {
        RData::PTR(name) => Some((record, &name.0)),
        _ => None,
    })?;
    Some(Expiring { value: host_name(name)?, lifetime: lifetime(record) })
}

fn of_internet(answers: &[Record]) -> impl Iterator<Item = &Record> {
    answers.iter().filter(|record| record.dns_class == DNSClass::IN)
}

fn lifetime(record: &Record) -> Duration {
    Duration::from_secs(record.ttl.clamp(1, LONGEST).into())
}

/// A name becomes a user's name, and stands in logs: one that no host has (with a blank, a dot inside a label) is not taken, and
/// neither is `-`, which stands for nobody.
fn host_name(name: &Name) -> Option<Box<str>> {
    let is_label = |label: &[u8]| {
        label.first() != Some(&b'-')
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte))
    };
    let labels: Vec<_> = name.iter().collect();
    (!labels.is_empty() && labels.iter().all(|label| is_label(label)))
        .then(|| String::from_utf8_lossy(&labels.join(&b'.')).into())
}

/// The name under which DNS keeps the host of an address.
pub(crate) fn reverse_name(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{d}.{c}.{b}.{a}.in-addr.arpa")
        }
        IpAddr::V6(address) => {
            let digits = format!("{:032x}", address.to_bits());
            let labels: Vec<_> = digits.chars().rev().map(String::from).collect();
            format!("{}.ip6.arpa", labels.join("."))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, time::Duration};

    use hickory_proto::{
        op::{Message, MessageType, ResponseCode},
        rr::{Name, RData, Record, RecordType, rdata},
    };
    use proptest::prelude::*;

    use super::{Answer, Kind, Question, addresses, host, reverse_name};
    use crate::expiring::Expiring;

    fn question() -> Question {
        Question::new(4711, "www.example.com", RecordType::A).unwrap()
    }

    /// The first address of a reply.
    fn first(reply: Option<Answer<Vec<Record>>>) -> Option<Expiring<IpAddr>> {
        match reply {
            Some(Answer::Told(records)) => addresses(&records, Kind::A).next(),
            other => panic!("{other:?}"),
        }
    }

    fn reply(change: impl FnOnce(&mut Message)) -> Option<Answer<Vec<Record>>> {
        let mut message = Message::from_vec(&question().to_bytes().unwrap()).unwrap();
        message.metadata.message_type = MessageType::Response;
        let name = message.queries[0].name().clone();
        message.answers = vec![
            Record::from_rdata(name.clone(), 60, RData::CNAME(rdata::CNAME(name.clone()))),
            Record::from_rdata(name, 90, RData::A(rdata::A::new(127, 0, 0, 3))),
        ];
        change(&mut message);
        question().answer(&message.to_vec().unwrap())
    }

    #[test]
    fn only_a_reply_to_the_question_counts() {
        let found = Expiring { value: "127.0.0.3".parse().unwrap(), lifetime: Duration::from_secs(90) };
        assert_eq!(first(reply(|_| {})), Some(found));
        assert_eq!(reply(|message| message.metadata.id ^= 1), None);
        assert_eq!(reply(|message| message.metadata.message_type = MessageType::Query), None);
        assert_eq!(reply(|message| message.queries.clear()), None);
        assert_eq!(reply(|message| message.queries.push(message.queries[0].clone())), None);
        let other = Question::new(1, "www.example.org", RecordType::A).unwrap().name;
        assert_eq!(reply(|message| _ = message.queries[0].set_name(other)), None);
    }

    #[test]
    fn what_a_reply_says_depends_on_its_code_and_records() {
        let coded = |code| reply(|message| message.metadata.response_code = code);
        assert_eq!(coded(ResponseCode::NXDomain), Some(Answer::Told(Vec::new())));
        assert_eq!(coded(ResponseCode::ServFail), Some(Answer::Failed(Vec::new())));
        assert_eq!(coded(ResponseCode::Refused), Some(Answer::Failed(Vec::new())));
        assert_eq!(first(reply(|message| message.answers.clear())), None);
        assert_eq!(reply(|message| message.metadata.truncation = true), Some(Answer::Truncated(Vec::new())));
        let lifetime = |ttl| {
            let reply = reply(|message| message.answers.iter_mut().for_each(|record| record.ttl = ttl));
            first(reply).map(|found| found.lifetime.as_secs()).unwrap()
        };
        assert_eq!([lifetime(0), lifetime(5), lifetime(u32::MAX)], [1, 5, 43_200]);
    }

    #[test]
    fn names_that_dns_can_not_have_are_not_asked_for() {
        assert!(Question::new(1, &"a".repeat(64), RecordType::A).is_none());
        assert!(Question::new(1, &"a.".repeat(130), RecordType::A).is_none());
        assert!(Question::new(1, "", RecordType::A).is_none());
        assert!(Question::new(1, "a..b", RecordType::A).is_none());
    }

    #[test]
    fn only_names_that_hosts_have_become_users() {
        let found = |labels: &[&[u8]]| {
            let name = Name::from_labels(labels.iter().copied()).unwrap();
            host(&[Record::from_rdata(Name::root(), 60, RData::PTR(rdata::PTR(name)))]).map(|host| host.value)
        };
        assert_eq!(found(&[b"Host-1_x", b"Example", b"com"]).as_deref(), Some("Host-1_x.Example.com"));
        assert_eq!(found(&[b"localhost"]).as_deref(), Some("localhost"));
        for labels in [
            &[&b"client.example"[..], b"com"][..],
            &[b"a b", b"com"],
            &[b"a\nb", b"com"],
            &[b"\xc3\xa4", b"com"],
            &[b"*", b"com"],
            &[b"-"],
            &[],
        ] {
            assert_eq!(found(labels), None, "{labels:?}");
        }
    }

    #[test]
    fn addresses_are_looked_up_backwards() {
        assert_eq!(reverse_name("192.0.2.7".parse().unwrap()), "7.2.0.192.in-addr.arpa");
        assert_eq!(
            reverse_name("2001:db8::1".parse().unwrap()),
            "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa"
        );
    }

    proptest! {
        #[test]
        fn bytes_from_the_net_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = question().answer(&bytes);
        }

        #[test]
        fn a_reply_with_changed_bytes_never_panics(at in 0_usize..40, byte in any::<u8>()) {
            let mut bytes = question().to_bytes().unwrap();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = question().answer(&bytes);
        }
    }
}
