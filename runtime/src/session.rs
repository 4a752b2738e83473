//! One client, from its first byte to its log record.
//!
//! A service reads what the client asks for, makes an [`Ask`] of it, and gives it to [`Session::open`]: that resolves the name,
//! authenticates, authorizes, and connects, directly or through parents. What comes back is an [`Upstream`] to talk to, or the
//! [`Failure`] to answer with. Each phase's memory ends with it: nothing of a handshake is alive while the relay runs.
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use compiler::program::acl::Operation;
use tokio::net::TcpStream;

use crate::{error::Failure, log::Record, snapshot::{ServicePolicy, Snapshot}};

/// What a client asks for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// The name and password that it gave.
    pub credentials: Option<Credentials>,
    /// The target as the client named it.
    pub target: TargetName,
    /// The target's port.
    pub port: u16,
    /// What is to be done there.
    pub operation: Operation,
}

/// What a client gave as its name and password. The password never prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// User name.
    pub user: Box<[u8]>,
    /// Password, if it gave one.
    pub password: Option<grammar::Secret>,
}

/// A target as the client named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// By address. An IPv4-mapped IPv6 address is taken for the IPv4 address that it is.
    Address(IpAddr),
    /// By name: lower case, without a trailing dot, no byte that a host name can't have.
    Name(Box<str>),
}

/// A connection towards the target, ready for the client's bytes.
#[derive(Debug)]
pub struct Upstream {
    /// The socket.
    pub stream: TcpStream,
    /// How requests are to be written on it.
    pub route: Route,
    /// The source address in use.
    pub external: SocketAddr,
    /// The peer: the target, or the first parent.
    pub peer: SocketAddr,
    /// Which redirecting entry led here and with which user, so that a kept-alive connection is used again only for requests
    /// that would be routed the same way.
    pub reuse: ReuseKey,
}

/// How requests are to be written on an upstream connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Route {
    /// The bytes reach the target as they are: direct, or through a tunnel.
    Tunnel,
    /// The peer is an HTTP proxy: absolute URIs, and these credentials.
    HttpProxy(Option<Credentials>),
    /// The peer stands in for the target (`parent tcp`): origin form, and these credentials as `Authorization`.
    StandIn(Option<Credentials>),
}

/// What must be equal for a connection to serve another request of the same client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReuseKey {
    /// Target and port.
    pub target: (TargetName, u16),
    /// The entry that decided.
    pub entry: Option<compiler::program::acl::AceId>,
    /// The user.
    pub user: Option<Box<[u8]>>,
}

/// One client connection.
#[derive(Debug)]
pub struct Session {
    /// The configuration that it began under.
    pub snapshot: Arc<Snapshot>,
    /// Its service.
    pub service: Arc<ServicePolicy>,
    /// The client's address.
    pub client: SocketAddr,
    /// The address that it connected to.
    pub local: SocketAddr,
    /// What its log record will say. A service with several requests on a connection takes a fresh one for each.
    pub record: Record,
}

impl Session {
    /// Resolves, authenticates, authorizes and connects, and notes in the record what was decided.
    ///
    /// # Errors
    /// The [`Failure`] to answer and to log.
    pub async fn open(&mut self, ask: &Ask) -> Result<Upstream, Failure> {
        crate::authorize::open(self, ask).await
    }

    /// The same decision without connecting: for a request on a connection that is already open.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn permit(&mut self, ask: &Ask) -> Result<ReuseKey, Failure> {
        crate::authorize::permit(self, ask).await
    }
}
