//! The `tlspr` service: TLS goes, as it is, to the host that the client's hello names.
//!
//! `-c` says how much of a handshake must be seen before anything passes: 1 a client's hello, 2 a server's, 3 the server's
//! certificate, 4 the client's. Certificates are seen up to TLS 1.2 only, and not examined. A client without a readable hello
//! names no host, so without `-c` it is refused as one whose host does not resolve.
use std::time::Duration;

use compiler::program::acl::Operation;
use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};

use super::tunnel::Tunnel;
use crate::{
    error::{Failure, FailureKind},
    limits::{self, Direction, Gate, LIMITED, Unwritten},
    protocol::tls::{self, Fault, Handshake, Hello, Message, kind},
    session::{Ask, Session, TargetName, Upstream},
};

/// Where TLS is served, if `-P` says nothing else.
const HTTPS: u16 = 443;
/// So much are 3proxy's codes above those for a client's hello, if something is wrong with the server's hello,
const SERVER_HELLO: u16 = 40;
/// what follows it,
const SERVER_CERTIFICATE: u16 = 80;
/// or the client's answer to that.
const CLIENT_CERTIFICATE: u16 = 90;

pub(super) async fn serve(mut client: TcpStream, mut session: Box<Session>) -> Option<Tunnel> {
    let mut from_client = Side::default();
    match open(&mut client, &mut session, &mut from_client).await {
        Ok((server, from_server)) => Some(Tunnel {
            client,
            server,
            session,
            from_client: from_client.bytes,
            from_server: from_server.bytes,
        }),
        Err(failure) => {
            session.record.code = failure.code;
            session.log();
            None
        }
    }
}

/// What one side has sent.
#[derive(Default)]
struct Side {
    /// Not passed on yet.
    bytes: Vec<u8>,
    handshake: Handshake,
}

/// Why there is no next message.
enum NoMessage {
    Faulty(Fault),
    Lost,
    Timeout,
}

impl Side {
    async fn next(&mut self, from: &mut TcpStream, limit: Duration) -> Result<Message, NoMessage> {
        let message = async {
            loop {
                if let Some(message) = self.handshake.next().map_err(NoMessage::Faulty)? {
                    return Ok(message);
                }
                let before = self.bytes.len();
                if !matches!(from.read_buf(&mut self.bytes).await, Ok(1..)) {
                    return Err(NoMessage::Lost);
                }
                self.handshake.push(self.bytes.get(before..).unwrap_or_default());
            }
        };
        timeout(limit, message).await.unwrap_or(Err(NoMessage::Timeout))
    }
}

impl NoMessage {
    /// `broken_off` is the code where nothing is wrong but that there is not enough.
    const fn failure(self, broken_off: u16, offset: u16) -> Failure {
        match self {
            Self::Faulty(fault) => Failure::new(fault.code() + offset, FailureKind::Malformed),
            Self::Lost => Failure::new(broken_off, FailureKind::Lost),
            Self::Timeout => Failure::new(broken_off, FailureKind::Timeout),
        }
    }
}

async fn open(
    client: &mut TcpStream,
    session: &mut Session,
    from_client: &mut Side,
) -> Result<(TcpStream, Side), Failure> {
    let options = &session.service.settings.options;
    let level = options.require_certificate.map_or(0, |level| level.value);
    let port = options.target_port.map_or(HTTPS, |port| port.value);
    let limit = session.snapshot.timeouts.string_short;
    note(session, None, None);
    let message = from_client.next(client, limit).await;
    let read = message.and_then(|message| tls::client_hello(&message).map_err(NoMessage::Faulty));
    let hello = match read {
        Ok(hello) => Some(hello),
        Err(why) if level > 0 => return Err(why.failure(302, 0)),
        Err(_) => None,
    };
    note(session, hello.as_ref(), from_client.handshake.record_version());
    let host = hello.and_then(|hello| hello.host).ok_or(Failure::UNRESOLVED)?;
    session.record.target_port = port;
    session.record.host = Some(host.as_slice().into());
    let target = TargetName::parse(&host, session.family()).ok_or(Failure::UNRESOLVED)?;
    let ask = Ask { credentials: None, target, port, operation: Operation::Connect };
    let Upstream { stream: mut server, .. } = session.open(&ask).await?;
    let mut from_server = Side::default();
    if level > 1 {
        pass(session, from_client, &server, Direction::Out).await?;
        let version = server_hello(&mut server, session, &mut from_server).await?;
        if level > 2 {
            let asks_for_one = server_certificate(&mut server, version, &mut from_server, limit).await?;
            if level > 3 {
                if !asks_for_one {
                    return Err(Failure::new(374, FailureKind::Malformed));
                }
                pass(session, &mut from_server, client, Direction::In).await?;
                client_certificate(client, from_client, limit).await?;
            }
        }
    }
    Ok((server, from_server))
}

