//! Datagrams: how one socket takes their clients in.
use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use compiler::program::service::ServiceKind;
use tokio::{net::UdpSocket, time};

use super::post::{Intake, Post};
use crate::{datagram::with_buffer, event::Event, flow::Flows, service, snapshot::ServicePolicy};

/// Datagrams that are taken before other tasks of the thread get a turn.
const TURN: usize = 64;
/// After an error of the socket, so that one that stays does not keep the thread busy.
const PAUSE: Duration = Duration::from_millis(10);

/// Receives datagrams.
pub(super) struct Receiver {
    socket: Arc<UdpSocket>,
    flows: Flows,
    /// Flows of one datagram are told apart by a number.
    next: u64,
}

impl Receiver {
    pub(super) fn new(socket: Arc<UdpSocket>) -> Self {
        Self { socket, flows: Flows::default(), next: 0 }
    }

    fn receive(&mut self, post: &mut Post) -> io::Result<()> {
        for _ in 0..TURN {
            let received = with_buffer(|buffer| {
                let (length, client) = self.socket.try_recv_from(buffer)?;
                self.take(post, client, buffer.get(..length).unwrap_or_default());
                Ok(())
            });
            match received {
                Err(error) if io::Error::kind(&error) == io::ErrorKind::WouldBlock => break,
                received => received?,
            }
        }
        Ok(())
    }

    fn take(&mut self, post: &mut Post, client: SocketAddr, datagram: &[u8]) {
        post.look();
        let Some(alone) = post.service().map(|service| is_alone(service).then_some(self.next)) else {
            return;
        };
        let limit = post.limit();
        if limit == 0 || client.port() == 0 || alone.is_none() && self.flows.pass(client, datagram) {
            return;
        }
        let Ok(local) = self.socket.local_addr() else { return };
        let Some(session) = post.session(client, local) else { return };
        self.next += 1;
        let before = self.flows.len();
        let place = self.flows.begin(&self.socket, client, datagram, alone, limit);
        post.begin(service::serve_flow(place, session));
        // The last one has made room if it had to.
        post.tell_if_full(before, |protocol, port, limit| Event::Crowded { protocol, port, limit });
    }
}

impl Intake for Receiver {
    async fn next(&mut self, post: &mut Post) {
        let ready = self.socket.readable().await;
        match ready.and_then(|()| self.receive(post)) {
            Ok(()) => tokio::task::yield_now().await,
            Err(_) => time::sleep(PAUSE).await,
        }
    }

    /// Flows end: without the socket their clients can't be heard.
    async fn finish(self, post: Post) {
        self.flows.end();
        post.slots.below(1).await;
    }
}

/// Whether each datagram is answered by itself.
fn is_alone(service: &ServicePolicy) -> bool {
    match service.kind {
        ServiceKind::Dnspr => true,
        _ => service.settings.options.single.is_some(),
    }
}
