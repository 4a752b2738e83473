//! Which host an address is: the name that DNS gives it, if the name leads back to it.
//!
//! Whoever holds a range of addresses may write any name behind them, so that name alone proves nothing: the holder of the name
//! has to agree. 3proxy compares the first address of the name only; a host with several is known here by each.
use std::net::IpAddr;

use compiler::program::resolve::{NameServer, Resolver as Settings};
use hickory_proto::rr::RecordType;
use moka::sync::Cache;

use super::{
    Flights, Kind, Resolver, server,
    wire::{self, reverse_name},
};
use crate::expiring::{self, Expiring};

/// The hosts of clients.
#[derive(Debug)]
pub(super) struct Hosts {
    /// `authnserver`, or else those that resolve all names.
    servers: Vec<NameServer>,
    /// As many as there may be names; `None`: nothing is remembered.
    cache: Option<Cache<IpAddr, Expiring<Box<str>>>>,
    flights: Flights<Box<str>>,
}

impl Hosts {
    pub(super) fn new(settings: &Settings) -> Self {
        let servers = match &settings.auth_server {
            Some(server) => vec![server.value],
            None => settings.servers.iter().map(|server| server.value).collect(),
        };
        let capacity = settings.cache.iter().chain(&settings.cache6).map(|cache| cache.value).max();
        let cache = capacity.filter(|&capacity| capacity > 0).map(expiring::cache);
        Self { servers, cache, flights: Flights::default() }
    }
}

impl Resolver {
    /// The host that `address` is; `None`: it has no name, the name is not its own, or nobody answered, which is not remembered.
    /// The system is never asked, as in 3proxy: without a name server no host is known.
    pub(crate) async fn host_of(&self, address: IpAddr) -> Option<Box<str>> {
        let hosts = &self.hosts;
        if let Some(known) = hosts.cache.as_ref().and_then(|cache| cache.get(&address)) {
            return Some(known.value);
        }
        let name = reverse_name(address);
        let found = hosts.flights.join(&name, self.find_host(&name, address)).await?;
        if let Some(cache) = &hosts.cache {
            cache.insert(address, found.clone());
        }
        Some(found.value)
    }

    async fn find_host(&self, reverse_name: &str, address: IpAddr) -> Option<Expiring<Box<str>>> {
        let asked = &self.hosts.servers;
        let (records, _) = server::ask(asked, reverse_name, RecordType::PTR, self.limit).await?;
        let host = wire::host(&records)?;
        let name = host.value.to_ascii_lowercase();
        let kind = if address.is_ipv6() { Kind::Aaaa } else { Kind::A };
        if let Some(record) = self.names(kind).records.get(&*name) {
            return (*record == address).then_some(host);
        }
        let (records, _) = server::ask(asked, &name, kind.record_type(), self.limit).await?;
        let own = wire::addresses(&records, kind).find(|own| own.value == address)?;
        Some(Expiring { lifetime: host.lifetime.min(own.lifetime), ..host })
    }
}
