//! TLS as it looks to who does not decrypt it: records, and what the hellos of client and server say in clear.
//!
//! Handshake messages are put together from as many records as they come in. Whatever the bytes, and however they are split, the
//! answer is the same; nothing longer than [`LONGEST`] is waited for.
use nom::{
    IResult, Parser,
    bytes::complete::take,
    combinator::{all_consuming, rest},
    multi::{length_data, many0},
    number::complete::{be_u8, be_u16},
    sequence::pair,
};

/// The longest handshake message that is put together. Hellos are far shorter; chains of certificates can be long.
const LONGEST: usize = 64 * 1024;
/// The longest record in clear.
const LONGEST_RECORD: usize = 1 << 14;
/// Type of the records that carry a handshake.
pub(crate) const HANDSHAKE: u8 = 22;

/// Types of handshake messages.
pub(crate) mod kind {
    pub(crate) const CLIENT_HELLO: u8 = 1;
    pub(crate) const SERVER_HELLO: u8 = 2;
    pub(crate) const CERTIFICATE: u8 = 11;
    pub(crate) const CERTIFICATE_REQUEST: u8 = 13;
    pub(crate) const SERVER_HELLO_DONE: u8 = 14;
}

/// What is wrong with what a peer sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A record of another type.
    NotHandshake,
    /// No record of any TLS version.
    NotTls,
    /// Longer than anything that is waited for.
    TooLong,
    /// Another message than a hello.
    NotHello,
    /// A hello that can't be read in one way.
    Malformed,
}

impl Fault {
    /// 3proxy's code for it, where a client is at fault.
    #[must_use]
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::NotHandshake => 300,
            Self::NotTls => 303,
            Self::TooLong => 304,
            Self::NotHello => 312,
            Self::Malformed => 319,
        }
    }
}

/// A whole handshake message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Its type.
    pub(crate) kind: u8,
    /// What it says.
    pub(crate) body: Vec<u8>,
}

/// Puts handshake messages of one direction together from the bytes that come in.
#[derive(Debug, Default)]
pub(crate) struct Handshake {
    /// A record that is not whole yet.
    record: Vec<u8>,
    /// What records brought and no message has taken.
    stream: Vec<u8>,
    /// Minor version of the first record.
    version: Option<u8>,
}

impl Handshake {
    /// More bytes have come.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.record.extend_from_slice(bytes);
    }

    /// The next message; `None`: it is not all there.
    ///
    /// # Errors
    /// What comes is no handshake, or too long.
    pub(crate) fn next(&mut self) -> Result<Option<Message>, Fault> {
        loop {
            if let Some(message) = self.take_message()? {
                return Ok(Some(message));
            }
            if !self.take_record()? {
                return Ok(None);
            }
        }
    }

    /// Minor version in the first record: 1 is TLS 1.0. Clients write an old one there, whatever they offer.
    pub(crate) const fn record_version(&self) -> Option<u8> {
        self.version
    }

    fn take_message(&mut self) -> Result<Option<Message>, Fault> {
        let Some((&[kind, high, middle, low], rest)) = self.stream.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        if length > LONGEST {
            return Err(Fault::TooLong);
        }
        let Some(body) = rest.get(..length) else { return Ok(None) };
        let message = Message { kind, body: body.to_vec() };
        self.stream.drain(..4 + length);
        Ok(Some(message))
    }

    /// Moves the next record's content to the stream; false: it is not all there.
    fn take_record(&mut self) -> Result<bool, Fault> {
        match *self.record {
            // Who speaks something else is not waited for.
            [_, major, ..] if major != 3 => return Err(Fault::NotTls),
            [kind, _, ..] if kind != HANDSHAKE => return Err(Fault::NotHandshake),
            _ => {}
        }
        let Some((&[_, _, minor, high, low], rest)) = self.record.split_first_chunk() else {
            return Ok(false);
        };
        self.version.get_or_insert(minor);
        let length = usize::from(u16::from_be_bytes([high, low]));
        // An empty one is forbidden: there could be any number of them.
        if length == 0 || length > LONGEST_RECORD {
            return Err(Fault::TooLong);
        }
        let Some(content) = rest.get(..length) else { return Ok(false) };
        self.stream.extend_from_slice(content);
        self.record.drain(..5 + length);
        Ok(true)
    }
}

/// What a hello says in clear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    /// Minor version: the highest that a client offers, or the one that a server chooses. 4 is TLS 1.3.
    pub(crate) version: u8,
    /// The host that a client wants. With an encrypted hello inside, that of the outer one, to which the connection is routed.
    pub(crate) host: Option<Vec<u8>>,
    /// The first application protocol.
    pub(crate) protocol: Option<Vec<u8>>,
}

