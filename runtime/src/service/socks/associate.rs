//! SOCKS 5 UDP ASSOCIATE: datagrams of one client, each with its destination, for as long as its connection lives.
//!
//! The association is judged once, before a destination is known, and then its destinations as `-U` says: `relay.rs` has the
//! datagrams, `outlets.rs` the sockets that they leave by.
use std::{future::poll_fn, net::SocketAddr, pin::pin, task::Poll};

use tokio::{
    net::{TcpStream, UdpSocket},
    time::sleep,
};

use crate::{
    authorize, datagram,
    error::{Failure, FailureKind},
    session::{Ask, Session},
    socket,
};

mod outlets;
mod relay;
#[cfg(test)]
mod tests;

use relay::{Event, Relay, Sender};

/// An association that the client may have.
pub(super) struct Granted {
    permission: authorize::Association,
    /// Where the client's datagrams come in.
    socket: UdpSocket,
}

/// An association in use. It is all that lives while one is.
pub(in crate::service) struct Association {
    /// It ends when this does.
    control: TcpStream,
    relay: Relay,
}

/// Judges an association, and opens the socket for the client's datagrams.
///
/// # Errors
/// With the code of the chain, and 11 or 12: no socket.
pub(super) async fn open(session: &mut Session, ask: Ask) -> Result<Granted, Failure> {
    let port = ask.port;
    let permission = authorize::Association::open(session, ask).await;
    session.record.peer = session.record.target.map(|address| (address, port).into());
    let permission = permission?;
    Ok(Granted { permission, socket: datagram::listen(SocketAddr::new(session.local.ip(), 0))? })
}

impl Granted {
    /// Where the client is to send its datagrams: with `-Ni`, what it sees of this host.
    ///
    /// # Errors
    /// With the code 12: the socket has gone.
    pub(super) fn address(&self, session: &Session) -> Result<SocketAddr, Failure> {
        let bound = self.socket.local_addr().map_err(|_| Failure::new(12, FailureKind::Connect))?;
        let nat = session.service.settings.options.internal_nat.map(|nat| nat.value);
        let nat = nat.filter(|nat| !nat.is_unspecified());
        Ok(SocketAddr::new(nat.unwrap_or(bound.ip()), bound.port()))
    }

    /// Begins, for the client of this connection.
    pub(super) fn begin(self, control: TcpStream, session: Box<Session>) -> Association {
        let announced = session.record.target.map(|address| (address, self.permission.ask.port).into());
        // With `-H`, the client stands behind another, whose datagrams these are: as in 3proxy.
        let ip = control.peer_addr().map_or(session.client.ip(), |peer| peer.ip().to_canonical());
        let sender = Sender::new(ip, announced);
        Association { control, relay: Relay::new(self.socket, sender, self.permission, session) }
    }
}

impl Association {
    /// Passes datagrams on until the association is over, and writes its log record.
    pub(in crate::service) async fn run(mut self) {
        let ends = self.relay.session.process_ends();
        let code = tokio::select! {
            code = pass(&self.control, &mut self.relay) => code,
            () = ends => 0,
        };
        self.relay.end(code);
    }
}

/// Passes datagrams on, and says with which code it is over.
async fn pass(control: &TcpStream, relay: &mut Relay) -> u16 {
    let mut timer = pin!(sleep(relay.idle()));
    loop {
        let event = poll_fn(|cx| {
            // The client has nothing to say here but that it has gone.
            if socket::poll_stirs(control, cx).is_ready() {
                return Poll::Ready(Event::Over(0));
            }
            relay.poll(cx, timer.as_mut())
        });
        match event.await {
            Event::Over(code) => return code,
            Event::Undecided(datagram) => {
                let decided = tokio::select! {
                    () = socket::stirs(control) => Err(0),
                    // Boxed: it takes no memory while nothing is to be found out.
                    decided = Box::pin(relay.find_out(&datagram)) => decided,
                };
                if let Err(code) = decided {
                    return code;
                }
            }
        }
    }
}
