//! Whether those answer whom the configuration relies on: parents, name servers, RADIUS servers.
mod ask;
#[cfg(test)]
mod tests;

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::Mutex,
    time::{Duration, Instant},
};

use compiler::{
    finding::Level,
    program::{
        Program,
        acl::{Parent, ParentHost, ParentKind},
        auth::AuthType,
        log::LogTarget,
        resolve::{NameServer, ResolverMode},
    },
    sources::Loc,
};
use grammar::Secret;

use super::{
    checks::NO_ANSWER,
    examination::{Diagnosis, Examination},
};

/// One answer may take so long.
const PATIENCE: Duration = Duration::from_secs(3);
/// All of them may take so long.
const ALL: Duration = Duration::from_secs(30);
/// How many are asked at a time.
const AT_A_TIME: usize = 32;

/// Somebody who should answer.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Peer {
    /// A parent, by address.
    Address(SocketAddr),
    /// A parent, by name.
    Name(String, u16),
    /// A name server.
    Names(NameServer),
    /// A RADIUS server and the secret that is shared with it.
    Radius(SocketAddr, Secret),
}

impl Peer {
    /// What it is, for people.
    fn describe(&self) -> String {
        match self {
            Self::Address(address) => format!("the parent `{address}`"),
            Self::Name(name, port) => format!("the parent `{name}:{port}`"),
            Self::Names(server) => format!("the name server `{}`", server.address),
            Self::Radius(address, _) => format!("the RADIUS server `{address}`"),
        }
    }

    /// # Errors
    /// Why there is no answer.
    fn ask(&self) -> Result<(), String> {
        match self {
            Self::Address(address) => ask::connect(*address, PATIENCE),
            Self::Name(name, port) => ask::connect_name(name, *port, PATIENCE),
            Self::Names(server) => ask::name_server(*server, PATIENCE),
            Self::Radius(address, secret) => ask::radius(*address, secret, PATIENCE),
        }
    }
}

pub(super) fn examine(examination: &mut Examination<'_>) {
    let peers = peers(examination.subject.program);
    let end = Instant::now() + ALL;
    let left = Mutex::new(peers.into_iter());
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                while let Some((peer, at)) = left.lock().ok().and_then(|mut left| left.next()) {
                    let answer = (Instant::now() < end).then(|| peer.ask());
                    if let Ok(mut done) = done.lock() {
                        done.push((peer, at, answer));
                    }
                }
            });
        }
    });
    for (peer, at, answer) in done.into_inner().unwrap_or_default() {
        match answer {
            None => examination.unchecked(
                &NO_ANSWER,
                format!("{} was not asked: the others took too long", peer.describe()),
            ),
            Some(Ok(())) => {}
            Some(Err(why)) => {
                let message = format!("{} does not answer: {why}", peer.describe());
                examination
                    .found(Diagnosis::new(&NO_ANSWER, Level::Warn, at, message).values(why, "an answer"));
            }
        }
    }
}

/// All who should answer, each once, with the first place that names it.
fn peers(program: &Program) -> Vec<(Peer, Loc)> {
    let mut peers = Vec::new();
    let mut add = |peer: Peer, at: Loc| peers.push((peer, at));
    for parent in &program.acls.parents {
        if let Some(peer) = parent_peer(parent) {
            add(peer, parent.at);
        }
    }
    if program.resolver.mode.value == ResolverMode::Servers {
        for server in &program.resolver.servers {
            add(Peer::Names(server.value), server.at.unwrap_or_default());
        }
    }
    if let Some(server) = &program.resolver.auth_server {
        add(Peer::Names(server.value), server.at.unwrap_or_default());
    }
    let asks_radius = program.services.iter().any(|service| {
        service.chain.value.iter().any(|step| step.kind == AuthType::Radius)
            || service.log.target.value == LogTarget::Radius
    });
    if let Some(radius) = program.radius.as_ref().filter(|_| asks_radius) {
        for server in &radius.servers {
            add(Peer::Radius(server.address, radius.secret.clone()), radius.at);
        }
    }
    let mut met = HashMap::new();
    peers.retain(|(peer, _)| met.insert(peer.clone(), ()).is_none());
    peers
}

/// A parent with an address of its own; Unix sockets and what is no hop are left out.
fn parent_peer(parent: &Parent) -> Option<Peer> {
    if parent.kind == ParentKind::ExternalAddress || parent.port == 0 {
        return None;
    }
    match &parent.host {
        ParentHost::Address(address) if !address.is_unspecified() => {
            Some(Peer::Address(SocketAddr::new(*address, parent.port)))
        }
        ParentHost::Name(name) => Some(Peer::Name(name.to_str()?.to_owned(), parent.port)),
        ParentHost::Address(_) | ParentHost::Prefix(..) | ParentHost::Unix(_) => None,
    }
}
