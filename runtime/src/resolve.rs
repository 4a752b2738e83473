//! Names to addresses: static records, a cache, name servers or the system.
//!
//! Names are compared without regard to case; the caller gives them in lower case and without a trailing dot.
//! However many sessions ask for one name at a time, one query is sent. Absent names are not remembered, as in 3proxy.
use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use compiler::program::{
    resolve::{self, NameServer, ResolverMode},
    service::Family,
};
use moka::sync::Cache;
use tokio::time::Instant;

use crate::{
    expiring::{self, Expiring},
    protocol::dns,
};

mod flight;
mod reverse;
mod server;
mod wire;

use flight::Flights;
pub(crate) use wire::{Kind, reverse_name};

/// Resolves names as one configuration says.
#[derive(Debug)]
pub(crate) struct Resolver {
    mode: ResolverMode,
    servers: Vec<NameServer>,
    /// How long a name server may take.
    limit: Duration,
    v4: Names,
    v6: Names,
    hosts: reverse::Hosts,
}

/// What is known of one family.
#[derive(Debug)]
struct Names {
    records: HashMap<Box<str>, IpAddr>,
    /// `None`: without an `nscache` line nothing is remembered.
    cache: Option<Cache<Box<str>, Expiring<Kept>>>,
    flights: Flights<(Option<IpAddr>, Option<SocketAddr>)>,
}

/// An address, and when it is to be forgotten.
#[derive(Clone, Copy, Debug)]
struct Kept {
    address: IpAddr,
    until: Instant,
}

/// An address that a name has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The address.
    pub(crate) address: IpAddr,
    /// How long that holds.
    pub(crate) lifetime: Duration,
    /// The name server that was asked for it now.
    pub(crate) server: Option<SocketAddr>,
}

/// What records, the cache and the name servers say of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    /// It has this address.
    Address(Found),
    /// It has none, or the servers can't tell.
    Nothing,
    /// No server answers.
    Unanswered,
}

impl Said {
    fn address(self) -> Option<IpAddr> {
        match self {
            Self::Address(found) => Some(found.address),
            Self::Nothing | Self::Unanswered => None,
        }
    }
}

/// A static record holds for ever; who is told of it may remember it for so long.
const STATIC: Duration = Duration::from_secs(3600);

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// It has this address. All zeros (`nsrecord NAME 0.0.0.0`) is one that is compared with rules and never connected to.
    Address(IpAddr),
    /// It has none, or nobody answered.
    Nothing,
}

impl Resolver {
    /// The resolver of a configuration; `limit` bounds what a name server may take to answer.
    #[must_use]
    pub(crate) fn new(settings: &compiler::program::resolve::Resolver, limit: Duration) -> Self {
        let names = |v6: bool, capacity: Option<u32>| {
            // 3proxy has nowhere to keep a record that stands before the cache.
            let kept = settings
                .records
                .iter()
                .filter(|record| !record.before_cache && record.address.is_ipv6() == v6);
            Names {
                records: kept
                    .map(|record| (record.name.to_string().to_ascii_lowercase().into(), record.address))
                    .collect(),
                cache: capacity.filter(|&capacity| capacity > 0).map(expiring::cache),
                flights: Flights::default(),
            }
        };
        Self {
            mode: settings.mode.value,
            servers: settings.servers.iter().map(|server| server.value).collect(),
            limit,
            v4: names(false, settings.cache.map(|cache| cache.value)),
            v6: names(true, settings.cache6.map(|cache| cache.value)),
            hosts: reverse::Hosts::new(settings),
        }
    }

    /// An address of `name`, by the families that a service uses and in their order.
    pub(crate) async fn lookup(&self, name: &str, family: Family) -> Resolved {
        for &kind in kinds(family) {
            if let Some(address) = self.lookup_kind(name, kind).await {
                return Resolved::Address(address);
            }
        }
        Resolved::Nothing
    }

