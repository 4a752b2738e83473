//! Who the client is: one type of an authentication chain after the other.
//!
//! The chain is walked by [`compiler::chain`], since what a type found out is judged by the access list before the next type is
//! tried. A type says who the client is, or fails with 3proxy's code.
use std::net::IpAddr;

use compiler::{
    chain::Identity,
    code::Code,
    program::{
        acl::AclRef,
        auth::{AuthCache, AuthType},
    },
};

use crate::{
    session::{Ask, Session},
    snapshot::Snapshot,
};

pub mod cache;
mod password;

use cache::{Flight, Key, Known, Subject};

/// Who the client is by one type, or the code with which it fails.
pub(crate) async fn identify(kind: AuthType, session: &Session, ask: &Ask) -> Result<Identity, Code> {
    let known = |name: &[u8]| Ok(Identity::User { name: name.into(), fresh: true });
    let credentials = ask.credentials.as_ref();
    match kind {
        AuthType::None => Ok(Identity::Unchecked),
        AuthType::IpOnly => Ok(Identity::Hidden),
        AuthType::UserOnly => known(&credentials.ok_or(Code::NO_USER)?.user),
        AuthType::Strong => {
            let credentials = credentials.ok_or(Code::NO_USER)?;
            password::check(&session.snapshot, &credentials.user, credentials.password.as_ref()).await?;
            known(&credentials.user)
        }
        // What is remembered stands for a type behind it.
        AuthType::Cache | AuthType::CacheAcl => Err(Code::NO_USER),
        AuthType::DnsName => {
            let host =
                session.snapshot.resolver.host_of(session.client.ip()).await.ok_or(Code::NOTHING_FOUND)?;
            known(host.as_bytes())
        }
        // `cfgc run` refuses a configuration with this; should one get here, it lets nobody in.
        AuthType::Radius => Err(Code::UNKNOWN_USER),
    }
}

/// Who a cache says the client is, and by which type that was found out; or the code with which it fails.
///
/// `cacheacl` is `cache`: the verdict that it would remember is asked of the table again, so that it is the verdict of this
/// request, and comes with its parents.
pub(crate) fn remembered(
    session: &Session,
    ask: &Ask,
    address: Option<IpAddr>,
) -> Result<(Identity, AuthType), Code> {
    let (settings, key) = key(session, ask, address).ok_or(Code::NO_USER)?;
    let Snapshot { identities, policy, .. } = &*session.snapshot;
    let known = identities.get(policy, settings, &key).ok_or(Code::NO_USER)?;
    if cache::is_bound_to_address(settings.fields) && known.client != session.client.ip() {
        return Err(Code::OTHER_ADDRESS);
    }
    Ok((Identity::User { name: (*known.user).into(), fresh: false }, known.by))
}

/// Before the types behind a cache are asked who that is: waits until whoever asks the same has the answer. `None`: it may be
/// remembered now, or nothing of this request will be.
pub(crate) async fn find_out(session: &Session, ask: &Ask, address: Option<IpAddr>) -> Option<Flight> {
    let (_, key) = key(session, ask, address)?;
    session.snapshot.identities.find_out(key).await
}

/// Remembers who the client is, if its service has an `authcache` line.
pub(crate) fn remember(session: &Session, ask: &Ask, address: Option<IpAddr>, by: AuthType, user: &[u8]) {
    if let Some((_, key)) = key(session, ask, address) {
        let Snapshot { identities, policy, .. } = &*session.snapshot;
        identities.put(policy, key, Known { user: user.into(), client: session.client.ip(), by });
    }
}

fn key(session: &Session, ask: &Ask, address: Option<IpAddr>) -> Option<(AuthCache, Key)> {
    let service = &session.service.settings;
    let settings = service.auth_cache?;
    let subject = Subject {
        chain: &service.chain.value,
        client: session.client.ip(),
        credentials: ask.credentials.as_ref(),
        acl: service.acl.map(|AclRef { list, len, last }| [list.0, len, last.0]),
        target: &ask.target,
        address,
        port: ask.port,
        operation: ask.operation,
        service: session.local,
    };
    Some((settings, session.snapshot.identities.key(settings, &subject)?))
}
