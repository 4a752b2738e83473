//! The accept loop of one listening socket.
use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    time,
};

use super::slots::Slots;
use crate::{
    event::Event,
    running::Running,
    service,
    session::Session,
    snapshot::{ListenerId, ServicePolicy, Snapshot},
    socket,
};

/// First and longest pause after the system could not give a connection a descriptor or memory.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// What a loop is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Another snapshot is in force.
    Look,
    /// The configuration has no service here any more.
    Stop,
}

/// One loop.
pub(super) struct Acceptor {
    id: ListenerId,
    running: Arc<Running>,
    orders: watch::Receiver<Order>,
    slots: Arc<Slots>,
    /// The snapshot that last had a service here, and the service: what waits in the backlog of a socket that is closed belongs to them.
    last: Option<(Arc<Snapshot>, Arc<ServicePolicy>)>,
    pause: Duration,
    /// It was said that the limit is reached; said again only after the number of connections fell well below.
    full: bool,
}

impl Acceptor {
    pub(super) fn new(id: ListenerId, running: Arc<Running>, orders: watch::Receiver<Order>) -> Self {
        let slots = Arc::default();
        Self { id, running, orders, slots, last: None, pause: PAUSE.0, full: false }
    }

    pub(super) async fn run(mut self, socket: Arc<TcpListener>) {
        loop {
            self.look();
            let order = *self.orders.borrow_and_update();
            if order == Order::Stop {
                break;
            }
            let limit = self.limit();
            tokio::select! {
                accepted = accept(&socket, &self.slots, limit) => self.accepted(accepted).await,
                // The sender lives as long as the listener: an error means that the process ends.
                changed = self.orders.changed() => if changed.is_err() { break },
            }
        }
        self.drain(&socket);
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

    /// `maxconn` of the service.
    fn limit(&self) -> usize {
        self.last
            .as_ref()
            .map_or(0, |(_, service)| usize::try_from(service.settings.maxconn.value).unwrap_or(0))
    }

    async fn accepted(&mut self, accepted: io::Result<(TcpStream, SocketAddr)>) {
        match accepted {
            Ok((stream, client)) => {
                self.pause = PAUSE.0;
                self.look();
                self.begin(stream, client);
            }
            Err(error) if is_shortage(&error) => self.back_off(error).await,
            // The client is gone already, or the like: nothing is wrong here.
            Err(_) => {}
        }
    }

    fn begin(&mut self, stream: TcpStream, client: SocketAddr) {
        let Some((snapshot, service)) = &self.last else { return };
        let Ok(local) = stream.local_addr() else { return };
        prepare(&stream, service);
        let session = Session::new(Arc::clone(snapshot), Arc::clone(service), client, local)
            .at(self.id, Arc::clone(&self.running));
        let session = Box::new(session);
        let held = (self.slots.take(), self.running.begin());
        tokio::spawn(async move {
            service::serve(stream, session).await;
            drop(held);
        });
        self.tell_if_full();
    }

    /// Says once that the limit is reached.
    fn tell_if_full(&mut self) {
        let (used, limit) = (self.slots.used(), self.limit());
        if used < limit {
            self.full = self.full && used > limit - limit.div_ceil(4);
        } else if !self.full {
            self.full = true;
            if let Some((_, service)) = &self.last {
                let port = service.settings.listen.port.value;
                self.running.events.tell(&Event::Full { protocol: service.kind.into(), port, limit });
            }
        }
    }

    /// Lets sessions end: each gives descriptors back. Said once per shortage.
    async fn back_off(&mut self, error: io::Error) {
        if self.pause == PAUSE.0
            && let Some((_, service)) = &self.last
        {
            let port = service.settings.listen.port.value;
            self.running.events.tell(&Event::Shortage { protocol: service.kind.into(), port, error });
        }
        tokio::select! {
            () = time::sleep(self.pause) => {}
            _ = self.orders.changed() => self.orders.mark_changed(),
        }
        self.pause = (self.pause * 2).min(PAUSE.1);
    }

    /// Serves what waits in the backlog, under the configuration that it connected under, and closes the socket.
    fn drain(&mut self, socket: &TcpListener) {
        while let Ok((stream, client)) = SockRef::from(socket).accept() {
            if let Some(client) = client.as_socket()
                && stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream.into())
            {
                self.begin(stream, client);
            }
        }
    }
}

/// Sets a client's socket up. A socket that refuses an option serves all the same.
fn prepare(stream: &TcpStream, service: &ServicePolicy) {
    // The relay writes what it has read, whole.
    let _ = stream.set_nodelay(true);
    let _ = socket::apply(&SockRef::from(stream), service.settings.options.client_socket.as_ref());
}

/// Waits until fewer than `limit` connections are open, and for the next one.
async fn accept(socket: &TcpListener, slots: &Slots, limit: usize) -> io::Result<(TcpStream, SocketAddr)> {
    slots.below(limit).await;
    socket.accept().await
}

/// The system has no descriptor or memory left.
fn is_shortage(error: &io::Error) -> bool {
    // EMFILE, ENFILE, ENOBUFS, ENOMEM of Linux.
    matches!(error.raw_os_error(), Some(24 | 23 | 105 | 12))
}
