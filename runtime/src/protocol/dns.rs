//! DNS as a server sees it, without I/O: queries of clients, and what they are answered.
//!
//! A query is parsed strictly: one question, nothing that a query can't have. An answer is never longer than the client can take,
//! nor than [`MOST_ROOM`]: who forges a client's address must not make this service send more than others would.
use std::{net::IpAddr, time::Duration};

use hickory_proto::{
    op::{Message, MessageType, OpCode, Query as Question, ResponseCode},
    rr::{DNSClass, Name, RData, Record, RecordType, rdata},
};

/// The longest query; 3proxy's bound.
const LONGEST: usize = 1000;
/// The shortest: a header and an empty question.
const SHORTEST: usize = 14;
/// What a client takes that says nothing of it.
const LEAST_ROOM: usize = 512;
/// What goes through every network in one piece.
const MOST_ROOM: usize = 1232;

/// Why a datagram is no query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Too short or too long.
    Length,
    /// An answer, an operation that is no query, or another number of questions than one.
    NoQuestion,
    /// It can't be read.
    Malformed,
}

impl Fault {
    /// 3proxy's code for it.
    #[must_use]
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Length => 814,
            Self::NoQuestion => 816,
            Self::Malformed => 817,
        }
    }
}

/// A client's query.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    bytes: Vec<u8>,
    /// What the answer repeats.
    header: Message,
    question: Question,
    text: String,
    room: usize,
}

/// What a name server said to a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// For the client.
    pub(crate) bytes: Vec<u8>,
    /// It did not fit into a datagram of the server's.
    pub(crate) truncated: bool,
    /// The server could tell: another one need not be asked.
    pub(crate) settles: bool,
    /// There are records that answer.
    pub(crate) answers: bool,
}

impl Query {
    /// Whether a datagram can be a query by its length.
    ///
    /// # Errors
    /// It can't.
    pub(crate) const fn check_length(datagram: &[u8]) -> Result<(), Fault> {
        if datagram.len() < SHORTEST || datagram.len() > LONGEST { Err(Fault::Length) } else { Ok(()) }
    }

    /// Reads a datagram.
    ///
    /// # Errors
    /// It is no query.
    pub(crate) fn parse(datagram: &[u8]) -> Result<Self, Fault> {
        Self::check_length(datagram)?;
        let mut message = Message::from_vec(datagram).map_err(|_| Fault::Malformed)?;
        let is_query = message.metadata.message_type == MessageType::Query
            && message.metadata.op_code == OpCode::Query
            && message.answers.is_empty()
            && message.authorities.is_empty();
        let [question] = message.queries.as_slice() else { return Err(Fault::NoQuestion) };
        if !is_query {
            return Err(Fault::NoQuestion);
        }
        let question = question.clone();
        let room = message.edns.as_ref().map_or(LEAST_ROOM, |edns| usize::from(edns.max_payload()));
        message.additionals.clear();
        message.edns = None;
        message.signature = None;
        Ok(Self {
            bytes: datagram.to_vec(),
            text: text(&question.name),
            question,
            header: message,
            room: room.clamp(LEAST_ROOM, MOST_ROOM),
        })
    }

    /// Which type of records is asked for.
    pub(crate) fn wanted(&self) -> u16 {
        self.question.query_type.into()
    }

    /// The name as it was asked for; bytes that no host name has are escaped.
    pub(crate) fn name(&self) -> &str {
        &self.text
    }

    /// The name in lower case, if its addresses of this type can be looked up: it is one that hosts have.
    pub(crate) fn host(&self, wanted: RecordType) -> Option<String> {
        let is_asked = self.question.query_type == wanted && self.question.query_class == DNSClass::IN;
        (is_asked && !self.text.is_empty() && !self.text.contains('\\'))
            .then(|| self.text.to_ascii_lowercase())
    }

    /// The query for a name server, under another number.
    pub(crate) fn under(&self, id: u16) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if let Some(number) = bytes.first_chunk_mut() {
            *number = id.to_be_bytes();
        }
        bytes
    }

    /// What a name server answers to the query that went out as [`Query::under`] this number; `None`: that is no answer to it.
    pub(crate) fn reply(&self, id: u16, reply: &[u8]) -> Option<Reply> {
        let message = Message::from_vec(reply).ok()?;
        let [question] = message.queries.as_slice() else { return None };
        let is_ours = message.metadata.id == id
            && message.metadata.message_type == MessageType::Response
            && question == &self.question;
        if !is_ours {
            return None;
        }
        let mut bytes = reply.to_vec();
        *bytes.first_chunk_mut()? = self.header.metadata.id.to_be_bytes();
        if bytes.len() > self.room {
            bytes = self.too_long(&message)?;
        }
        let code = message.metadata.response_code;
        Some(Reply {
            bytes,
            truncated: message.metadata.truncation,
            settles: matches!(code, ResponseCode::NoError | ResponseCode::NXDomain),
            answers: !message.answers.is_empty(),
        })
    }

    /// The answer that this is the address.
    pub(crate) fn address(&self, address: IpAddr, lifetime: Duration) -> Option<Vec<u8>> {
        let data = match address {
            IpAddr::V4(address) => RData::A(rdata::A(address)),
            IpAddr::V6(address) => RData::AAAA(rdata::AAAA(address)),
        };
        self.record(data, lifetime)
    }

    /// The answer that an address is that of this host.
    pub(crate) fn pointer(&self, host: &str, lifetime: Duration) -> Option<Vec<u8>> {
        self.record(RData::PTR(rdata::PTR(Name::from_ascii(host).ok()?)), lifetime)
    }

    /// The answer that there is no such name.
    pub(crate) fn no_such_name(&self) -> Option<Vec<u8>> {
        self.answer(|message| message.metadata.response_code = ResponseCode::NXDomain)
    }

    /// The answer that the service can't tell.
    pub(crate) fn failure(&self) -> Option<Vec<u8>> {
        self.answer(|message| {
            message.metadata.authoritative = false;
            message.metadata.response_code = ResponseCode::ServFail;
        })
    }

    fn record(&self, data: RData, lifetime: Duration) -> Option<Vec<u8>> {
        let lifetime = u32::try_from(lifetime.as_secs()).unwrap_or(u32::MAX);
        self.answer(|message| {
            message.answers.push(Record::from_rdata(self.question.name.clone(), lifetime, data));
        })
    }

    /// What a reply says that has no room: the client has to ask otherwise.
    fn too_long(&self, reply: &Message) -> Option<Vec<u8>> {
        self.answer(|message| {
            message.metadata = reply.metadata;
            message.metadata.id = self.header.metadata.id;
            message.metadata.truncation = true;
        })
    }

    fn answer(&self, say: impl FnOnce(&mut Message)) -> Option<Vec<u8>> {
        let mut message = self.header.clone();
        message.metadata.message_type = MessageType::Response;
        message.metadata.authoritative = true;
        // Nothing was proved.
        message.metadata.authentic_data = false;
        message.metadata.recursion_available = true;
        say(&mut message);
        message.to_vec().ok()
    }
}

/// A name as text that can be read in one way.
fn text(name: &Name) -> String {
    let mut text = String::new();
    for label in name {
        if !text.is_empty() {
            text.push('.');
        }
        for &byte in label {
            if byte.is_ascii_graphic() && !b".\\".contains(&byte) {
                text.push(char::from(byte));
            } else {
                text.push_str(&format!("\\{byte:03}"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