/// Reads a client's hello.
///
/// # Errors
/// It is another message, or can't be read in one way: with two names, or lengths that contradict each other.
pub(crate) fn client_hello(message: &Message) -> Result<Hello, Fault> {
    if message.kind != kind::CLIENT_HELLO {
        return Err(Fault::NotHello);
    }
    let fixed = (be_u8, be_u8, take(32_usize), length_data(be_u8), length_data(be_u16), length_data(be_u8));
    hello(fixed, &message.body, Side::Client)
}

/// Reads a server's hello.
///
/// # Errors
/// As [`client_hello`].
pub(crate) fn server_hello(message: &Message) -> Result<Hello, Fault> {
    if message.kind != kind::SERVER_HELLO {
        return Err(Fault::NotHello);
    }
    let fixed = (be_u8, be_u8, take(32_usize), length_data(be_u8), take(2_usize), take(1_usize));
    hello(fixed, &message.body, Side::Server)
}

/// Whether a certificate message, as it is up to TLS 1.2, has a certificate in it.
pub(crate) fn has_certificate(message: &Message) -> bool {
    // The length of the list, in three bytes.
    message.kind == kind::CERTIFICATE && message.body.len() > 3
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

type Bytes<'a> = &'a [u8];
/// Version, random number, session, ciphers, compression.
type Fixed<'a> = (u8, u8, Bytes<'a>, Bytes<'a>, Bytes<'a>, Bytes<'a>);

fn hello<'a>(
    mut fixed: impl Parser<Bytes<'a>, Output = Fixed<'a>, Error = nom::error::Error<Bytes<'a>>>,
    body: Bytes<'a>,
    side: Side,
) -> Result<Hello, Fault> {
    let (behind, (major, minor, _, session, _, _)) = fixed.parse(body).map_err(|_| Fault::Malformed)?;
    if major != 3 || session.len() > 32 {
        return Err(Fault::Malformed);
    }
    let mut hello = Hello { version: minor, host: None, protocol: None };
    // Old clients and servers have no extensions at all.
    if behind.is_empty() {
        return Ok(hello);
    }
    let extension = pair(be_u16, length_data(be_u16));
    let extensions = all(length_data(be_u16)).parse(behind).and_then(|(_, list)| {
        let (_, extensions) = all(many0(extension)).parse(list)?;
        Ok(extensions)
    });
    let extensions: Vec<(u16, Bytes<'_>)> = extensions.map_err(|_| Fault::Malformed)?;
    let once = |wanted: u16| {
        let mut found = extensions.iter().filter(|(kind, _)| *kind == wanted).map(|(_, data)| *data);
        // Who reads the first one and who reads the last one must not see two hosts.
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(Fault::Malformed),
            (found, None) => Ok(found),
        }
    };
    if let (Some(data), Side::Client) = (once(SERVER_NAME)?, side) {
        hello.host = Some(host(data)?);
    }
    if let Some(data) = once(ALPN)? {
        hello.protocol = Some(protocol(data)?);
    }
    if let Some(data) = once(SUPPORTED_VERSIONS)? {
        hello.version = version(data, side)?.unwrap_or(minor);
    }
    Ok(hello)
}

// Types of extensions.
const SERVER_NAME: u16 = 0;
const ALPN: u16 = 16;
const SUPPORTED_VERSIONS: u16 = 43;

/// A parser that takes all there is.
fn all<'a, O>(
    parser: impl Parser<Bytes<'a>, Output = O, Error = nom::error::Error<Bytes<'a>>>,
) -> impl Parser<Bytes<'a>, Output = O, Error = nom::error::Error<Bytes<'a>>> {
    all_consuming(parser)
}

fn read<'a, O>(
    parser: impl Parser<Bytes<'a>, Output = O, Error = nom::error::Error<Bytes<'a>>>,
    data: Bytes<'a>,
) -> Result<O, Fault> {
    let parsed: IResult<_, _> = all(parser).parse(data);
    parsed.map(|(_, value)| value).map_err(|_| Fault::Malformed)
}

/// The one name in a list of names, of which only host names were ever defined.
fn host(data: Bytes<'_>) -> Result<Vec<u8>, Fault> {
    let list = read(length_data(be_u16), data)?;
    let (kind, name) = read(pair(be_u8, length_data(be_u16)), list)?;
    if kind != 0 || name.is_empty() {
        return Err(Fault::Malformed);
    }
    Ok(name.to_vec())
}

fn protocol(data: Bytes<'_>) -> Result<Vec<u8>, Fault> {
    let list = read(length_data(be_u16), data)?;
    let (first, _) = read(pair(length_data(be_u8), rest), list)?;
    Ok(first.to_vec())
}

/// The highest version: clients mix numbers in that mean nothing.
fn version(data: Bytes<'_>, side: Side) -> Result<Option<u8>, Fault> {
    let list = match side {
        Side::Client => read(length_data(be_u8), data)?,
        Side::Server => data,
    };
    let versions = read(many0(pair(be_u8, be_u8)), list)?;
    Ok(versions.into_iter().filter(|(major, _)| *major == 3).map(|(_, minor)| minor).max())
}

#[cfg(test)]
mod tests;
