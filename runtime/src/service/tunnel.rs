//! What is left of a session once its handshake is over: two sockets, and bytes between them.
use std::io;

use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::{
    relay::{End, Limits, relay},
    session::Session,
};

/// Two sockets to relay between. It is all that lives while a tunnel does.
pub(super) struct Tunnel {
    /// The client's socket.
    pub(super) client: TcpStream,
    /// The server's socket.
    pub(super) server: TcpStream,
    /// Whose it is.
    pub(super) session: Box<Session>,
    /// What the client sent behind its request.
    pub(super) from_client: Vec<u8>,
    /// What the server sent behind its answer.
    pub(super) from_server: Vec<u8>,
}

impl Tunnel {
    /// Moves bytes both ways until both sides are done, and writes the log record.
    pub(super) async fn run(mut self) {
        let sent = if self.from_client.is_empty() && self.from_server.is_empty() {
            Ok(())
        } else {
            // Boxed: it takes no memory while bytes are relayed.
            Box::pin(self.send_early()).await
        };
        let end = match sent {
            Ok(()) => self.relay().await,
            Err(end) => end,
        };
        self.session.record.code = end.code();
        self.session.log();
    }

    async fn relay(&mut self) -> End {
        let options = &self.session.service.settings.options;
        let limits = Limits {
            idle: self.session.snapshot.timeouts.connection_long,
            half_close: options.half_close.is_none_or(|half_close| half_close.value != 0),
        };
        let relayed = relay(&self.client, &self.server, limits).await;
        let record = &mut self.session.record;
        record.from_client += relayed.from_client;
        record.from_server += relayed.from_server;
        record.cycles += relayed.cycles;
        relayed.end
    }

    async fn send_early(&mut self) -> Result<(), End> {
        let (up, down) = (std::mem::take(&mut self.from_client), std::mem::take(&mut self.from_server));
        let limit = self.session.snapshot.timeouts.connection_long;
        send(&mut self.server, &up, limit).await.map_err(|_| End::Server)?;
        send(&mut self.client, &down, limit).await.map_err(|_| End::Client)?;
        self.session.record.from_client += up.len() as u64;
        self.session.record.from_server += down.len() as u64;
        Ok(())
    }
}

async fn send(to: &mut TcpStream, bytes: &[u8], limit: std::time::Duration) -> io::Result<()> {
    timeout(limit, to.write_all(bytes)).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
