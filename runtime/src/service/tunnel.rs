//! What is left of a session once its handshake is over: two sockets, and bytes between them.
use tokio::{net::TcpStream, time::timeout};

use crate::{
    limits::{self, Direction, Gate, Unwritten},
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
        self.session.end(end.code());
    }

    async fn relay(&mut self) -> End {
        let options = &self.session.service.settings.options;
        let limits = Limits {
            idle: self.session.snapshot.timeouts.connection_long,
            half_close: options.half_close.is_none_or(|half_close| half_close.value != 0),
        };
        let relayed = relay(&self.client, &self.server, limits, self.session.charges()).await;
        let record = &mut self.session.record;
        record.from_client += relayed.from_client;
        record.from_server += relayed.from_server;
        record.cycles += relayed.cycles;
        relayed.end
    }

    async fn send_early(&mut self) -> Result<(), End> {
        let (up, down) = (std::mem::take(&mut self.from_client), std::mem::take(&mut self.from_server));
        let (mut moved_up, mut moved_down) = (0, 0);
        let sent = async {
            self.send(&self.server, &up, Direction::Out, &mut moved_up).await.map_err(ends(End::Server))?;
            self.send(&self.client, &down, Direction::In, &mut moved_down).await.map_err(ends(End::Client))
        };
        let sent = sent.await;
        self.session.record.from_client += moved_up;
        self.session.record.from_server += moved_down;
        sent
    }

    async fn send(
        &self,
        to: &TcpStream,
        bytes: &[u8],
        direction: Direction,
        moved: &mut u64,
    ) -> Result<(), Unwritten> {
        let mut gate = Gate::new(self.session.charges(), direction);
        if let Some(gate) = &mut gate {
            gate.pay(bytes.len()).await;
        }
        let limit = self.session.snapshot.timeouts.connection_long;
        let sent = timeout(limit, limits::write_all(to, bytes, gate.as_ref(), moved)).await;
        sent.unwrap_or(Err(Unwritten::Failed))
    }
}

fn ends(failed: End) -> impl FnOnce(Unwritten) -> End {
    |why| match why {
        Unwritten::Limited => End::Limited,
        Unwritten::Failed => failed,
    }
}
