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

/// What an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The address, and how long it holds.
    Found(Expiring<IpAddr>),
    /// The name has no such address.
    Nothing,
    /// The answer did not fit: ask by TCP.
    Truncated,
    /// The server can't answer: ask the next.
    Failed,
}

/// One question to one server.
pub(super) struct Question {
    id: u16,
    name: Name,
    kind: Kind,
}

impl Question {
    /// Asks for `name` under an unguessable `id`; `None`: DNS has no such name.
    pub(super) fn new(id: u16, name: &str, kind: Kind) -> Option<Self> {
        let mut name = Name::from_labels(name.split('.').map(str::as_bytes)).ok()?;
        name.set_fqdn(true);
        Some(Self { id, name, kind })
    }

    /// The message to send.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut message = Message::new(self.id, MessageType::Query, OpCode::Query);
        message.metadata.recursion_desired = true;
        message.add_query(Query::query(self.name.clone(), self.record_type()));
        message.to_vec().ok()
    }

    /// What `reply` says to this question; `None`: it is no reply to it.
    pub(super) fn answer(&self, reply: &[u8]) -> Option<Answer> {
        let reply = Message::from_vec(reply).ok()?;
        let [query] = reply.queries.as_slice() else { return None };
        let is_ours = reply.metadata.id == self.id
            && reply.metadata.message_type == MessageType::Response
            && query.name() == &self.name
            && query.query_type() == self.record_type();
        is_ours.then(|| match reply.metadata.response_code {
            _ if reply.metadata.truncation => Answer::Truncated,
            ResponseCode::NoError => self.address(&reply.answers).map_or(Answer::Nothing, Answer::Found),
            ResponseCode::NXDomain => Answer::Nothing,
            _ => Answer::Failed,
        })
    }

    /// The first address, whatever aliases led to it.
    fn address(&self, answers: &[Record]) -> Option<Expiring<IpAddr>> {
        answers.iter().filter(|record| record.dns_class == DNSClass::IN).find_map(|record| {
            let value = match (&record.data, self.kind) {
                (RData::A(address), Kind::A) => address.0.into(),
                (RData::AAAA(address), Kind::Aaaa) => address.0.into(),
                _ => return None,
            };
            Some(Expiring { value, lifetime: Duration::from_secs(record.ttl.clamp(1, LONGEST).into()) })
        })
    }

    const fn record_type(&self) -> RecordType {
        match self.kind {
            Kind::A => RecordType::A,
            Kind::Aaaa => RecordType::AAAA,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use hickory_proto::{
        op::{Message, MessageType, ResponseCode},
        rr::{RData, Record, rdata},
    };
    use proptest::prelude::*;

    use super::{Answer, Kind, Question};
    use crate::expiring::Expiring;

    fn question() -> Question {
        Question::new(4711, "www.example.com", Kind::A).unwrap()
    }

    fn reply(change: impl FnOnce(&mut Message)) -> Option<Answer> {
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
        assert_eq!(reply(|_| {}), Some(Answer::Found(found)));
        assert_eq!(reply(|message| message.metadata.id ^= 1), None);
        assert_eq!(reply(|message| message.metadata.message_type = MessageType::Query), None);
        assert_eq!(reply(|message| message.queries.clear()), None);
        assert_eq!(reply(|message| message.queries.push(message.queries[0].clone())), None);
        let other = Question::new(1, "www.example.org", Kind::A).unwrap().name;
        assert_eq!(reply(|message| _ = message.queries[0].set_name(other)), None);
    }

    #[test]
    fn what_a_reply_says_depends_on_its_code_and_records() {
        let coded = |code| reply(|message| message.metadata.response_code = code);
        assert_eq!(coded(ResponseCode::NXDomain), Some(Answer::Nothing));
        assert_eq!(coded(ResponseCode::ServFail), Some(Answer::Failed));
        assert_eq!(coded(ResponseCode::Refused), Some(Answer::Failed));
        assert_eq!(reply(|message| message.answers.clear()), Some(Answer::Nothing));
        assert_eq!(reply(|message| message.metadata.truncation = true), Some(Answer::Truncated));
        let lifetime =
            |ttl| match reply(|message| message.answers.iter_mut().for_each(|record| record.ttl = ttl)) {
                Some(Answer::Found(found)) => found.lifetime.as_secs(),
                other => panic!("{other:?}"),
            };
        assert_eq!([lifetime(0), lifetime(5), lifetime(u32::MAX)], [1, 5, 43_200]);
    }

    #[test]
    fn names_that_dns_can_not_have_are_not_asked_for() {
        assert!(Question::new(1, &"a".repeat(64), Kind::A).is_none());
        assert!(Question::new(1, &"a.".repeat(130), Kind::A).is_none());
        assert!(Question::new(1, "", Kind::A).is_none());
        assert!(Question::new(1, "a..b", Kind::A).is_none());
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
