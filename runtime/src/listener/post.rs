//! The loop of one socket, whatever comes in there: it serves under the snapshot in force, until it is told to stop.
use std::{net::SocketAddr, sync::Arc};

use tokio::sync::watch;

use super::slots::Slots;
use crate::{
    event::Event,
    log::Protocol,
    running::Running,
    session::Session,
    snapshot::{ListenerId, ServicePolicy, Snapshot},
};

/// What a loop is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Another snapshot is in force.
    Look,
    /// The configuration has no service here any more.
    Stop,
}

/// How a kind of socket takes clients in.
pub(super) trait Intake: Send {
    /// Takes in what comes next. It is dropped when there is an order: whatever it has taken in is served all the same.
    fn next(&mut self, post: &mut Post) -> impl Future<Output = ()> + Send;
    /// The socket is about to be closed.
    fn finish(self, post: Post) -> impl Future<Output = ()> + Send;
}

/// Takes clients in until there is the order to stop.
pub(super) async fn serve(mut intake: impl Intake, mut post: Post, mut orders: watch::Receiver<Order>) {
    loop {
        post.look();
        let order = *orders.borrow_and_update();
        if order == Order::Stop {
            break;
        }
        tokio::select! {
            () = intake.next(&mut post) => {}
            // The sender lives as long as the listener: an error means that the process ends.
            changed = orders.changed() => if changed.is_err() { break },
        }
    }
    intake.finish(post).await;
}

/// What serves at a socket now, and how many are served.
pub(super) struct Post {
    id: ListenerId,
    running: Arc<Running>,
    pub(super) slots: Arc<Slots>,
    /// The snapshot that last had a service here, and the service: what waits in the backlog of a socket that is closed belongs to them.
    last: Option<(Arc<Snapshot>, Arc<ServicePolicy>)>,
    /// It was said that the limit is reached; said again only after the number of clients fell well below.
    full: bool,
}

impl Post {
    pub(super) fn new(id: ListenerId, running: Arc<Running>) -> Self {
        Self { id, running, slots: Arc::default(), last: None, full: false }
    }

    /// Follows the snapshot in force, as long as it has a service here.
    pub(super) fn look(&mut self) {
        let current = self.running.current.load();
        if self.last.as_ref().is_some_and(|(last, _)| Arc::ptr_eq(last, &current)) {
            return;
        }
        if let Some(service) = current.listening(self.id) {
            self.last = Some((Arc::clone(&current), Arc::clone(service)));
            self.running.released();
        }
    }

    /// The service.
    pub(super) fn service(&self) -> Option<&ServicePolicy> {
        self.last.as_ref().map(|(_, service)| &**service)
    }

    /// `maxconn` of the service.
    pub(super) fn limit(&self) -> usize {
        self.service().map_or(0, |service| usize::try_from(service.settings.maxconn.value).unwrap_or(0))
    }

    /// A session of a client that came in here.
    pub(super) fn session(&self, client: SocketAddr, local: SocketAddr) -> Option<Box<Session>> {
        let (snapshot, service) = self.last.as_ref()?;
        let session = Session::new(Arc::clone(snapshot), Arc::clone(service), client, local);
        Some(Box::new(session.at(self.id, Arc::clone(&self.running))))
    }

    /// Serves a client beside the others, and counts it until it is done.
    pub(super) fn begin(&self, serving: impl Future<Output = ()> + Send + 'static) {
        let held = (self.slots.take(), self.running.begin());
        tokio::spawn(async move {
            serving.await;
            drop(held);
        });
    }

    /// Says `what` once when `used` has reached the limit.
    pub(super) fn tell_if_full(&mut self, used: usize, what: fn(Protocol, u16, usize) -> Event) {
        let limit = self.limit();
        if used < limit {
            self.full = self.full && used > limit - limit.div_ceil(4);
        } else if !self.full {
            self.full = true;
            self.tell(|protocol, port| what(protocol, port, limit));
        }
    }

    /// Tells the operator something of the service.
    pub(super) fn tell(&self, what: impl FnOnce(Protocol, u16) -> Event) {
        if let Some(service) = self.service() {
            let event = what(service.kind.into(), service.settings.listen.port.value);
            self.running.events.tell(&event);
        }
    }
}