    /// The same, but never a made-up address: for parents, which `fakeresolve` must not turn into 127.0.0.2.
    pub(crate) async fn lookup_parent(&self, name: &str) -> Option<IpAddr> {
        for kind in [Kind::A, Kind::Aaaa] {
            let found = match self.mode {
                ResolverMode::Fake if self.servers.is_empty() => self.by_system(name, kind).await,
                ResolverMode::Fake | ResolverMode::Servers => self.by_servers(name, kind).await.address(),
                ResolverMode::System => self.by_system(name, kind).await,
            };
            if let Some(address) = found.filter(|address| !address.is_unspecified()) {
                return Some(address);
            }
        }
        None
    }

    async fn lookup_kind(&self, name: &str, kind: Kind) -> Option<IpAddr> {
        match self.mode {
            ResolverMode::System => self.by_system(name, kind).await,
            ResolverMode::Servers => self.by_servers(name, kind).await.address(),
            ResolverMode::Fake => Some(match kind {
                Kind::A => resolve::Resolver::FAKE_V4.into(),
                Kind::Aaaa => resolve::Resolver::FAKE_V6.into(),
            }),
        }
    }

    /// Whether there is a name server to ask.
    pub(crate) const fn has_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    /// What the name servers say to a client's query, and which of them. Nothing of it is remembered.
    pub(crate) async fn forward(&self, query: &dns::Query) -> Option<(dns::Reply, SocketAddr)> {
        server::forward(&self.servers, query, self.limit).await
    }

    /// By static records, the cache and the name servers, whoever else resolves names here.
    pub(crate) async fn by_servers(&self, name: &str, kind: Kind) -> Said {
        let names = self.names(kind);
        if let Some(&address) = names.records.get(name) {
            return Said::Address(Found { address, lifetime: STATIC, server: None });
        }
        if let Some(Expiring { value: Kept { address, until }, .. }) =
            names.cache.as_ref().and_then(|cache| cache.get(name))
        {
            let lifetime = until.saturating_duration_since(Instant::now());
            return Said::Address(Found { address, lifetime, server: None });
        }
        let ask = async {
            let (records, server) = server::ask(&self.servers, name, kind.record_type(), self.limit).await?;
            let found = wire::addresses(&records, kind).next();
            let lifetime = found.as_ref().map_or(Duration::ZERO, |found| found.lifetime);
            Some(Expiring { value: (found.map(|found| found.value), server), lifetime })
        };
        let Some(Expiring { value: (address, server), lifetime }) = names.flights.join(name, ask).await
        else {
            return Said::Unanswered;
        };
        let Some(address) = address else { return Said::Nothing };
        if let Some(cache) = &names.cache {
            let value = Kept { address, until: Instant::now() + lifetime };
            cache.insert(name.into(), Expiring { value, lifetime });
        }
        Said::Address(Found { address, lifetime, server })
    }

    /// The system's answer says nothing of how long it holds, so it is not kept.
    async fn by_system(&self, name: &str, kind: Kind) -> Option<IpAddr> {
        let ask = async {
            let mut found = tokio::net::lookup_host((name, 0)).await.ok()?.map(|address| address.ip());
            let address = found.find(|address| address.is_ipv6() == (kind == Kind::Aaaa))?;
            Some(Expiring { value: (Some(address), None), lifetime: Duration::ZERO })
        };
        self.names(kind).flights.join(name, ask).await?.value.0
    }

    const fn names(&self, kind: Kind) -> &Names {
        match kind {
            Kind::A => &self.v4,
            Kind::Aaaa => &self.v6,
        }
    }
}

const fn kinds(family: Family) -> &'static [Kind] {
    match family {
        Family::Default | Family::V4 => &[Kind::A],
        Family::V6 => &[Kind::Aaaa],
        Family::V4ThenV6 => &[Kind::A, Kind::Aaaa],
        Family::V6ThenV4 => &[Kind::Aaaa, Kind::A],
    }
}

#[cfg(test)]
mod tests;
