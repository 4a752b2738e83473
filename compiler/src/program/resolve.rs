//! Name resolution: servers, cache, static records.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use grammar::Text;

use super::Set;
use crate::sources::Loc;

/// The port of name servers.
pub(crate) const DNS_PORT: u16 = 53;

/// How names are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolver {
    /// `nserver`, the first five: the others are ignored.
    pub servers: Vec<Set<NameServer>>,
    /// `nserver` lines beyond the fifth.
    pub ignored_servers: Vec<Loc>,
    /// `authnserver`.
    pub auth_server: Option<Set<NameServer>>,
    /// `nscache`: entries for IPv4.
    pub cache: Option<Set<u32>>,
    /// `nscache6`: entries for IPv6.
    pub cache6: Option<Set<u32>>,
    /// `nsrecord`, in order.
    pub records: Vec<StaticRecord>,
    /// Which resolver is in force at the end.
    pub mode: Set<ResolverMode>,
    /// `dialer`: a command to run when a name does not resolve.
    pub dialer: Option<Set<Text>>,
}

impl Resolver {
    /// At most this many `nserver` lines count.
    pub(crate) const MOST_SERVERS: usize = 5;
    /// What every name is behind `fakeresolve`, where an IPv4 address is wanted.
    pub const FAKE_V4: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
    /// And where an IPv6 address is.
    pub const FAKE_V6: Ipv6Addr = Ipv6Addr::from_bits(2);
}

/// Who resolves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolverMode {
    /// The system.
    #[default]
    System,
    /// The name servers given.
    Servers,
    /// `fakeresolve`: every name is 127.0.0.2.
    Fake,
}

/// A name server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameServer {
    /// Address and port.
    pub address: SocketAddr,
    /// `/tcp`.
    pub tcp: bool,
}

/// `nsrecord NAME ADDRESS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticRecord {
    /// The line.
    pub at: Loc,
    /// Name as written.
    pub name: Text,
    /// Its address; 0.0.0.0: the name never resolves.
    pub address: IpAddr,
    /// No `nscache` (or `nscache6`) stood before it, so 3proxy keeps it nowhere.
    pub before_cache: bool,
}
