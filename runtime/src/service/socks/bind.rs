//! SOCKS BIND: a socket that one peer may connect to, in place of a connection to it.
//!
//! The client is told twice: where the socket is, and who connected. The first answer names the socket itself: 3proxy names the
//! service's own address, which no peer can use (unless `-Ne` gives another one).
use std::net::{IpAddr, SocketAddr};

use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::timeout,
};

use crate::{
    connect::Source,
    error::{Failure, FailureKind},
    session::Session,
};

/// A socket that waits for a peer.
pub(super) struct Waiting {
    listener: TcpListener,
    /// The only address that may connect; `None`: any.
    peer: Option<IpAddr>,
}

/// Listens for `peer`, on the service's external address of the peer's family. All zeros: for anybody.
///
/// # Errors
/// With the codes 11 and 12: no socket, or no such address here.
pub(super) fn listen(session: &Session, peer: IpAddr) -> Result<Waiting, Failure> {
    let source = Source::of(session.service.settings.external);
    let (socket, any) = match peer {
        IpAddr::V4(_) => (TcpSocket::new_v4(), IpAddr::from([0; 4])),
        IpAddr::V6(_) => (TcpSocket::new_v6(), IpAddr::from([0; 16])),
    };
    let fails = |code| move |_| Failure::new(code, FailureKind::Connect);
    let socket = socket.map_err(fails(11))?;
    let address = SocketAddr::new(source.for_target(peer).unwrap_or(any), 0);
    socket.bind(address).map_err(fails(12))?;
    let listener = socket.listen(1).map_err(fails(12))?;
    Ok(Waiting { listener, peer: Some(peer).filter(|peer| !peer.is_unspecified()) })
}

impl Waiting {
    /// Where a peer can connect to. A socket on all addresses is reached by the one that the client reached.
    pub(super) fn address(&self, session: &Session) -> Result<SocketAddr, Failure> {
        let bound = self.listener.local_addr().map_err(|_| Failure::new(12, FailureKind::Connect))?;
        let ip = if bound.ip().is_unspecified() { session.local.ip() } else { bound.ip() };
        Ok(SocketAddr::new(ip, bound.port()))
    }

    /// The peer's connection. The client has nothing to say meanwhile: if it does, or hangs up, it has lost interest.
    ///
    /// # Errors
    /// With the codes 460 (the client has gone, or nobody came), 462 (the connection was lost at once) and 470 (somebody else came).
    pub(super) async fn accept(&self, client: &TcpStream, session: &Session) -> Result<TcpStream, Failure> {
        let accepted = async {
            tokio::select! {
                accepted = self.listener.accept() => Some(accepted),
                _ = client.readable() => None,
            }
        };
        let waited = timeout(session.snapshot.timeouts.connection_long, accepted).await;
        let accepted = waited.map_err(|_| Failure::new(460, FailureKind::Timeout))?;
        let accepted = accepted.ok_or(Failure::new(460, FailureKind::Lost))?;
        let (stream, from) = accepted.map_err(|_| Failure::new(462, FailureKind::Lost))?;
        if self.peer.is_some_and(|peer| peer != from.ip().to_canonical()) {
            return Err(Failure::new(470, FailureKind::Denied));
        }
        Ok(stream)
    }
}
