//! SOCKS 4, 4a and 5 as a server sees them, without I/O.
//!
//! Each message is parsed from the bytes received so far: it is whole, more is needed, or it is faulty. No message is longer
//! than [`LONGEST`]: who sends more without an end is refused.
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use grammar::Secret;
use nom::{
    IResult, Parser,
    bytes::streaming::{tag, take, take_until},
    multi::length_data,
    number::streaming::{be_u8, be_u16, be_u128},
};

/// The longest message of any version, with room to spare: SOCKS 4a has no bound of its own.
pub(crate) const LONGEST: usize = 1024;

/// What is wrong with a client's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Neither SOCKS 4 nor 5.
    Version,
    /// A user name and password of an unknown form.
    PasswordVersion,
    /// The request is not of the version that was greeted with.
    RequestVersion,
    /// Neither CONNECT nor BIND nor UDP ASSOCIATE.
    Command,
    /// An unknown type of address.
    AddressType,
    /// Longer than any message.
    TooLong,
}

impl Fault {
    /// 3proxy's code for it.
    #[must_use]
    pub(crate) const fn code(self) -> u16 {
        match self {
            Self::Version => 401,
            Self::PasswordVersion => 412,
            Self::RequestVersion => 421,
            Self::Command => 407,
            Self::AddressType => 997,
            Self::TooLong => 441,
        }
    }
}

impl nom::error::ParseError<&[u8]> for Fault {
    /// Of what nom itself can find wrong, the parsers below meet only a first byte that differs.
    fn from_error_kind(_: &[u8], _: nom::error::ErrorKind) -> Self {
        Self::Version
    }

    fn append(_: &[u8], _: nom::error::ErrorKind, other: Self) -> Self {
        other
    }
}

/// What a client wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A connection.
    Connect,
    /// To be connected to.
    Bind,
    /// Datagrams.
    UdpAssociate,
}

/// A target as it stands in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// Four or sixteen bytes.
    Address(IpAddr),
    /// Text.
    Name(Box<[u8]>),
}

/// A request of any version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    /// What is to be done.
    pub command: Command,
    /// Where.
    pub host: Host,
    /// On which port.
    pub port: u16,
    /// The user's name, which SOCKS 4 sends with the request.
    pub user: Option<Box<[u8]>>,
}

/// A SOCKS 5 client's user name and password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    /// Name.
    pub user: Box<[u8]>,
    /// Password; may be empty.
    pub password: Secret,
}

/// A message, and how many bytes it took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed<T> {
    /// It is whole.
    Whole(T, usize),
    /// It is not all there.
    More,
    /// It can't be one, whatever follows.
    Faulty(Fault),
}

type Parse<'a, T> = IResult<&'a [u8], T, Fault>;

fn parsed<'a, T>(input: &'a [u8], parse: impl FnOnce(&'a [u8]) -> Parse<'a, T>) -> Parsed<T> {
    match parse(input) {
        Ok((rest, value)) => Parsed::Whole(value, input.len() - rest.len()),
        Err(nom::Err::Incomplete(_)) if input.len() >= LONGEST => Parsed::Faulty(Fault::TooLong),
        Err(nom::Err::Incomplete(_)) => Parsed::More,
        Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => Parsed::Faulty(fault),
    }
}

/// The version that a client speaks: its first byte, which is not consumed.
#[must_use]
pub(crate) fn version(input: &[u8]) -> Parsed<u8> {
    match input.first() {
        None => Parsed::More,
        Some(version @ (4 | 5)) => Parsed::Whole(*version, 0),
        Some(_) => Parsed::Faulty(Fault::Version),
    }
}

/// The methods that a SOCKS 5 client offers.
#[must_use]
pub(crate) fn greeting(input: &[u8]) -> Parsed<Box<[u8]>> {
    parsed(input, |input| {
        let (input, _) = tag(&[5][..])(input)?;
        length_data(be_u8).map(Into::into).parse(input)
    })
}

/// A SOCKS 5 client's user name and password.
#[must_use]
pub(crate) fn login(input: &[u8]) -> Parsed<Login> {
    parsed(input, |input| {
        let (input, version) = be_u8(input)?;
        if version != 1 {
            return Err(nom::Err::Failure(Fault::PasswordVersion));
        }
        let (input, user) = length_data(be_u8).map(Into::into).parse(input)?;
        let (input, password) = length_data(be_u8).map(|bytes: &[u8]| bytes.into()).parse(input)?;
        Ok((input, Login { user, password }))
    })
}

