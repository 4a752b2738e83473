//! What a configuration asks of a host when all its services have as many connections as they may.
use std::sync::Arc;

use compiler::{
    program::{
        Program,
        auth::AuthType,
        log::LogTarget,
        resolve::ResolverMode,
        service::{Service, ServiceKind},
    },
    sources::Loc,
};

use crate::args::ServedBy;

/// Descriptors of a process that has no connection: standard streams, logs, the counter file, what the libraries open.
const OWN_DESCRIPTORS: u64 = 16;

/// What all services ask for, and each.
pub(crate) struct Load {
    pub(crate) services: Vec<Demand>,
    pub(crate) connections: u64,
    pub(crate) descriptors: u64,
    /// Threads: 3proxy has one for each connection and service.
    pub(crate) threads: u64,
}

/// What one service asks for.
pub(crate) struct Demand {
    pub(crate) service: Arc<Service>,
    /// At a time, at most.
    pub(crate) connections: u64,
    /// For each connection.
    pub(crate) descriptors: u64,
    /// Pipes of one connection.
    pub(crate) pipes: u64,
    /// Connections that wait to be accepted.
    pub(crate) backlog: u64,
}

impl Load {
    /// Adds up what `program` asks for.
    pub(crate) fn of(program: &Program, target: ServedBy) -> Self {
        let services: Vec<_> =
            program.services.iter().map(|service| Demand::of(program, service, target)).collect();
        let connections = services.iter().map(|demand| demand.connections).sum();
        let count = services.len() as u64;
        let descriptors = services.iter().map(|demand| demand.connections * demand.descriptors).sum::<u64>();
        let threads = if target == ServedBy::ThreeProxy { connections + count + 1 } else { 0 };
        Self { services, connections, descriptors: descriptors + count + OWN_DESCRIPTORS, threads }
    }

    /// The service that lets the most connections wait to be accepted. `None`: all take datagrams.
    pub(crate) fn accepting(&self) -> Option<&Demand> {
        self.most(|demand| demand.backlog).filter(|demand| demand.backlog > 0)
    }

    /// The service that asks for the most of something.
    pub(crate) fn most(&self, of: impl Fn(&Demand) -> u64) -> Option<&Demand> {
        // The first of equals.
        self.services.iter().rev().max_by_key(|demand| of(demand))
    }
}

impl Demand {
    fn of(program: &Program, service: &Arc<Service>, target: ServedBy) -> Self {
        let connections = u64::try_from(service.maxconn.value).unwrap_or(0);
        let pipes = if target == ServedBy::ThreeProxy { pipes(service) } else { 0 };
        let resolves = program.resolver.mode.value == ResolverMode::Servers;
        let asks_radius = target == ServedBy::ThreeProxy
            && (service.chain.value.iter().any(|step| step.kind == AuthType::Radius)
                || service.log.target.value == LogTarget::Radius);
        let sides = match service.kind {
            ServiceKind::Ftppr => 4,
            // Their clients share the socket that is listened on.
            kind if kind.takes_datagrams() => 1,
            _ => 2,
        };
        Self {
            connections,
            descriptors: sides + 2 * pipes + u64::from(resolves) + u64::from(asks_radius),
            pipes,
            backlog: match service.backlog.value {
                _ if service.kind.takes_datagrams() => 0,
                0 => 1 + connections / 8,
                backlog => u64::try_from(backlog).unwrap_or(0),
            },
            service: Arc::clone(service),
        }
    }

    /// The line that says how many connections, or else the service's.
    pub(crate) fn at(&self) -> Loc {
        self.service.maxconn.at.unwrap_or(self.service.at)
    }
}

/// A pipe for each direction that `-s` splices.
fn pipes(service: &Service) -> u64 {
    let mode = service.options.splice.map_or(0, |splice| splice.value.mode);
    u64::from(mode & 1 != 0) + u64::from(mode & 2 != 0)
}
