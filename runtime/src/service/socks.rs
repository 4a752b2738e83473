//! The `socks` service: SOCKS 4, 4a and 5.
//!
//! As in 3proxy, a client of SOCKS 5 that gives a name and a password is told that they are right; what they are worth shows in
//! the answer to its request.
use std::net::SocketAddr;

use compiler::program::{acl::Operation, service::Family};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use super::{
    Rest, hang_up,
    incoming::{Incoming, Patience},
    tunnel::Tunnel,
};
use crate::{
    error::{Failure, FailureKind},
    log::Protocol,
    protocol::socks::{self, Command, Fault, Host, Request, Stage},
    session::{Ask, Credentials, Session, TargetName, Upstream},
};

mod associate;
mod bind;

pub(super) use associate::Association;

/// What a client that got through is served with, and what it sent behind its request.
enum Opened {
    Connected(Box<Upstream>, Vec<u8>),
    Waiting(bind::Waiting, Vec<u8>),
    Associated(Box<associate::Granted>),
}

pub(super) async fn serve(mut client: TcpStream, mut session: Box<Session>) -> Option<Rest> {
    let served = match open(&mut client, &mut session).await {
        Ok(Opened::Connected(upstream, early)) => {
            // As in 3proxy: not the address that the target sees.
            let told = told(&session, upstream.external, session.local);
            answer(&mut client, &session, told).await.map(|()| (upstream.stream, early))
        }
        Ok(Opened::Waiting(waiting, early)) => {
            wait(&mut client, &mut session, &waiting).await.map(|stream| (stream, early))
        }
        Ok(Opened::Associated(granted)) => match tell(&mut client, &session, &granted).await {
            Ok(()) => return Some(Rest::Association(Box::new(granted.begin(client, session)))),
            Err(failure) => Err(failure),
        },
        Err(failure) => {
            session.record.code = failure.code;
            hang_up(&mut client, &reply(&session, failure.code, session.local), &session).await;
            Err(failure)
        }
    };
    match served {
        Ok((server, from_client)) => {
            Some(Rest::Tunnel(Tunnel { client, server, session, from_client, from_server: Vec::new() }))
        }
        Err(failure) => {
            session.record.code = failure.code;
            if session.record.text.is_empty() {
                session.record.text = b"UNKNOWN 0.0.0.0:0".to_vec();
            }
            session.log();
            None
        }
    }
}

/// Tells the client where to send its datagrams.
async fn tell(
    client: &mut TcpStream,
    session: &Session,
    granted: &associate::Granted,
) -> Result<(), Failure> {
    answer(client, session, granted.address(session)?).await
}

/// Tells the client where its peer can connect to, and who did.
async fn wait(
    client: &mut TcpStream,
    session: &mut Session,
    waiting: &bind::Waiting,
) -> Result<TcpStream, Failure> {
    let address = waiting.address(session)?;
    session.record.external = Some(address.ip());
    answer(client, session, told(session, address, address)).await?;
    let stream = waiting.accept(client, session).await?;
    let peer = stream.peer_addr().map_err(|_| Failure::new(462, FailureKind::Lost))?;
    session.record.peer = Some(peer);
    answer(client, session, peer).await?;
    Ok(stream)
}

/// The address that a client is told for a socket of the service: with `-Ne` what others see of it, or else `otherwise`.
fn told(session: &Session, socket: SocketAddr, otherwise: SocketAddr) -> SocketAddr {
    let nat = session.service.settings.options.external_nat.map(|nat| nat.value);
    let nat = nat.filter(|nat| !nat.is_unspecified());
    nat.map_or(otherwise, |nat| SocketAddr::new(nat, socket.port()))
}

async fn open(client: &mut TcpStream, session: &mut Session) -> Result<Opened, Failure> {
    let mut incoming = Incoming::default();
    let timeouts = session.snapshot.timeouts;
    let patience = Patience { silence: timeouts.byte_long, message: timeouts.string_short };
    let version = incoming.next(client, patience, Stage::Greeting, socks::version).await?;
    let (request, credentials) = if version == 5 {
        session.record.protocol = Protocol::Socks5;
        let credentials = greet(client, session, &mut incoming, patience).await?;
        (incoming.next(client, patience, Stage::Request5, socks::request5).await?, credentials)
    } else {
        session.record.protocol = Protocol::Socks4;
        let mut request = incoming.next(client, patience, Stage::Request4, socks::request4).await?;
        let user = request.user.take().filter(|user| !user.is_empty() && need_user(session) > 0);
        (request, user.and_then(|user| Credentials::given(user, None)))
    };
    let ask = ask(session, request, credentials)?;
    match ask.operation {
        Operation::Connect => Ok(Opened::Connected(Box::new(session.open(&ask).await?), incoming.rest())),
        Operation::Bind => {
            session.permit(&ask).await?;
            let peer = session.record.target.ok_or(Failure::UNRESOLVED)?;
            Ok(Opened::Waiting(bind::listen(session, peer)?, incoming.rest()))
        }
        Operation::UdpAssociate if version == 5 => {
            Ok(Opened::Associated(Box::new(associate::open(session, ask).await?)))
        }
        // SOCKS 4 has no such command, and its datagrams no form.
        _ => Err(Failure::new(Fault::Command.code(), FailureKind::Malformed)),
    }
}

