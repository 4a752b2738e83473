//! Datagrams: an echo server that tells what it saw, and a client of SOCKS5 UDP ASSOCIATE.
use std::{
    io::{self, Read},
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use super::{
    DEADLINE,
    client::{Login, socks5_exchange},
};

/// The longest datagram.
const LONGEST: usize = 65_535;
/// The time without an answer after which a datagram that may have been dropped is sent again.
const AGAIN: Duration = Duration::from_millis(20);

/// A socket on loopback whose reads give up after the deadline.
#[track_caller]
pub(crate) fn socket(ip: &str) -> UdpSocket {
    let socket = UdpSocket::bind((ip, 0)).unwrap();
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket
}

/// The next datagram that comes in.
#[track_caller]
pub(crate) fn received(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut bytes = vec![0; LONGEST];
    let (length, from) = socket.recv_from(&mut bytes).expect("a datagram comes");
    bytes.truncate(length);
    (bytes, from)
}

/// A server that sends back what it gets, until the test process ends.
pub(crate) struct Echo {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<(SocketAddr, Vec<u8>)>>>,
}

impl Echo {
    pub(crate) fn at(ip: &str) -> Self {
        let socket = UdpSocket::bind((ip, 0)).unwrap();
        let echo = Self { address: socket.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&echo.seen);
        std::thread::spawn(move || {
            let mut bytes = vec![0; LONGEST];
            while let Ok((length, from)) = socket.recv_from(&mut bytes) {
                seen.lock().unwrap().push((from, bytes[..length].into()));
                // A client that goes away is the test's business.
                let _ = socket.send_to(&bytes[..length], from);
            }
        });
        echo
    }

    /// Where it is.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What was sent to it, and from where.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Vec<(SocketAddr, Vec<u8>)>> {
        self.seen.lock().unwrap()
    }

    /// How many bytes were sent to it.
    pub(crate) fn bytes(&self) -> usize {
        self.seen().iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

/// An association, and the socket that its client sends from.
pub(crate) struct Association {
    control: TcpStream,
    socket: UdpSocket,
    relay: SocketAddr,
}

impl Association {
    /// Asks for one, or says the code that refuses it.
    #[track_caller]
    pub(crate) fn open(proxy: SocketAddr, login: Login<'_>) -> Result<Self, u8> {
        let (control, relay) = socks5_exchange(proxy, &[5, 3, 0, 1, 0, 0, 0, 0, 0, 0], login)?;
        Ok(Self { control, socket: socket("127.0.0.1"), relay })
    }

    /// Where the service takes its datagrams.
    pub(crate) fn relay(&self) -> SocketAddr {
        self.relay
    }

    #[track_caller]
    pub(crate) fn send(&self, to: SocketAddr, payload: &[u8]) {
        self.socket.send_to(&datagram(to, payload), self.relay).unwrap();
    }

    /// The next payload that comes back, and from where.
    #[track_caller]
    pub(crate) fn received(&self) -> (SocketAddr, Vec<u8>) {
        let (bytes, from) = received(&self.socket);
        assert_eq!(from, self.relay);
        assert_eq!(bytes[..4], [0, 0, 0, 1], "of IPv4, and whole");
        let ip: [u8; 4] = bytes[4..8].try_into().unwrap();
        let port = u16::from_be_bytes([bytes[8], bytes[9]]);
        ((IpAddr::from(ip), port).into(), bytes[10..].into())
    }

    /// This comes back, and nothing came before it.
    #[track_caller]
    pub(crate) fn echoes(&self, to: SocketAddr, payload: &[u8]) {
        self.send(to, payload);
        assert!(self.received() == (to, payload.into()), "something else came back");
    }

    /// Sends this again and again until it comes back, and says how many bytes of other payloads came before it.
    #[track_caller]
    pub(crate) fn insists(&self, to: SocketAddr, payload: &[u8]) -> usize {
        let (begun, mut before) = (Instant::now(), 0);
        self.socket.set_read_timeout(Some(AGAIN)).unwrap();
        let mut bytes = vec![0; LONGEST];
        while begun.elapsed() < DEADLINE {
            self.send(to, payload);
            match self.socket.recv(&mut bytes) {
                Ok(length) if bytes[10..length] == *payload => {
                    self.socket.set_read_timeout(Some(DEADLINE)).unwrap();
                    return before;
                }
                Ok(length) => before += length - 10,
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        panic!("nothing comes back");
    }

    /// Hangs up, and leaves the socket that it sent from.
    pub(crate) fn hang_up(self) -> UdpSocket {
        self.socket
    }

    /// The service hangs up.
    #[track_caller]
    pub(crate) fn ends(mut self) {
        assert_eq!(self.control.read(&mut [0]).expect("the connection ends"), 0);
    }
}

/// Waits until nobody has this address.
#[track_caller]
pub(crate) fn comes_free(address: SocketAddr) {
    let begun = Instant::now();
    while UdpSocket::bind(address).is_err() {
        assert!(begun.elapsed() < DEADLINE, "{address} is in use");
        std::thread::yield_now();
    }
}

/// A payload with its destination before it.
pub(crate) fn datagram(to: SocketAddr, payload: &[u8]) -> Vec<u8> {
    let IpAddr::V4(ip) = to.ip() else { panic!("{to} is not of IPv4") };
    [&[0, 0, 0, 1][..], &ip.octets(), &to.port().to_be_bytes(), payload].concat()
}