/// Passes on what is held back.
async fn pass(
    session: &mut Session,
    side: &mut Side,
    to: &TcpStream,
    direction: Direction,
) -> Result<(), Failure> {
    let (bytes, limit) = (std::mem::take(&mut side.bytes), session.snapshot.timeouts.string_short);
    let mut gate = Gate::new(session.charges(), direction);
    if let Some(gate) = &mut gate {
        gate.pay(bytes.len()).await;
    }
    let mut moved = 0;
    let sent = timeout(limit, limits::write_all(to, &bytes, gate.as_ref(), &mut moved)).await;
    match direction {
        Direction::Out => session.record.from_client += moved,
        Direction::In => session.record.from_server += moved,
    }
    match sent {
        Ok(Ok(())) => Ok(()),
        Ok(Err(Unwritten::Limited)) => Err(Failure::new(LIMITED, FailureKind::Limited)),
        Ok(Err(Unwritten::Failed)) => Err(Failure::new(371, FailureKind::Lost)),
        Err(_) => Err(Failure::new(371, FailureKind::Timeout)),
    }
}

/// The version that the server chooses.
async fn server_hello(server: &mut TcpStream, session: &mut Session, side: &mut Side) -> Result<u8, Failure> {
    let message = side.next(server, session.snapshot.timeouts.string_short).await;
    let read = message.and_then(|message| tls::server_hello(&message).map_err(NoMessage::Faulty));
    let hello = read.map_err(|why| why.failure(343, SERVER_HELLO))?;
    let version = hello.version;
    session.record.text = text(Some(version), session.record.host.as_deref(), hello.protocol.as_deref());
    Ok(version)
}

/// Waits for the server's certificate, and for the end of what it says before the client's turn: whether it wants one, too.
async fn server_certificate(
    server: &mut TcpStream,
    version: u8,
    side: &mut Side,
    limit: Duration,
) -> Result<bool, Failure> {
    if version > 3 {
        // It is encrypted.
        return Err(Failure::new(370, FailureKind::Malformed));
    }
    let (mut seen, mut asked) = (false, false);
    loop {
        match side.next(server, limit).await {
            Ok(message) => match message.kind {
                kind::CERTIFICATE => seen |= tls::has_certificate(&message),
                kind::CERTIFICATE_REQUEST => asked = true,
                kind::SERVER_HELLO_DONE if seen => return Ok(asked),
                kind::SERVER_HELLO_DONE => return Err(Failure::new(373, FailureKind::Malformed)),
                _ => {}
            },
            // A session that is taken up again has no certificate.
            Err(NoMessage::Faulty(Fault::NotHandshake)) => {
                return Err(Failure::new(373, FailureKind::Malformed));
            }
            Err(why) => return Err(why.failure(383, SERVER_CERTIFICATE)),
        }
        if side.bytes.len() > MOST_HELD {
            return Err(Failure::new(385, FailureKind::Malformed));
        }
    }
}

/// The client's answer begins with its certificate, or with an empty list.
async fn client_certificate(client: &mut TcpStream, side: &mut Side, limit: Duration) -> Result<(), Failure> {
    match side.next(client, limit).await {
        Ok(message) if tls::has_certificate(&message) => Ok(()),
        Ok(_) | Err(NoMessage::Faulty(Fault::NotHandshake)) => Err(Failure::new(375, FailureKind::Malformed)),
        Err(why) => Err(why.failure(392, CLIENT_CERTIFICATE)),
    }
}

/// No handshake in clear is longer.
const MOST_HELD: usize = 128 * 1024;

fn note(session: &mut Session, hello: Option<&Hello>, record_version: Option<u8>) {
    let version = hello.map(|hello| hello.version).or(record_version);
    let host = hello.and_then(|hello| hello.host.as_deref());
    session.record.text = text(version, host, hello.and_then(|hello| hello.protocol.as_deref()));
}

/// `TLSv1.3 www.example.com h2`, as 3proxy logs it.
fn text(version: Option<u8>, host: Option<&[u8]>, protocol: Option<&[u8]>) -> Vec<u8> {
    let version = match version {
        None => "NONEv0.0".to_owned(),
        Some(0) => "SSLv3.0".to_owned(),
        Some(minor) => format!("TLSv1.{}", minor - 1),
    };
    [version.as_bytes(), host.unwrap_or(b"-"), protocol.unwrap_or(b"-")].join(&b' ')
}

#[cfg(test)]
mod tests;
