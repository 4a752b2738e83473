//! What makes a listening socket, and how it is made.
use std::{
    collections::HashMap,
    io,
    net::{IpAddr, SocketAddr},
};

use compiler::program::{
    Program,
    service::{ListenAddress, Service},
};
use grammar::value::SocketOption;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

use crate::socket;

/// What must be equal for a socket to survive a reload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
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
        Some(Self { address: SocketAddr::new(ip, service.listen.port.value), share, options, nth: 0 })
    }

    /// Both can't be bound at once, unless they share the port.
    #[must_use]
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let everywhere = |address: IpAddr| address.is_unspecified();
        let (one, two) = (self.address, other.address);
        one.port() == two.port() && (one.ip() == two.ip() || everywhere(one.ip()) || everywhere(two.ip()))
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
    let socket = Socket::new(Domain::for_address(key.address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(share)?;
    if key.address.is_ipv6() {
        // `::` takes IPv4 clients too, whatever the system's default.
        socket.set_only_v6(false)?;
    }
    for option in &key.options {
        socket::set(&SockRef::from(&socket), *option)?;
    }
    socket.bind(&key.address.into())?;
    Ok(socket)
}
