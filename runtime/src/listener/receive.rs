//! The loop of one socket that datagrams come in at.
use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use compiler::program::service::ServiceKind;
use tokio::{net::UdpSocket, sync::watch, time};

use super::{accept::Order, slots::Slots};
use crate::{
    datagram::with_buffer,
    event::Event,
    flow::Flows,
    running::Running,
    service,
    session::Session,
    snapshot::{ListenerId, ServicePolicy, Snapshot},
};

/// Datagrams that are taken before other tasks of the thread get a turn.
const TURN: usize = 64;
/// After an error of the socket, so that one that stays does not keep the thread busy.
const PAUSE: Duration = Duration::from_millis(10);

/// One loop.
pub(super) struct Receiver {
    id: ListenerId,
    running: Arc<Running>,
    orders: watch::Receiver<Order>,
    flows: Flows,
    /// Flows that have not ended yet.
    slots: Arc<Slots>,
    /// The snapshot that last had a service here, and the service.
    last: Option<(Arc<Snapshot>, Arc<ServicePolicy>)>,
    /// Flows of one datagram are told apart by a number.
    next: u64,
    /// It was said that flows have to make room; said again only after their number fell well below the limit.
    full: bool,
}

impl Receiver {
    pub(super) fn new(id: ListenerId, running: Arc<Running>, orders: watch::Receiver<Order>) -> Self {
        let (flows, slots) = (Flows::default(), Arc::default());
        Self { id, running, orders, flows, slots, last: None, next: 0, full: false }
    }

    /// Serves until it is told to stop. Then flows end: without the socket their clients can't be heard.
    pub(super) async fn run(mut self, socket: Arc<UdpSocket>) {
        loop {
            self.look();
            let order = *self.orders.borrow_and_update();
            if order == Order::Stop {
                break;
            }
            tokio::select! {
                ready = socket.readable() => match ready.and_then(|()| self.receive(&socket)) {
                    Ok(()) => tokio::task::yield_now().await,
                    Err(_) => time::sleep(PAUSE).await,
                },
                // The sender lives as long as the listener: an error means that the process ends.
                changed = self.orders.changed() => if changed.is_err() { break },
            }
        }
        self.flows.end();
        self.slots.below(1).await;
    }

    /// Follows the snapshot in force, as long as it has a service here.
    fn look(&mut self) {
        let current = self.running.current.load();
        if self.last.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, &current)) {
            return;
        }
        if let Some(service) = current.listening(self.id) {
            self.last = Some((Arc::clone(&current), Arc::clone(service)));
            self.running.released();
        }
    }

    fn receive(&mut self, socket: &Arc<UdpSocket>) -> io::Result<()> {
        for _ in 0..TURN {
            let received = with_buffer(|buffer| {
                let (length, client) = socket.try_recv_from(buffer)?;
                self.take(socket, client, buffer.get(..length).unwrap_or_default());
                Ok(())
            });
            match received {
                Err(error) if io::Error::kind(&error) == io::ErrorKind::WouldBlock => break,
                received => received?,
            }
        }
        Ok(())
    }

    fn take(&mut self, socket: &Arc<UdpSocket>, client: SocketAddr, datagram: &[u8]) {
        self.look();
        let Some((snapshot, service)) = &self.last else { return };
        let limit = usize::try_from(service.settings.maxconn.value).unwrap_or(0);
        let alone = is_alone(service).then_some(self.next);
        if limit == 0 || client.port() == 0 || alone.is_none() && self.flows.pass(client, datagram) {
            return;
        }
        let Ok(local) = socket.local_addr() else { return };
        self.next += 1;
        let session = Session::new(Arc::clone(snapshot), Arc::clone(service), client, local)
            .at(self.id, Arc::clone(&self.running));
        let session = Box::new(session);
        let before = self.flows.len();
        let place = self.flows.begin(socket, client, datagram, alone, limit);
        let held = (self.slots.take(), self.running.begin());
        tokio::spawn(async move {
            service::serve_flow(place, session).await;
            drop(held);
        });
        self.tell_if_full(before, limit);
    }

    /// Says once that flows make room for others; `before` is how many there were before the last one.
    fn tell_if_full(&mut self, before: usize, limit: usize) {
        if before < limit {
            self.full = self.full && before > limit - limit.div_ceil(4);
        } else if !self.full {
            self.full = true;
            if let Some((_, service)) = &self.last {
                let port = service.settings.listen.port.value;
                self.running.events.tell(&Event::Crowded { protocol: service.kind.into(), port, limit });
            }
        }
    }
}

/// Whether each datagram is answered by itself.
fn is_alone(service: &ServicePolicy) -> bool {
    match service.kind {
        ServiceKind::Dnspr => true,
        _ => service.settings.options.single.is_some(),
    }
}
