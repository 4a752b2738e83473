//! Sockets for datagrams, and the buffer that one is held in while it passes through.
//!
//! A thread has one buffer. It is lent while a socket is readable, and nothing waits while it is: a datagram that has to wait is
//! copied out, and one that a socket has no room for is lost, as on any network.
use std::{
    cell::RefCell,
    io::{self, IoSlice},
    net::{IpAddr, SocketAddr},
};

use socket2::{Domain, MsgHdr, Protocol, SockAddr, SockRef, Socket, Type};
use tokio::net::{TcpStream, UdpSocket};

use crate::{
    connect::Source,
    error::{Failure, FailureKind},
};

/// The longest datagram there is has 65,507 bytes: none is ever cut.
const LONGEST: usize = 64 * 1024;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; LONGEST].into());
}

/// Lends the thread's buffer, which has room for any datagram.
pub(crate) fn with_buffer<T>(work: impl FnOnce(&mut [u8]) -> T) -> T {
    BUFFER.with(|buffer| match buffer.try_borrow_mut() {
        Ok(mut buffer) => work(&mut buffer),
        // Lent already: nothing here does that.
        Err(_) => work(&mut vec![0; LONGEST]),
    })
}

/// Sends one datagram made of `parts` now, to where the socket is connected or to `target`.
///
/// # Errors
/// The system's: among others that there is no room for it now.
pub(crate) fn send(socket: &UdpSocket, parts: [&[u8]; 2], target: Option<SocketAddr>) -> io::Result<usize> {
    let parts = parts.map(IoSlice::new);
    let target = target.map(SockAddr::from);
    let message = MsgHdr::new().with_buffers(&parts);
    let message = match &target {
        Some(target) => message.with_addr(target),
        None => message,
    };
    // Past tokio, which would not let a new socket send before it has waited for it once.
    SockRef::from(socket).sendmsg(&message, 0)
}

/// A socket that talks to targets of one family, from `source`. With it, the address that it is bound to.
///
/// # Errors
/// With 3proxy's codes: 11 if there is no socket to be had, 12 if the source address can't be bound.
pub(crate) fn bind(family: IpAddr, source: Source) -> Result<(UdpSocket, IpAddr), Failure> {
    let any = match family {
        IpAddr::V4(_) => IpAddr::from([0; 4]),
        IpAddr::V6(_) => IpAddr::from([0; 16]),
    };
    let address = source.for_target(family).unwrap_or(any);
    if address.is_ipv4() != family.is_ipv4() {
        return Err(Failure::new(12, FailureKind::Connect));
    }
    Ok((listen(SocketAddr::new(address, 0))?, address))
}

/// A socket that is bound to `address`.
///
/// # Errors
/// As [`bind`].
pub(crate) fn listen(address: SocketAddr) -> Result<UdpSocket, Failure> {
    let fails = |code| move |_: io::Error| Failure::new(code, FailureKind::Connect);
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP)).map_err(fails(11))?;
    socket.set_nonblocking(true).map_err(fails(11))?;
    if address.is_ipv6() {
        // IPv4 has sockets of its own, so that an address has one form.
        socket.set_only_v6(true).map_err(fails(11))?;
    }
    socket.bind(&address.into()).map_err(fails(12))?;
    UdpSocket::from_std(socket.into()).map_err(fails(11))
}

/// A way for datagrams: to a target, or to a parent that passes them on.
#[derive(Debug)]
pub(crate) struct Outlet {
    /// Connected, if it leads to one place only.
    pub(crate) socket: UdpSocket,
    /// The connection to the parent: the association lives as long as this does. `None`: it leads to targets themselves.
    pub(crate) parent: Option<TcpStream>,
    /// Where it is connected to.
    pub(crate) peer: Option<SocketAddr>,
    /// The source address that was asked for; all zeros: the system chooses.
    pub(crate) external: IpAddr,
}

impl Outlet {
    /// Lets only `peer` answer.
    ///
    /// # Errors
    /// With the code 13: there is no route to it.
    pub(crate) async fn connect(mut self, peer: SocketAddr) -> Result<Self, Failure> {
        let connected = self.socket.connect(peer).await;
        connected.map_err(|_| Failure::new(13, FailureKind::Connect))?;
        self.peer = Some(peer);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use compiler::program::{Set, service::External};
    use tokio::net::UdpSocket;

    use super::{bind, send, with_buffer};
    use crate::connect::Source;

    fn source(v4: &str) -> Source {
        let v4 = Set::default_to(v4.parse().unwrap());
        Source::of(External { v4, v6: Set::default_to("::".parse().unwrap()) })
    }

    #[tokio::test]
    async fn a_new_socket_sends_at_once_and_no_datagram_is_cut() {
        let receiver = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let target = receiver.local_addr().unwrap();
        let (socket, bound) = bind(target.ip(), source("127.0.0.5")).unwrap();
        let longest = vec![7; 65_507 - 3];
        assert_eq!(send(&socket, [b"abc", &longest], Some(target)).unwrap(), 65_507);
        receiver.readable().await.unwrap();
        let (length, from) = with_buffer(|buffer| receiver.try_recv_from(buffer)).unwrap();
        assert_eq!((length, from.ip(), bound), (65_507, bound, "127.0.0.5".parse().unwrap()));
    }

    #[tokio::test]
    async fn a_source_of_the_other_family_or_of_another_host_has_its_code() {
        let v6 = "::1".parse().unwrap();
        let v4 = "127.0.0.1".parse().unwrap();
        assert_eq!(bind(v6, source("0.0.0.0").only(v4)).unwrap_err().code, 12);
        assert_eq!(bind(v4, source("192.0.2.200")).unwrap_err().code, 12);
        assert!(bind(v6, source("0.0.0.0")).unwrap().0.local_addr().unwrap().is_ipv6());
    }
}
