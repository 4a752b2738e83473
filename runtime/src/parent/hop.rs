//! Asking a parent for the next hop, by HTTP CONNECT, SOCKS 4 or SOCKS 5.
//!
//! Exactly the bytes of the answer are read: what follows belongs to whoever uses the tunnel.
use std::{
    io,
    net::{IpAddr, SocketAddr},
};

use compiler::program::acl::{Parent, ParentKind};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    error::{Failure, FailureKind},
    session::Credentials,
};

mod messages;

/// The longest head that an HTTP parent may answer with.
const HEAD: usize = 8 * 1024;

/// Whom a parent is asked for.
#[derive(Clone, Debug)]
pub(super) struct HopTarget {
    /// As it was named; parents with a `+` are told that.
    pub(super) name: Option<String>,
    /// Where it is.
    pub(super) address: SocketAddr,
}

/// A parent's failure, by 3proxy's code for it.
pub(super) fn failure(code: u16) -> Failure {
    Failure::new(code, FailureKind::Parent)
}

/// The code of a parent that is silent for too long.
pub(super) const fn timed_out(kind: ParentKind) -> u16 {
    match kind {
        ParentKind::Socks4 | ParentKind::Socks4Name | ParentKind::Socks4Short => 42,
        ParentKind::Socks5 | ParentKind::Socks5Name | ParentKind::Socks5Short => 57,
        ParentKind::Connect
        | ParentKind::ConnectName
        | ParentKind::Http
        | ParentKind::Tcp
        | ParentKind::ExternalAddress
        | ParentKind::ProxyProtocol
        | ParentKind::Pop3
        | ParentKind::Imap
        | ParentKind::Smtp
        | ParentKind::Ftp
        | ParentKind::Admin
        | ParentKind::Tls
        | ParentKind::Dns => 32,
    }
}

/// Asks `parent`, to which `stream` leads, for `target`. Afterwards the stream leads to the target.
pub(super) async fn negotiate(
    stream: &mut TcpStream,
    parent: &Parent,
    target: &HopTarget,
    credentials: Option<&Credentials>,
) -> Result<(), Failure> {
    if parent.secure {
        // Without TLS the parent would be spoken to in the clear. `cfgc run` refuses such a configuration so far.
        return Err(failure(30));
    }
    let named = HopTarget { name: None, address: target.address };
    match parent.kind {
        ParentKind::Tcp | ParentKind::Http => Ok(()),
        ParentKind::Connect => http(stream, &named, credentials).await,
        ParentKind::ConnectName => http(stream, target, credentials).await,
        ParentKind::Socks4 => socks4(stream, &named, credentials, false).await,
        ParentKind::Socks4Name => socks4(stream, target, credentials, false).await,
        ParentKind::Socks4Short => socks4(stream, &named, credentials, true).await,
        ParentKind::Socks5 => socks5(stream, &named, credentials, false).await,
        ParentKind::Socks5Name => socks5(stream, target, credentials, false).await,
        ParentKind::Socks5Short => socks5(stream, &named, credentials, true).await,
        ParentKind::ExternalAddress
        | ParentKind::ProxyProtocol
        | ParentKind::Pop3
        | ParentKind::Imap
        | ParentKind::Smtp
        | ParentKind::Ftp
        | ParentKind::Admin
        | ParentKind::Tls
        | ParentKind::Dns => Err(failure(30)),
    }
}

async fn http(
    stream: &mut TcpStream,
    target: &HopTarget,
    credentials: Option<&Credentials>,
) -> Result<(), Failure> {
    send(stream, &messages::connect(target, credentials), 31).await?;
    let head = read_head(stream).await?;
    // "HTTP/1.1 2…": the status is behind the ninth byte, whatever the version.
    if head.get(9) == Some(&b'2') { Ok(()) } else { Err(failure(33)) }
}

/// Reads up to and with the empty line that ends a head, and nothing behind it: what is seen is taken only up to there.
async fn read_head(stream: &mut TcpStream) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    let mut seen = [0; 1024];
    while head.len() < HEAD {
        // The status line is missing, or else the rest of the head.
        let code = if head.contains(&b'\n') { 34 } else { 32 };
        let lost = |_| Failure::new(code, FailureKind::Parent);
        let length = stream.peek(&mut seen).await.map_err(lost)?;
        if length == 0 {
            return Err(lost(io::ErrorKind::UnexpectedEof.into()));
        }
        let before = head.len();
        head.extend_from_slice(seen.get(..length).unwrap_or_default());
        let end = messages::head_end(&head);
        head.truncate(end.unwrap_or(head.len()));
        let taken = seen.get_mut(..head.len() - before).unwrap_or_default();
        stream.read_exact(taken).await.map_err(lost)?;
        if end.is_some() {
            return Ok(head);
        }
    }
    Err(failure(34))
}