/// A SOCKS 5 request.
#[must_use]
pub(crate) fn request5(input: &[u8]) -> Parsed<Request> {
    parsed(input, |input| {
        let (input, version) = be_u8(input)?;
        if version != 5 {
            return Err(nom::Err::Failure(Fault::RequestVersion));
        }
        let (input, command) = command(input)?;
        let (input, (_reserved, kind)) = (be_u8, be_u8).parse(input)?;
        let (input, host) = match kind {
            1 => ipv4(input)?,
            3 => length_data(be_u8).map(|name: &[u8]| Host::Name(name.into())).parse(input)?,
            4 => {
                be_u128.map(|bits| Host::Address(std::net::Ipv6Addr::from_bits(bits).into())).parse(input)?
            }
            _ => return Err(nom::Err::Failure(Fault::AddressType)),
        };
        let (input, port) = be_u16(input)?;
        Ok((input, Request { command, host, port, user: None }))
    })
}

/// A SOCKS 4 or 4a request. The address 0.0.0.x with an x other than zero says that a name follows.
#[must_use]
pub(crate) fn request4(input: &[u8]) -> Parsed<Request> {
    parsed(input, |input| {
        let (input, _) = tag(&[4][..])(input)?;
        let (input, command) = command(input)?;
        let (input, port) = be_u16(input)?;
        let (input, address) = ipv4(input)?;
        let (input, user) = text(input)?;
        let names = matches!(&address, Host::Address(IpAddr::V4(ip)) if matches!(ip.octets(), [0, 0, 0, last] if last != 0));
        let (input, host) = if names { text.map(Host::Name).parse(input)? } else { (input, address) };
        Ok((input, Request { command, host, port, user: Some(user) }))
    })
}

fn command(input: &[u8]) -> Parse<'_, Command> {
    let (input, byte) = be_u8(input)?;
    let command = match byte {
        1 => Command::Connect,
        2 => Command::Bind,
        3 => Command::UdpAssociate,
        _ => return Err(nom::Err::Failure(Fault::Command)),
    };
    Ok((input, command))
}

fn ipv4(input: &[u8]) -> Parse<'_, Host> {
    nom::number::streaming::be_u32.map(|bits| Host::Address(Ipv4Addr::from_bits(bits).into())).parse(input)
}

/// Bytes up to a NUL, which is consumed.
fn text(input: &[u8]) -> Parse<'_, Box<[u8]>> {
    let (input, text) = take_until(&[0][..])(input)?;
    let (input, _) = take(1_usize)(input)?;
    Ok((input, text.into()))
}

/// 3proxy's code for a message that breaks off after `received`: it tells which part is missing.
#[must_use]
pub(crate) fn broken_off(stage: Stage, received: &[u8]) -> u16 {
    match (stage, received) {
        (Stage::Greeting, []) => 401,
        (Stage::Password, []) => 412,
        (Stage::Request5, []) => 421,
        (Stage::Request5, [_]) | (Stage::Request4, [_]) => 407,
        (Stage::Request5, [_, _]) => 447,
        (Stage::Request5, [_, _, _]) => 997,
        (Stage::Request5, [_, _, _, 3, ..]) => 451,
        _ => 441,
    }
}

/// Which message a client is about to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The first: the version is not known.
    Greeting,
    /// SOCKS 5's user name and password.
    Password,
    /// SOCKS 5's request.
    Request5,
    /// SOCKS 4's request.
    Request4,
}

/// The answer to a SOCKS 5 request: `status` as of [`status5`], and the address that the client may use.
#[must_use]
pub(crate) fn reply5(status: u8, bound: SocketAddr) -> Vec<u8> {
    let mut reply = vec![5, status, 0];
    match bound.ip() {
        IpAddr::V4(address) => {
            reply.push(1);
            reply.extend(address.octets());
        }
        IpAddr::V6(address) => {
            reply.push(4);
            reply.extend(address.octets());
        }
    }
    reply.extend(bound.port().to_be_bytes());
    reply
}

/// The answer to a SOCKS 4 request. An address of IPv6 can't be told.
#[must_use]
pub(crate) fn reply4(granted: bool, bound: SocketAddr) -> [u8; 8] {
    let [high, low] = bound.port().to_be_bytes();
    let [a, b, c, d] = match bound.ip() {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(_) => [0; 4],
    };
    [0, if granted { 90 } else { 91 }, high, low, a, b, c, d]
}

/// The status of a SOCKS 5 reply for one of 3proxy's codes. Where 3proxy answers with a number that SOCKS does not know, this is
/// a general failure, and a request for the proxy itself (519) is not allowed.
#[must_use]
pub const fn status5(code: u16) -> u8 {
    match code {
        0 => 0,
        1..=10 | 519 => 2,
        11..=19 => 5,
        30..=100 => 4,
        407 => 7,
        997 => 8,
        _ => 1,
    }
}

pub(crate) mod datagram;
#[cfg(test)]
mod tests;
