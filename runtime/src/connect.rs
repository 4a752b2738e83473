//! The outgoing connection: which source address, how long, and what may go wrong.
use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use compiler::program::{
    Set,
    service::{External, SocketOptions},
};
use socket2::SockRef;
use tokio::{
    net::{TcpSocket, TcpStream},
    time::timeout,
};

use crate::{
    error::{Failure, FailureKind},
    socket,
};

/// Where a connection comes from, for each family; unspecified: the system chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    v4: Ipv4Addr,
    v6: Ipv6Addr,
    /// Set by `extip`: an address for both families, so that a target of the other family can't be connected.
    only: Option<IpAddr>,
}

impl Source {
    /// The service's own: `-e` or `external`.
    #[must_use]
    pub(crate) fn of(external: External) -> Self {
        Self { v4: external.v4.value, v6: external.v6.value, only: None }
    }

    /// This address and no other.
    #[must_use]
    pub(crate) fn only(self, address: IpAddr) -> Self {
        Self { only: Some(address.to_canonical()), ..self }
    }

    /// The address to bind before connecting to `target`; `None`: none.
    pub(crate) fn for_target(self, target: IpAddr) -> Option<IpAddr> {
        let address = self.only.unwrap_or(match target {
            IpAddr::V4(_) => self.v4.into(),
            IpAddr::V6(_) => self.v6.into(),
        });
        (!address.is_unspecified()).then_some(address)
    }
}

/// Connects to `target` from `source` by a socket with these options, and with Nagle's algorithm off: what is relayed was written as its sender meant it.
///
/// An IPv4-mapped target is the IPv4 address that it is, so that it can't be reached past the rules for IPv4.
///
/// # Errors
/// With 3proxy's codes: 100 for a null address or port, 11 if there is no socket to be had, 12 if the source address can't be bound,
/// 13 if the target can't be reached within `limit`.
pub(crate) async fn connect(
    target: SocketAddr,
    source: Source,
    options: Option<&Set<SocketOptions>>,
    limit: Duration,
) -> Result<TcpStream, Failure> {
    let target = SocketAddr::new(target.ip().to_canonical(), target.port());
    if target.ip().is_unspecified() || target.port() == 0 {
        return Err(Failure::UNRESOLVED);
    }
    let socket = match target {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    };
    let socket = socket.map_err(|_| Failure::new(11, FailureKind::Connect))?;
    // `-os`. A socket that refuses an option works all the same.
    let _ = socket::apply(&SockRef::from(&socket), options);
    if let Some(address) = source.for_target(target.ip()) {
        let bound = socket.bind(SocketAddr::new(address, 0));
        bound.map_err(|_| Failure::new(12, FailureKind::Connect))?;
    }
    let unreachable = |_| Failure::new(13, FailureKind::Connect);
    let connecting = timeout(limit, socket.connect(target)).await;
    let stream = connecting.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())).map_err(unreachable)?;
    // A socket that refuses this works all the same.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use std::{net::IpAddr, time::Duration};

    use compiler::program::{Set, service::External};
    use tokio::net::TcpListener;

    use super::{Source, connect};

    fn source(v4: &str, v6: &str) -> Source {
        Source::of(External {
            v4: Set::default_to(v4.parse().unwrap()),
            v6: Set::default_to(v6.parse().unwrap()),
        })
    }

    const LIMIT: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn a_connection_comes_from_the_address_that_was_asked_for() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = listener.local_addr().unwrap();
        let mapped = format!("[::ffff:127.0.0.1]:{}", target.port()).parse().unwrap();
        let only = |address: &str| source("127.0.0.5", "::").only(address.parse().unwrap());
        for (target, source, expected) in [
            (target, source("0.0.0.0", "::"), "127.0.0.1"),
            (target, source("127.0.0.5", "::"), "127.0.0.5"),
            (mapped, source("127.0.0.5", "::"), "127.0.0.5"),
            (target, only("127.0.0.7"), "127.0.0.7"),
            (target, only("::ffff:127.0.0.7"), "127.0.0.7"),
        ] {
            let (connected, accepted) = tokio::join!(connect(target, source, None, LIMIT), listener.accept());
            assert_eq!(connected.unwrap().local_addr().unwrap().ip().to_string(), expected);
            assert_eq!(accepted.unwrap().1.ip().to_string(), expected);
        }
    }

    #[tokio::test]
    async fn each_way_to_fail_has_its_code() {
        let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let system = source("0.0.0.0", "::");
        for (target, source, code) in [
            ("0.0.0.0:80".parse().unwrap(), system, 100),
            ("[::]:80".parse().unwrap(), system, 100),
            ("[::ffff:0.0.0.0]:80".parse().unwrap(), system, 100),
            ("127.0.0.1:0".parse().unwrap(), system, 100),
            (closed, source("192.0.2.200", "::"), 12),
            (closed, system.only(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])), 12),
            (closed, system, 13),
        ] {
            let failure = connect(target, source, None, LIMIT).await.unwrap_err();
            assert_eq!(failure.code, code, "{target}: {failure}");
        }
    }
}
