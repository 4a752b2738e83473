//! A service: a listener with the settings that were in force at its line.
mod kind;

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use grammar::Text;

use super::{
    Set,
    acl::AclRef,
    auth::{AuthCache, AuthType, Chain},
    log::ServiceLog,
    tls::Tls,
};
use crate::sources::Loc;
pub use kind::ServiceKind;

/// One service line, with its copy of the settings.
#[derive(Clone, Debug)]
pub struct Service {
    /// The line.
    pub at: Loc,
    /// What it speaks.
    pub kind: ServiceKind,
    /// Where it listens.
    pub listen: Listen,
    /// Source addresses of its outgoing connections.
    pub external: External,
    /// Its copy of the access list; `None`: empty, everything that got past authentication passes.
    pub acl: Option<AclRef>,
    /// Its authentication chain.
    pub chain: Chain,
    /// Its cache settings; `None`: no `authcache` line stood before it.
    pub auth_cache: Option<AuthCache>,
    /// Simultaneous connections; above it the service stops accepting.
    pub maxconn: Set<i32>,
    /// Listen backlog; 0: derived from `maxconn`.
    pub backlog: Set<i32>,
    /// Where its records go and how they look.
    pub log: ServiceLog,
    /// TLS settings in force.
    pub tls: Arc<Tls>,
    /// For port mappers: where to.
    pub target: Option<MappedTarget>,
    /// The rest of its options, one of each at most: what was given last counts.
    /// Most services have none: they share them.
    pub options: Arc<ServiceOptions>,
    /// `noforce` was not in force: running sessions are re-checked after a reload.
    pub force: Set<bool>,
}

impl Service {
    /// Whether it asks its access list: with `none` first in the chain every request passes before that.
    #[must_use]
    pub(crate) fn asks_list(&self) -> bool {
        self.chain.value.first().is_none_or(|step| step.kind != AuthType::None)
    }

    /// Whether its clients say where they want to: a port mapper's cannot.
    #[must_use]
    pub(crate) const fn asks_for_target(&self) -> bool {
        self.kind.has_target() && self.target.is_none()
    }

    /// Which addresses it uses: `-4`, `-6`, `-46`, `-64`.
    #[must_use]
    pub fn family(&self) -> Family {
        self.options.family.map_or(Family::Default, |family| family.value)
    }

    /// Whether it can learn the name of its client: with `-u` a SOCKS service asks for none, and takes none.
    #[must_use]
    pub(crate) fn learns_names(&self) -> bool {
        let is_mute = self.options.need_user.is_some_and(|need| need.value <= 0);
        self.kind.learns_names() && !(self.kind == ServiceKind::Socks && is_mute)
    }

    /// The access list that it asks. `None`: it asks none, or an empty one.
    #[must_use]
    pub(crate) fn asked_list(&self) -> Option<AclRef> {
        self.acl.filter(|_| self.asks_list())
    }

    /// The access list that decides who passes. `None`: it is empty, or some type lets everybody pass whom others refuse.
    #[must_use]
    pub(crate) fn deciding_list(&self) -> Option<AclRef> {
        self.acl.filter(|_| self.chain.value.iter().all(|step| step.kind != AuthType::None))
    }
}

/// Where a service listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// `-i`, or else `internal`; unspecified: every interface.
    pub address: Set<ListenAddress>,
    /// `-p`, the port mapper's first argument, or else the service's default.
    pub port: Set<u16>,
}

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// IP.
    Ip(IpAddr),
    /// A Unix socket; an abstract one starts with `@`.
    Unix(Text),
}

/// Which clients arrive at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arriving {
    /// Those with an IPv4 address. A Unix socket's count as such.
    V4,
    /// Those with an IPv6 address.
    V6,
    /// Those with an IPv4 address, in IPv6 form.
    Mapped,
    /// Of both families, those with an IPv4 address in IPv6 form.
    Both,
}

impl ListenAddress {
    /// Which clients arrive at it.
    #[must_use]
    pub(crate) fn arriving(&self) -> Arriving {
        match self {
            Self::Ip(IpAddr::V6(address)) if address.is_unspecified() => Arriving::Both,
            Self::Ip(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => Arriving::Mapped,
            Self::Ip(IpAddr::V6(_)) => Arriving::V6,
            Self::Ip(IpAddr::V4(_)) | Self::Unix(_) => Arriving::V4,
        }
    }
}

/// Source addresses of outgoing connections: `-e`, or else `external`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct External {
    /// For IPv4.
    pub v4: Set<Ipv4Addr>,
    /// For IPv6.
    pub v6: Set<Ipv6Addr>,
}