/// `-u` (0): the name is never asked for; without an option (1): if the client offers it; `-u2` (2): always.
fn need_user(session: &Session) -> i32 {
    session.service.settings.options.need_user.map_or(1, |need| need.value)
}

/// Agrees on a method, and takes the name and the password if that is it.
///
/// "No authentication" is answered even to a client that does not offer it, as in 3proxy: the access list decides what it gets.
async fn greet(
    client: &mut TcpStream,
    session: &Session,
    incoming: &mut Incoming,
    patience: Patience,
) -> Result<Option<Credentials>, Failure> {
    let methods = incoming.next(client, patience, Stage::Greeting, socks::greeting).await?;
    let by_password = need_user(session) > 0 && methods.contains(&2);
    if !by_password && need_user(session) > 1 {
        send(client, patience, &[5, 0xff], 401).await?;
        return Err(Failure::new(4, FailureKind::NotAuthenticated));
    }
    send(client, patience, &[5, if by_password { 2 } else { 0 }], 401).await?;
    if !by_password {
        return Ok(None);
    }
    let login = incoming.next(client, patience, Stage::Password, socks::login).await?;
    send(client, patience, &[1, 0], 481).await?;
    Ok(Credentials::given(login.user, Some(login.password)))
}

async fn send(client: &mut TcpStream, patience: Patience, message: &[u8], code: u16) -> Result<(), Failure> {
    let sent = timeout(patience.message, client.write_all(message)).await;
    let sent = sent.map_err(|_| Failure::new(code, FailureKind::Timeout))?;
    sent.map_err(|_| Failure::new(code, FailureKind::Lost))
}

/// What a request asks for, noted in the record.
fn ask(session: &mut Session, request: Request, credentials: Option<Credentials>) -> Result<Ask, Failure> {
    let (command, operation) = match request.command {
        Command::Connect => ("CONNECT", Operation::Connect),
        Command::Bind => ("BIND", Operation::Bind),
        Command::UdpAssociate => ("UDPMAP", Operation::UdpAssociate),
    };
    let written = match &request.host {
        Host::Address(address) => address.to_string().into_bytes(),
        Host::Name(name) => name.to_vec(),
    };
    let port = format!(":{}", request.port);
    session.record.text = [command.as_bytes(), b" ", &written, port.as_bytes()].concat();
    session.record.user = credentials.as_ref().map(|credentials| credentials.user.clone());
    session.record.host = Some(written.into());
    let target = match request.host {
        Host::Address(address) if address.is_ipv6() && session.family() == Family::V4 => {
            return Err(Failure::new(Fault::AddressType.code(), FailureKind::Malformed));
        }
        Host::Address(address) => TargetName::Address(address.to_canonical()),
        Host::Name(name) => TargetName::parse(&name, session.family()).ok_or(Failure::UNRESOLVED)?,
    };
    if operation == Operation::Connect {
        if matches!(target, TargetName::Address(address) if address.is_unspecified()) {
            return Err(Failure::new(431, FailureKind::Malformed));
        }
        if request.port == 0 {
            return Err(Failure::new(461, FailureKind::Malformed));
        }
    }
    Ok(Ask { credentials, target, port: request.port, operation })
}

/// Grants the request.
async fn answer(client: &mut TcpStream, session: &Session, told: SocketAddr) -> Result<(), Failure> {
    let reply = reply(session, 0, told);
    let sent = timeout(session.snapshot.timeouts.string_short, client.write_all(&reply)).await;
    let sent = sent.map_err(|_| Failure::new(481, FailureKind::Timeout))?;
    sent.map_err(|_| Failure::new(481, FailureKind::Lost))
}

/// The answer in the client's version; a client of neither is told in that of SOCKS 4, as in 3proxy.
fn reply(session: &Session, code: u16, told: SocketAddr) -> Vec<u8> {
    match session.record.protocol {
        Protocol::Socks5 => socks::reply5(socks::status5(code), told),
        _ => socks::reply4(code == 0, told).to_vec(),
    }
}
