//! What one log record says: a field for every `%` letter of a format.
use std::net::{IpAddr, SocketAddr};

use compiler::program::service::ServiceKind;
use tokio::time::Instant;

/// What a request's log record will say. Fields that were never set print as 3proxy prints them: `-`, `0.0.0.0`, `0`.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// When the request began: `%D` and the rates `%b`, `%B` count from here.
    pub started: Instant,
    /// 3proxy's result code: `%E`.
    pub code: u16,
    /// User name: `%U`.
    pub user: Option<Box<[u8]>>,
    /// Which protocol was spoken: `%N`. A service sets it when it knows better than its kind: [`Protocol::Socks5`].
    pub protocol: Protocol,
    /// Target name, as the client gave it: `%n`. Without one, `%n` shows the target's address in brackets.
    pub host: Option<Box<[u8]>>,
    /// Target address, as given or as resolved: `%Q`.
    pub target: Option<IpAddr>,
    /// Target port: `%q`.
    pub target_port: u16,
    /// Source address of the outgoing connection: `%e`.
    pub external: Option<IpAddr>,
    /// Who was connected, the target or the first parent: `%R`, `%r`.
    pub peer: Option<SocketAddr>,
    /// The client: `%C`, `%c`.
    pub client: SocketAddr,
    /// Where the client connected to: `%i`.
    pub local: SocketAddr,
    /// The port that the service is configured with: `%p`.
    pub service_port: u16,
    /// Parents that the request went through: `%h`.
    pub hops: u32,
    /// Bytes from the client to the server: `%O`.
    pub from_client: u64,
    /// Bytes from the server to the client: `%I`.
    pub from_server: u64,
    /// Reads and writes of the relay: `%L`.
    pub cycles: u64,
    /// What was asked for: `%T`, `%1-3T`.
    pub text: Vec<u8>,
    /// The entry that decided says `nolog`: nothing is written.
    pub nolog: bool,
}

impl Record {
    /// The record of a connection from `client` to `local`, on a service of `kind` with the port `service_port`.
    #[must_use]
    pub(crate) fn new(kind: ServiceKind, service_port: u16, client: SocketAddr, local: SocketAddr) -> Self {
        Self::blank(kind.into(), service_port, client, local)
    }

    /// Begins to count anew, of the same request.
    pub(crate) fn restart(&mut self) {
        self.started = Instant::now();
        (self.code, self.from_client, self.from_server, self.cycles) = (0, 0, 0, 0);
    }

    /// A fresh record for the next request on the same connection: it keeps where the connection is from and to, and nothing else.
    #[must_use]
    pub(crate) fn next(&self) -> Self {
        Self::blank(self.protocol, self.service_port, self.client, self.local)
    }

    fn blank(protocol: Protocol, service_port: u16, client: SocketAddr, local: SocketAddr) -> Self {
        Self {
            started: Instant::now(),
            code: 0,
            user: None,
            protocol,
            host: None,
            target: None,
            target_port: 0,
            external: None,
            peer: None,
            client,
            local,
            service_port,
            hops: 0,
            from_client: 0,
            from_server: 0,
            cycles: 0,
            text: Vec::new(),
            nolog: false,
        }
    }
}

/// What a service was found to speak, by the name that 3proxy logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// A `proxy` service.
    Proxy,
    /// A `tcppm` service.
    Tcppm,
    /// A `udppm` service.
    Udppm,
    /// A `socks` service before the client's first byte.
    Socks,
    /// SOCKS 4 or 4a.
    Socks4,
    /// SOCKS 5.
    Socks5,
    /// A `tlspr` service.
    Tlspr,
    /// An `auto` service before it found out.
    Auto,
    /// A `pop3p` service.
    Pop3p,
    /// An `imapp` service.
    Imapp,
    /// An `smtpp` service.
    Smtpp,
    /// An `ftppr` service.
    Ftppr,
    /// An `admin` service.
    Admin,
    /// A `dnspr` service.
    Dnspr,
}

impl Protocol {
    /// As `%N` prints it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proxy => "PROXY",
            Self::Tcppm => "TCPPM",
            Self::Udppm => "UDPPM",
            Self::Socks => "SOCKS",
            Self::Socks4 => "SOCK4",
            Self::Socks5 => "SOCK5",
            Self::Tlspr => "TLSPR",
            Self::Auto => "AUTO",
            Self::Pop3p => "POP3P",
            Self::Imapp => "IMAPP",
            Self::Smtpp => "SMTPP",
            Self::Ftppr => "FTPPR",
            Self::Admin => "ADMIN",
            Self::Dnspr => "DNSPR",
        }
    }
}

impl From<ServiceKind> for Protocol {
    fn from(kind: ServiceKind) -> Self {
        match kind {
            ServiceKind::Proxy => Self::Proxy,
            ServiceKind::Socks => Self::Socks,
            ServiceKind::Tcppm => Self::Tcppm,
            ServiceKind::Udppm => Self::Udppm,
            ServiceKind::Tlspr => Self::Tlspr,
            ServiceKind::Auto => Self::Auto,
            ServiceKind::Pop3p => Self::Pop3p,
            ServiceKind::Imapp => Self::Imapp,
            ServiceKind::Smtpp => Self::Smtpp,
            ServiceKind::Ftppr => Self::Ftppr,
            ServiceKind::Admin => Self::Admin,
            ServiceKind::Dnspr => Self::Dnspr,
        }
    }
}
