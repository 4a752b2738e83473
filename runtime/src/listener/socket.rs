//! What makes a listening socket, and how it is made.
use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
};

use compiler::program::{
    Program,
    service::{ListenAddress, Service, ServiceKind},
};
use grammar::value::SocketOption;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::socket;

/// What comes in at a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Transport {
    /// TCP connections.
    Stream,
    /// UDP datagrams.
    Datagram,
}

impl Transport {
    const fn of(kind: ServiceKind) -> Self {
        if kind.takes_datagrams() { Self::Datagram } else { Self::Stream }
    }
}

/// What must be equal for a socket to survive a reload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// What comes in.
    pub(crate) transport: Transport,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// `-olSO_REUSEPORT`: several services share the port.
    pub(crate) share: bool,
    /// The other options of the listening socket, as given.
    options: Vec<SocketOption>,
    /// Of sockets that are otherwise equal, which one: 0, 1 …
    pub(crate) nth: usize,
}

/// The keys of a configuration's services, in their order.
///
/// # Errors
/// The index of a service that does not listen on an IP address.
pub(crate) fn keys(program: &Program) -> Result<Vec<Key>, usize> {
    let mut seen: HashMap<Key, usize> = HashMap::new();
    let keys = program.services.iter().enumerate().map(|(index, service)| {
        let mut key = Key::of(service).ok_or(index)?;
        let count = seen.entry(key.clone()).or_default();
        key.nth = *count;
        *count += 1;
        Ok(key)
    });
    keys.collect()
}

impl Key {
    /// The first socket for `service`; `None` if it is to listen on a Unix socket.
    fn of(service: &Service) -> Option<Self> {
        let ListenAddress::Ip(ip) = service.listen.address.value else { return None };
        let mut options: Vec<_> =
            service.options.listen_socket.iter().flat_map(|options| &options.value.0).copied().collect();
        let share = options.contains(&SocketOption::ReusePort);
        options.retain(|option| *option != SocketOption::ReusePort);
        let transport = Transport::of(service.kind);
        let address = SocketAddr::new(ip, service.listen.port.value);
        Some(Self { transport, address, share, options, nth: 0 })
    }

    /// Both can't be bound at once, unless they share the port.
    #[must_use]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let everywhere = |address: IpAddr| address.is_unspecified();
        let (one, two) = (self.address, other.address);
        self.transport == other.transport
            && one.port() == two.port()
            && (one.ip() == two.ip() || everywhere(one.ip()) || everywhere(two.ip()))
    }
}

/// The listening socket's backlog: `backlog`, or as 3proxy derives it from `maxconn`.
pub(crate) fn backlog(service: &Service) -> i32 {
    match service.backlog.value {
        0 => 1 + service.maxconn.value.max(0) / 8,
        given => given,
    }
}

/// A socket bound to `key`'s address; `share`: beside others that share the port, too.
pub(super) fn bind(key: &Key, share: bool) -> io::Result<Socket> {
    let (kind, protocol) = match key.transport {
        Transport::Stream => (Type::STREAM, Protocol::TCP),
        Transport::Datagram => (Type::DGRAM, Protocol::UDP),
    };
    let socket = Socket::new(Domain::for_address(key.address), kind, Some(protocol))?;
    socket.set_nonblocking(true)?;
    if key.transport == Transport::Stream {
        // Of UDP, it would let another process take the datagrams.
        socket.set_reuse_address(true)?;
    }
    socket.set_reuse_port(share)?;
    if key.address.is_ipv6() {
        // `::` takes IPv4 clients too, whatever the system's default.
        socket.set_only_v6(false)?;
    }
    for option in &key.options {
        let set = socket::set(&SockRef::from(&socket), *option);
        if key.transport == Transport::Stream {
            set?;
        }
        // Options of TCP mean nothing to a socket for datagrams, as in 3proxy.
    }
    socket.bind(&key.address.into())?;
    Ok(socket)
}