async fn socks4(
    stream: &mut TcpStream,
    target: &HopTarget,
    credentials: Option<&Credentials>,
    short: bool,
) -> Result<(), Failure> {
    let request = messages::socks4(target, credentials).ok_or(failure(44))?;
    send(stream, &request, 41).await?;
    let [_, status, ..] = if short {
        receive::<3>(stream, 42).await?
    } else {
        let [version, status, port, ..] = receive::<8>(stream, 42).await?;
        [version, status, port]
    };
    if status == 90 { Ok(()) } else { Err(failure(43)) }
}

async fn socks5(
    stream: &mut TcpStream,
    target: &HopTarget,
    credentials: Option<&Credentials>,
    short: bool,
) -> Result<(), Failure> {
    greet(stream, credentials).await?;
    send(stream, &messages::socks5(target).ok_or(failure(51))?, 51).await?;
    reply(stream, short).await.map(drop)
}

/// Asks `parent`, to which `stream` leads, to pass datagrams on. They go to the address that it names, for as long as the stream lives.
pub(super) async fn associate(
    stream: &mut TcpStream,
    parent: &Parent,
    credentials: Option<&Credentials>,
) -> Result<SocketAddr, Failure> {
    if parent.secure || !carries_datagrams(parent) {
        return Err(failure(70));
    }
    greet(stream, credentials).await?;
    send(stream, &messages::SOCKS5_ASSOCIATE, 51).await?;
    reply(stream, false).await?.ok_or(failure(58))
}

/// Whether a parent is of a type that datagrams can go through.
pub(super) const fn carries_datagrams(parent: &Parent) -> bool {
    matches!(parent.kind, ParentKind::Socks5 | ParentKind::Socks5Name)
}

/// Agrees with a SOCKS 5 parent on who asks.
async fn greet(stream: &mut TcpStream, credentials: Option<&Credentials>) -> Result<(), Failure> {
    let greeting: &[u8] = if credentials.is_some() { &[5, 2, 0, 2] } else { &[5, 1, 0] };
    send(stream, greeting, 51).await?;
    match (receive(stream, 52).await?, credentials) {
        ([5, 0], _) => {}
        ([5, 2], Some(credentials)) => {
            let password = messages::socks5_password(credentials).ok_or(failure(51))?;
            send(stream, &password, 51).await?;
            if receive(stream, 55).await? != [1, 0] {
                return Err(failure(56));
            }
        }
        ([5, _], _) => return Err(failure(54)),
        _ => return Err(failure(53)),
    }
    Ok(())
}

/// The answer of a SOCKS 5 parent: the address that it granted, if it is one and no name. A `short` answer ends before it.
async fn reply(stream: &mut TcpStream, short: bool) -> Result<Option<SocketAddr>, Failure> {
    let [version, status, _, kind] = receive(stream, 57).await?;
    match (version, status, kind) {
        (5, 0, 1) if short => Ok(None),
        (5, 0, 1) => {
            let [a, b, c, d, high, low] = receive(stream, 59).await?;
            Ok(Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low])))))
        }
        (5, 0, 3) => {
            let [length] = receive(stream, 59).await?;
            let mut rest = vec![0; usize::from(length) + 2];
            let lost = |_| Failure::new(59, FailureKind::Parent);
            stream.read_exact(&mut rest).await.map(|_| None).map_err(lost)
        }
        (5, 0, 4) => {
            let address: [u8; 16] = receive(stream, 59).await?;
            let port: [u8; 2] = receive(stream, 59).await?;
            let address = IpAddr::from(address).to_canonical();
            Ok(Some(SocketAddr::new(address, u16::from_be_bytes(port))))
        }
        (5, 0, _) => Err(failure(58)),
        (5, refused, _) => Err(failure(60 + u16::from(refused % 10))),
        _ => Err(failure(53)),
    }
}

async fn send(stream: &mut TcpStream, message: &[u8], code: u16) -> Result<(), Failure> {
    stream.write_all(message).await.map_err(|_| Failure::new(code, FailureKind::Parent))
}

async fn receive<const N: usize>(stream: &mut TcpStream, code: u16) -> Result<[u8; N], Failure> {
    let mut message = [0; N];
    let received = stream.read_exact(&mut message).await;
    received.map(|_| message).map_err(|_| Failure::new(code, FailureKind::Parent))
}

/// The family that a target is told by.
pub(super) enum Told<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl HopTarget {
    pub(super) fn told(&self) -> Told<'_> {
        self.name.as_deref().map_or(Told::Address(self.address.ip()), Told::Name)
    }
}
