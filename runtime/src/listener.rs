//! Listening sockets, and the loop that each has (`post.rs`): one accepts connections, another receives datagrams.
//!
//! A socket is known by its [`Key`]; a reload keeps those whose key stays, with whatever waits in their backlog. A loop asks the snapshot
//! in force, for each connection or client anew, which service answers on its socket.
mod accept;
mod post;
mod receive;
mod slots;
mod socket;

use std::{io, net::SocketAddr, sync::Arc};

use socket2::{SockRef, Socket};
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::watch,
    task::JoinHandle,
};

use accept::Acceptor;
use post::{Order, Post};
use receive::Receiver;
use socket::Transport;
pub(crate) use socket::{Key, backlog, keys};

use crate::{running::Running, snapshot::ListenerId};

/// A socket that is bound, and takes no connections yet.
#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) id: ListenerId,
    pub(crate) key: Key,
    socket: Socket,
}

/// A socket that something can come in at.
#[derive(Clone, Debug)]
enum Incoming {
    Stream(Arc<TcpListener>),
    Datagram(Arc<UdpSocket>),
}

/// A socket with a backlog that fills.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) id: ListenerId,
    key: Key,
    socket: Incoming,
}

/// A socket with a loop.
#[derive(Debug)]
pub(crate) struct Listener {
    pub(crate) id: ListenerId,
    pub(crate) key: Key,
    socket: Incoming,
    orders: watch::Sender<Order>,
    task: JoinHandle<()>,
}

impl Incoming {
    fn options(&self) -> SockRef<'_> {
        match self {
            Self::Stream(socket) => SockRef::from(&**socket),
            Self::Datagram(socket) => SockRef::from(&**socket),
        }
    }
}

impl Bound {
    /// Binds a socket. `leaving` are listeners that the new configuration closes: one that stands in the way
    /// (`0.0.0.0:3128` in that of `127.0.0.1:3128`) lets the new socket in beside it. [`Listener::alone`] takes that back.
    ///
    /// # Errors
    /// What the system says: the address is in use, not of this host, or reserved.
    pub(crate) fn beside<'a>(key: Key, leaving: impl Iterator<Item = &'a Listener>) -> io::Result<Self> {
        let socket = match socket::bind(&key, key.share) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                let mut old = leaving.map(|old| old.socket.options()).peekable();
                if old.peek().is_none() {
                    return Err(error);
                }
                old.try_for_each(|old| old.set_reuse_port(true))?;
                socket::bind(&key, true).map_err(|_| error)?
            }
            bound => bound?,
        };
        Ok(Self { id: ListenerId::next(), key, socket })
    }

    /// From now on connections are taken into the backlog, and datagrams into that of theirs. Must be called in the context of the runtime.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn listen(self, backlog: i32) -> io::Result<Listening> {
        if self.key.transport == Transport::Stream {
            self.socket.listen(backlog)?;
        }
        // Not before it listens: the system looks then whether it may stand beside others.
        self.socket.set_reuse_port(self.key.share)?;
        let socket = match self.key.transport {
            Transport::Stream => Incoming::Stream(Arc::new(TcpListener::from_std(self.socket.into())?)),
            Transport::Datagram => Incoming::Datagram(Arc::new(UdpSocket::from_std(self.socket.into())?)),
        };
        Ok(Listening { id: self.id, key: self.key, socket })
    }

    /// Where it is to listen.
    pub(crate) fn address(&self) -> SocketAddr {
        self.key.address
    }
}

impl Listening {
    /// Where it listens: with the port that the system chose, if it was to choose one.
    pub(crate) fn address(&self) -> SocketAddr {
        let address = match &self.socket {
            Incoming::Stream(socket) => socket.local_addr(),
            Incoming::Datagram(socket) => socket.local_addr(),
        };
        address.unwrap_or(self.key.address)
    }

    /// Starts the loop.
    pub(crate) fn start(self, running: &Arc<Running>) -> Listener {
        let (orders, received) = watch::channel(Order::Look);
        let post = Post::new(self.id, Arc::clone(running));
        let task = match self.socket.clone() {
            Incoming::Stream(socket) => tokio::spawn(post::serve(Acceptor::new(socket), post, received)),
            Incoming::Datagram(socket) => tokio::spawn(post::serve(Receiver::new(socket), post, received)),
        };
        Listener { id: self.id, key: self.key, socket: self.socket, orders, task }
    }
}

impl Listener {
    /// Follows the snapshot that is in force now, whose service here has this backlog.
    pub(crate) fn look(&self, backlog: i32) {
        self.orders.send_replace(Order::Look);
        if let Incoming::Stream(socket) = &self.socket {
            // A socket that is listened on takes any backlog; if one did not, the old one would do.
            let _ = SockRef::from(&**socket).listen(backlog);
        }
    }

    /// Lets no other socket in beside it, unless the configuration says so.
    pub(crate) fn alone(&self) {
        // A socket that takes the option once takes it again.
        let _ = self.socket.options().set_reuse_port(self.key.share);
    }

    /// Takes what waits in the backlog, then closes the socket. Sessions go on, but for those of UDP clients.
    pub(crate) async fn retire(self) {
        self.orders.send_replace(Order::Stop);
        // The task ends by itself: it is never aborted, and does not panic.
        let _ = self.task.await;
    }
}
