//! A client of a UDP service: all that comes from one address and port, and what goes back there.
//!
//! The listener hands each datagram to its [`Flow`], which sends it on at once when the way is open. While it is being opened a few
//! datagrams wait. A flow ends by its silence, with its listener, or when others need its place ([`Flows`]).
use std::{
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{net::UdpSocket, sync::oneshot, time::Instant};

use crate::{
    datagram,
    limits::{Charges, Direction},
    recent::Recent,
};

/// How many datagrams wait while the way is being opened; others that come meanwhile are lost.
const WAITING: usize = 4;

/// One client.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The service's socket.
    listener: Arc<UdpSocket>,
    /// As the socket names it.
    client: SocketAddr,
    inlet: Mutex<Inlet>,
}

/// Where the client's datagrams go.
#[derive(Debug)]
enum Inlet {
    /// Here, until the way is open.
    Waiting(Vec<Box<[u8]>>),
    Open(Open),
}

#[derive(Debug)]
struct Open {
    socket: Arc<UdpSocket>,
    /// What goes before each datagram.
    header: Box<[u8]>,
    /// What the bytes are charged to.
    charges: Option<Charges>,
    sent: Sent,
}

/// What a client's datagrams added up to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Bytes, without those that say where to.
    pub(crate) bytes: u64,
    /// How many.
    pub(crate) datagrams: u64,
    /// When the last one came.
    pub(crate) last: Instant,
}

impl Flow {
    /// Takes a datagram of the client.
    fn take(&self, datagram: &[u8]) {
        match &mut *self.lock() {
            Inlet::Waiting(waiting) if waiting.len() < WAITING => waiting.push(datagram.into()),
            Inlet::Waiting(_) => {}
            Inlet::Open(open) => open.send(datagram),
        }
    }

    /// Opens the way: what waits and what comes goes out at `socket`, which is connected, behind `header`, if `charges` admit it.
    pub(crate) fn open(&self, socket: Arc<UdpSocket>, header: Box<[u8]>, charges: Option<Charges>) {
        let sent = Sent { bytes: 0, datagrams: 0, last: Instant::now() };
        let mut open = Open { socket, header, charges, sent };
        let mut inlet = self.lock();
        if let Inlet::Waiting(waiting) = &mut *inlet {
            waiting.iter().for_each(|datagram| open.send(datagram));
        }
        *inlet = Inlet::Open(open);
    }

    /// The datagram that it began with, until the way is open.
    pub(crate) fn first(&self) -> Option<Box<[u8]>> {
        match &*self.lock() {
            Inlet::Waiting(waiting) => waiting.first().cloned(),
            Inlet::Open(_) => None,
        }
    }

    /// What was sent since the way was opened; `None`: it was not.
    pub(crate) fn sent(&self) -> Option<Sent> {
        match &*self.lock() {
            Inlet::Waiting(_) => None,
            Inlet::Open(open) => Some(open.sent),
        }
    }

    /// Sends a datagram to the client.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn answer(&self, datagram: &[u8]) -> io::Result<usize> {
        datagram::send(&self.listener, [datagram, b""], Some(self.client))
    }

    fn lock(&self) -> MutexGuard<'_, Inlet> {
        self.inlet.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn send(&mut self, datagram: &[u8]) {
        if !self.charges.as_ref().is_none_or(|charges| charges.admits(Direction::Out, datagram.len())) {
            return;
        }
        // What the system has no room for, or refuses since an earlier one could not be delivered, is lost.
        let _ = datagram::send(&self.socket, [&self.header, datagram], None);
        self.sent.bytes += datagram.len() as u64;
        self.sent.datagrams += 1;
        self.sent.last = Instant::now();
    }
}

/// Which flow a datagram belongs to: that of its client, or one of its own (`-s`).
type Key = (SocketAddr, Option<u64>);

/// The flows of one listener.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows(Arc<Mutex<Recent<Key, (Arc<Flow>, oneshot::Sender<()>)>>>);

/// A flow's place among the others, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    flows: Flows,
    key: Key,
    flow: Arc<Flow>,
    over: oneshot::Receiver<()>,
}