/// A port mapper's target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedTarget {
    /// Name or address.
    pub host: Text,
    /// Port.
    pub port: u16,
    /// The words.
    pub at: Loc,
}

/// `-4`, `-6`, `-46`, `-64`: which addresses of a name are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Family {
    /// Without the option: IPv4 only.
    #[default]
    Default,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
    /// IPv4, then IPv6.
    V4ThenV6,
    /// IPv6, then IPv4.
    V6ThenV4,
}

/// Service options beyond address and port. `None`: not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// `-4`, `-6`, `-46`, `-64`.
    pub family: Option<Set<Family>>,
    /// `-a`: 1 + its number; how much of the client the proxy hides.
    pub anonymous: Option<Set<i32>>,
    /// `-u`: the user name is needed (`-u` → 0, `-u2` → 2).
    pub need_user: Option<Set<i32>>,
    /// `-b`: buffer size in bytes.
    pub buffer_size: Option<Set<i32>>,
    /// `-C`: half-closed connections are kept (1, default) or not (0).
    pub half_close: Option<Set<i32>>,
    /// `-g`.
    pub grace: Option<Set<Grace>>,
    /// `-s` of a TCP service.
    pub splice: Option<Set<Splice>>,
    /// `-s` of a UDP service or of `admin`.
    pub single: Option<Set<i32>>,
    /// `-U`: re-authorization and logging of UDP datagrams.
    pub udp_auth: Option<Set<i32>>,
    /// `-H`: a PROXY protocol header is expected.
    pub proxy_protocol: Option<Loc>,
    /// `-t`: start and stop are not logged.
    pub silent: Option<Loc>,
    /// `-T`: transparent.
    pub transparent: Option<Loc>,
    /// `-x`: no STARTTLS.
    pub no_starttls: Option<Loc>,
    /// `-X`: STARTTLS for this protocol.
    pub server_starttls: Option<Set<Text>>,
    /// `-d`: to the background.
    pub daemon: Option<Loc>,
    /// `-c`: client certificate required.
    pub require_certificate: Option<Set<i32>>,
    /// `-P`: the port to connect to when the client names none.
    pub target_port: Option<Set<u16>>,
    /// `-h`: default host of a mail or FTP proxy.
    pub default_host: Option<Set<Text>>,
    /// `-r`: connects back to this address to take clients.
    pub connect_back: Option<Set<Text>>,
    /// `-R`: listens here for servers that connect back.
    pub connect_back_listen: Option<Set<Text>>,
    /// `-Di`: the listening socket's interface.
    pub listen_device: Option<Set<Text>>,
    /// `-De`: the outgoing socket's interface.
    pub external_device: Option<Set<Text>>,
    /// `-ni`: network namespace of the listening socket.
    pub listen_namespace: Option<Set<Text>>,
    /// `-ne`: network namespace of outgoing sockets.
    pub external_namespace: Option<Set<Text>>,
    /// `-Ni`: the address that clients see.
    pub internal_nat: Option<Set<IpAddr>>,
    /// `-Ne` or `-N`: the address that servers see.
    pub external_nat: Option<Set<IpAddr>>,
    /// `-F`: `dnspr` answers with this address.
    pub fake_answer: Option<Set<IpAddr>>,
    /// `-S`: stack size, added to 3proxy's base; the runtime has no use for it.
    pub stack_size: Option<Set<i32>>,
    /// `-ol`: options of the listening socket.
    pub listen_socket: Option<Set<SocketOptions>>,
    /// `-oc`: options of the clients' sockets.
    pub client_socket: Option<Set<SocketOptions>>,
    /// `-os`: options of the servers' sockets.
    pub server_socket: Option<Set<SocketOptions>>,
    /// `-or`, `-oR`: options of connect-back sockets.
    pub connect_back_socket: Option<Set<SocketOptions>>,
}

pub use grammar::value::{Grace, SocketOptions, Splice};
