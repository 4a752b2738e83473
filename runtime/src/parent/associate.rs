//! The way through a parent for datagrams: only SOCKS 5 has one.
//!
//! A chain of parents has none. 3proxy asks the second parent on the connection on which the first one has granted an association,
//! which ends it: no datagram passes there either.
use std::net::{IpAddr, SocketAddr};

use compiler::{
    program::acl::Parent,
    table::Verdict,
    way::{self, Plan},
};
use tokio::time::timeout;

use super::{client_credentials, credentials, dial, first_address, hop, place, source};
use crate::{
    datagram::{self, Outlet},
    error::{Failure, FailureKind},
    random,
    session::{Credentials, Session},
};

/// A way for datagrams through the parents of the entry that decided, for a client that gave these credentials. `target` is where the
/// first of them goes: of what family it is, and what a parent with an address or a port of zeros stands for.
///
/// # Errors
/// As [`open`](super::open), and 70 where parents can't carry datagrams.
pub(crate) async fn associate(
    session: &mut Session,
    given: Option<&Credentials>,
    target: SocketAddr,
    verdict: Verdict,
    user: Option<&[u8]>,
) -> Result<Outlet, Failure> {
    let snapshot = std::sync::Arc::clone(&session.snapshot);
    let parents = snapshot.policy.parents(verdict);
    let client = client_credentials(given, user);
    let mut failure = Failure::new(60, FailureKind::Parent);
    for _ in 0..way::attempts(&snapshot.program.process, session.service.kind) {
        let plan = Plan::draw(parents, random::below);
        session.record.hops += plan.hops.len() as u32;
        let opened = match plan.hops.as_slice() {
            [] => direct(session, &plan, target.ip()),
            [parent] => through(session, &plan, parent, target, client.as_ref()).await,
            [first, ..] => {
                session.record.peer = Some(first_address(place(session, first).await?.address, target));
                Err(hop::failure(70))
            }
        };
        match opened {
            Ok(outlet) => return Ok(outlet),
            Err(last) => failure = last,
        }
    }
    Err(failure)
}

fn direct(session: &Session, plan: &Plan<'_>, target: IpAddr) -> Result<Outlet, Failure> {
    let (socket, external) = datagram::bind(target, source(session, plan))?;
    Ok(Outlet { socket, parent: None, peer: None, external })
}

async fn through(
    session: &mut Session,
    plan: &Plan<'_>,
    parent: &Parent,
    target: SocketAddr,
    client: Option<&Credentials>,
) -> Result<Outlet, Failure> {
    let first = first_address(place(session, parent).await?.address, target);
    session.record.peer = Some(first);
    if !hop::carries_datagrams(parent) {
        return Err(hop::failure(70));
    }
    if parent.wants_client_credentials() && client.is_none() {
        return Err(Failure::new(4, FailureKind::NotAuthenticated));
    }
    let mut stream = dial(session, plan, first).await?;
    let credentials = credentials(parent, client);
    let asking = hop::associate(&mut stream, parent, credentials.as_ref());
    let relay = timeout(session.snapshot.timeouts.chain, asking).await;
    let relay = relay.unwrap_or_else(|_| Err(hop::failure(hop::timed_out(parent.kind))))?;
    // A parent that listens everywhere names no address: it is where it was reached.
    let ip = if relay.ip().is_unspecified() { first.ip() } else { relay.ip() };
    let local = stream.local_addr().map_err(|_| Failure::new(15, FailureKind::Connect))?;
    // The parent expects the datagrams from where its client is.
    let socket = datagram::listen(SocketAddr::new(local.ip(), 0))?;
    let outlet = Outlet { socket, parent: Some(stream), peer: None, external: local.ip() };
    outlet.connect(SocketAddr::new(ip, relay.port())).await
}