impl Flows {
    /// Gives a datagram to the flow of its client. `false`: there is none.
    pub(crate) fn pass(&self, client: SocketAddr, datagram: &[u8]) -> bool {
        let flow = self.lock().get(&(client, None)).map(|(flow, _)| Arc::clone(flow));
        flow.as_ref().inspect(|flow| flow.take(datagram)).is_some()
    }

    /// A new flow with its first datagram; `alone`: no other datagram will be its. Afterwards there are at most `limit`: the one
    /// that was silent for longest makes room.
    pub(crate) fn begin(
        &self,
        listener: &Arc<UdpSocket>,
        client: SocketAddr,
        first: &[u8],
        alone: Option<u64>,
        limit: usize,
    ) -> Place {
        let inlet = Mutex::new(Inlet::Waiting(vec![first.into()]));
        let flow = Arc::new(Flow { listener: Arc::clone(listener), client, inlet });
        let (end, over) = oneshot::channel();
        self.lock().insert((client, alone), (Arc::clone(&flow), end), limit);
        Place { flows: self.clone(), key: (client, alone), flow, over }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Ends all of them.
    pub(crate) fn end(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, Recent<Key, (Arc<Flow>, oneshot::Sender<()>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// The flow.
    pub(crate) fn flow(&self) -> Arc<Flow> {
        Arc::clone(&self.flow)
    }

    /// Returns when the flow has to end: its place is gone.
    pub(crate) async fn is_lost(&mut self) {
        // Nobody ever sends: the sender is dropped.
        let _ = (&mut self.over).await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.flows.lock().remove_if(&self.key, |(flow, _)| Arc::ptr_eq(flow, &self.flow));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::net::UdpSocket;

    use super::{Flows, WAITING};

    async fn socket() -> Arc<UdpSocket> {
        Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap())
    }

    async fn received(socket: &UdpSocket) -> Vec<u8> {
        let mut bytes = [0; 100];
        let length = socket.recv(&mut bytes).await.unwrap();
        bytes[..length].into()
    }

    #[tokio::test]
    async fn what_waits_goes_out_first_and_no_more_waits_than_may() {
        let (listener, client, out, target) =
            (socket().await, socket().await, socket().await, socket().await);
        out.connect(target.local_addr().unwrap()).await.unwrap();
        let (flows, from) = (Flows::default(), client.local_addr().unwrap());
        assert!(!flows.pass(from, b"nobody's"));
        let place = flows.begin(&listener, from, b"0", None, 10);
        for datagram in 1..WAITING + 3 {
            assert!(flows.pass(from, datagram.to_string().as_bytes()));
        }
        assert!(place.flow().sent().is_none());
        place.flow().open(out, b"to: "[..].into(), None);
        assert!(flows.pass(from, b"last"));
        for datagram in 0..WAITING {
            assert_eq!(received(&target).await, format!("to: {datagram}").into_bytes());
        }
        assert_eq!(received(&target).await, b"to: last");
        let sent = place.flow().sent().unwrap();
        assert_eq!((sent.bytes, sent.datagrams), (WAITING as u64 + 4, WAITING as u64 + 1));
        place.flow().answer(b"back").unwrap();
        assert_eq!(received(&client).await, b"back");
    }

    #[tokio::test]
    async fn a_flow_that_ends_leaves_the_place_that_another_has_taken() {
        let (listener, flows) = (socket().await, Flows::default());
        let client = |port| ([127, 0, 0, 1], port).into();
        let mut first = flows.begin(&listener, client(1), b"", None, 2);
        let second = flows.begin(&listener, client(2), b"", None, 2);
        assert!(flows.pass(client(2), b""));
        let _third = flows.begin(&listener, client(3), b"", None, 2);
        first.is_lost().await;
        assert_eq!(flows.len(), 2);
        let _again = flows.begin(&listener, client(1), b"", None, 3);
        drop(first);
        assert_eq!(flows.len(), 3, "the newer flow of that client keeps its place");
        drop(second);
        assert_eq!(flows.len(), 2);
        let alone = [1, 2].map(|number| flows.begin(&listener, client(4), b"", Some(number), 9));
        assert!(!flows.pass(client(4), b""));
        assert_eq!(flows.len(), 4);
        flows.end();
        assert_eq!(flows.len(), 0);
        for mut place in alone {
            place.is_lost().await;
        }
    }
}
