//! The way through parents: which are drawn, and how each is asked for the next.
//!
//! An entry's parents stand in groups whose weights add up to 1000. One is drawn from each group, and the drawn ones form a chain.
//! Each attempt draws anew, so that a parent that fails is likely replaced. A group that ends short of 1000 leaves the rest to
//! nobody, and if nobody is drawn at all the request goes direct: that is what such a configuration says, and the compiler
//! refuses it unless it is told to let it pass.
use std::net::{IpAddr, SocketAddr};

use compiler::{
    program::acl::{Parent, ParentHost, ParentKind},
    table::Verdict,
    way::{self, Plan},
};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::{
    connect::{Source, connect},
    error::{Failure, FailureKind},
    random,
    session::{Ask, Credentials, ReuseKey, Route, Session, Upstream},
};

mod associate;
mod draw;
mod hop;

pub(crate) use associate::associate;
use hop::HopTarget;

/// Connects through the parents of the entry that decided, in at most [`way::attempts`].
///
/// # Errors
/// Those of the last attempt, with 3proxy's codes: as [`connect`] for the first parent, 3x for an HTTP parent, 4x for SOCKS 4,
/// 5x and 6x for SOCKS 5, 4 if a parent wants the client's credentials and there are none.
pub(crate) async fn open(
    session: &mut Session,
    ask: &Ask,
    target: SocketAddr,
    reuse: ReuseKey,
    verdict: Verdict,
    user: Option<&[u8]>,
) -> Result<Upstream, Failure> {
    let snapshot = std::sync::Arc::clone(&session.snapshot);
    let parents = snapshot.policy.parents(verdict);
    let client = client_credentials(ask.credentials.as_ref(), user);
    let mut failure = Failure::new(60, FailureKind::Parent);
    for _ in 0..way::attempts(&snapshot.program.process, session.service.kind) {
        let plan = Plan::draw(parents, random::below);
        session.record.hops += plan.hops.len() as u32;
        let request = HopTarget { name: Some(ask.target.to_string()), address: target };
        match attempt(session, &plan, request, client.as_ref()).await {
            Ok((stream, peer)) => {
                let route =
                    plan.hops.last().map_or(Ok(Route::Tunnel), |last| route(last, client.as_ref()))?;
                return Upstream::new(stream, route, peer, reuse, &mut session.record);
            }
            Err(last) => failure = last,
        }
    }
    Err(failure)
}

/// What a parent that wants the client's own credentials is told.
fn client_credentials(given: Option<&Credentials>, user: Option<&[u8]>) -> Option<Credentials> {
    let password = given.and_then(|credentials| credentials.password.clone());
    user.map(|user| Credentials { user: user.into(), password })
}

/// Connects to the first parent of the plan, or to the target if there is none, and asks each for the next.
async fn attempt(
    session: &mut Session,
    plan: &Plan<'_>,
    request: HopTarget,
    client: Option<&Credentials>,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let timeouts = session.snapshot.timeouts;
    let mut targets = Vec::with_capacity(plan.hops.len());
    for hop in &plan.hops {
        targets.push(place(session, hop).await?);
    }
    let first =
        targets.first().map_or(request.address, |first| first_address(first.address, request.address));
    session.record.peer = Some(first);
    let mut stream = dial(session, plan, first).await?;
    let behind = targets.into_iter().skip(1).chain([request]);
    for (hop, target) in plan.hops.iter().zip(behind) {
        if hop.wants_client_credentials() && client.is_none() {
            return Err(Failure::new(4, FailureKind::NotAuthenticated));
        }
        let credentials = credentials(hop, client);
        let negotiation = hop::negotiate(&mut stream, hop, &target, credentials.as_ref());
        timeout(timeouts.chain, negotiation)
            .await
            .unwrap_or_else(|_| Err(hop::failure(hop::timed_out(hop.kind))))?;
    }
    Ok((stream, first))
}

/// Where the plan comes from.
fn source(session: &Session, plan: &Plan<'_>) -> Source {
    let source = Source::of(session.service.settings.external);
    match plan.external {
        Some(external) => source.only(draw::external(external, session.client.ip())),
        None => source,
    }
}

/// Connects to where the plan begins, and says there who comes, if that is planned.
async fn dial(session: &Session, plan: &Plan<'_>, first: SocketAddr) -> Result<TcpStream, Failure> {
    let timeouts = session.snapshot.timeouts;
    let options = session.service.settings.options.server_socket.as_ref();
    let mut stream = connect(first, source(session, plan), options, timeouts.connect).await?;
    if plan.announces {
        let header = announcement(session.client, session.local);
        let sent = timeout(timeouts.chain, stream.write_all(header.as_bytes())).await;
        sent.map_err(|_| hop::failure(39))?.map_err(|_| Failure::new(39, FailureKind::Parent))?;
    }
    Ok(stream)
}

/// Where a parent is. Before it is reached itself, other parents are told its host as it is written.
async fn place(session: &Session, parent: &Parent) -> Result<HopTarget, Failure> {
    let (address, name) = match &parent.host {
        ParentHost::Address(address) | ParentHost::Prefix(address, _) => (*address, address.to_string()),
        ParentHost::Name(name) => {
            let name = name.to_string();
            let found = session.snapshot.resolver.lookup_parent(&name.to_ascii_lowercase()).await;
            (found.ok_or(Failure::UNRESOLVED)?, name)
        }
        // `cfgc run` refuses a configuration with one.
        ParentHost::Unix(_) => return Err(Failure::new(13, FailureKind::Connect)),
    };
    Ok(HopTarget { name: Some(name), address: SocketAddr::new(address, parent.port) })
}

/// What is connected to first: an address of zeros and a port of zero stand for those of the request.
fn first_address(parent: SocketAddr, request: SocketAddr) -> SocketAddr {
    let address = if parent.ip().is_unspecified() { request.ip() } else { parent.ip() };
    SocketAddr::new(address, if parent.port() == 0 { request.port() } else { parent.port() })
}

/// A PROXY protocol header, version 1.
fn announcement(client: SocketAddr, local: SocketAddr) -> String {
    let (family, local_ip) = match (client.ip(), local.ip()) {
        (IpAddr::V4(_), ip) => ("TCP4", ip),
        (IpAddr::V6(_), IpAddr::V4(ip)) => ("TCP6", ip.to_ipv6_mapped().into()),
        (IpAddr::V6(_), ip) => ("TCP6", ip),
    };
    format!("PROXY {family} {} {local_ip} {} {}\r\n", client.ip(), client.port(), local.port())
}

/// What a parent is told of who asks.
fn credentials(parent: &Parent, client: Option<&Credentials>) -> Option<Credentials> {
    if parent.wants_client_credentials() {
        return client.cloned();
    }
    parent
        .user
        .as_ref()
        .map(|user| Credentials { user: user.as_bytes().into(), password: parent.password.clone() })
}

/// How requests are written behind the last parent.
fn route(last: &Parent, client: Option<&Credentials>) -> Result<Route, Failure> {
    let mut credentials = credentials(last, client);
    if let (true, None, Some(credentials)) =
        (last.wants_client_credentials(), &last.password, credentials.as_mut())
    {
        // Only `* *` passes the password on.
        credentials.password = None;
    }
    Ok(match last.kind {
        ParentKind::Http => Route::HttpProxy(credentials),
        ParentKind::Tcp => Route::StandIn(credentials),
        _ => Route::Tunnel,
    })
}

#[cfg(test)]
mod tests;
