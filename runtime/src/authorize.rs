//! May it: the authentication chain and the access list, and then the way to the target.
//!
//! The types of the chain are tried in order. The first that knows the client ends the chain: what the access list says then is
//! final. A type that fails hands over to the next; if all fail, the highest code is the answer, and one above 9 is final at once.
//! For `iponly` the list itself is what succeeds or fails.
//!
//! A name that does not resolve is no answer yet: who may not ask for it is told that first, so that nobody learns from the proxy
//! which names exist. (3proxy resolves before all else.)
use std::net::{IpAddr, SocketAddr};

use compiler::{
    program::{acl::Parent, auth::AuthType},
    table::{Decision, Request, Verdict, WeekTime},
};
use jiff::Zoned;

use crate::{
    authenticate::{self, Identity},
    connect::{Source, connect as dial},
    error::{Failure, FailureKind},
    parent,
    resolve::Resolved,
    session::{Ask, ReuseKey, Route, Session, TargetName, Upstream},
};

/// A request that passed.
#[derive(Debug)]
pub(crate) struct Grant {
    /// The target's address; `None`: the name does not resolve.
    address: Option<IpAddr>,
    /// What the list said.
    verdict: Verdict,
    /// Whom the list was told; parents that want the client's own credentials need it.
    user: Option<Box<[u8]>>,
}

impl Grant {
    pub(crate) fn reuse(&self, session: &Session, ask: &Ask) -> ReuseKey {
        ReuseKey {
            target: (ask.target.clone(), ask.port),
            entry: self.verdict.entry,
            user: self.user.clone(),
            credentials: ask.credentials.clone().filter(|_| needs_user(session, self.verdict)),
        }
    }
}

/// Whether the request passes. Notes in the session's record what was asked for, by whom, and whether that is logged.
pub(crate) async fn decide(session: &mut Session, ask: &Ask) -> Result<Grant, Failure> {
    let address = match &ask.target {
        TargetName::Address(address) => Some(address.to_canonical()),
        TargetName::Name(name) => match session.snapshot.resolver.lookup(name, session.family()).await {
            Resolved::Address(address) => Some(address.to_canonical()),
            Resolved::Nothing => None,
        },
    };
    note(session, ask, address);
    let grant = walk_chain(session, ask, address)?;
    if let Some(user) = &grant.user {
        session.record.user = Some(user.clone());
    }
    Ok(grant)
}

fn note(session: &mut Session, ask: &Ask, address: Option<IpAddr>) {
    let record = &mut session.record;
    record.target = address;
    record.target_port = ask.port;
    record.user = ask.credentials.as_ref().map(|credentials| credentials.user.clone());
    if record.host.is_none() {
        record.host = Some(ask.target.to_string().into_bytes().into());
    }
}

fn walk_chain(session: &mut Session, ask: &Ask, address: Option<IpAddr>) -> Result<Grant, Failure> {
    let chain = std::sync::Arc::clone(&session.service.settings.chain.value);
    let mut worst = 0;
    let mut steps = chain.iter().peekable();
    while let Some(step) = steps.next() {
        let is_last = steps.peek().is_none();
        let passed = authenticate::identify(step.kind, session, ask, address)
            .map_err(|code| (code, false))
            .and_then(|identity| judge(session, ask, address, step.kind, identity));
        match passed {
            // A parent wants the client's credentials: a type that can know them may come yet.
            Ok(grant) if grant.user.is_none() && needs_user(session, grant.verdict) && !is_last => {
                worst = worst.max(4);
            }
            Ok(grant) => return Ok(grant),
            Err((code, is_final)) if is_final || code > 9 => return Err(refusal(code)),
            Err((code, _)) => worst = worst.max(code),
        }
    }
    Err(refusal(worst))
}

/// What the access list says of a client that is known; the error is a code, and whether it ends the chain.
fn judge(
    session: &mut Session,
    ask: &Ask,
    address: Option<IpAddr>,
    kind: AuthType,
    identity: Identity,
) -> Result<Grant, (u16, bool)> {
    let verdict = match identity {
        Identity::Unchecked => Verdict { entry: None, decision: Decision::Allow },
        Identity::Hidden | Identity::User { .. } => ask_list(session, ask, address, identity.user()),
    };
    let code = match verdict.decision {
        Decision::Allow | Decision::Redirect => 0,
        // What was to be compared is the address that there is not.
        Decision::Deny if address.is_none() && lists_addresses(session, verdict) => 100,
        Decision::Deny => 1,
        Decision::End => 3,
    };
    if code != 0 {
        return Err((code, kind != AuthType::IpOnly));
    }
    if let Identity::User { name, fresh: true } = &identity {
        authenticate::remember(session, ask, address, name);
    }
    Ok(Grant { address, verdict, user: identity.user().map(Into::into) })
}

fn ask_list(session: &mut Session, ask: &Ask, address: Option<IpAddr>, user: Option<&[u8]>) -> Verdict {
    // An address is compared with name patterns as the text that it is, as in 3proxy.
    let host = ask.target.to_string();
    let request = Request {
        user,
        source: session.client.ip(),
        host: Some(host.as_bytes()),
        address,
        port: ask.port,
        operation: ask.operation,
        time: now(),
        weight: 0,
        redirected: false,
    };
    let policy = &session.snapshot.policy;
    let verdict = policy.decide(session.service.index, &request);
    let entry = verdict.entry.and_then(|entry| session.snapshot.program.acls.ace(entry));
    session.record.nolog = entry.is_some_and(|entry| entry.nolog.is_some());
    verdict
}

fn now() -> WeekTime {
    let now = Zoned::now();
    let second = i32::from(now.hour()) * 3600 + i32::from(now.minute()) * 60 + i32::from(now.second());
    WeekTime { day: now.weekday().to_sunday_zero_offset().unsigned_abs(), second: second.unsigned_abs() }
}

fn needs_user(session: &Session, verdict: Verdict) -> bool {
    session.snapshot.policy.parents(verdict).iter().any(Parent::wants_client_credentials)
}

fn lists_addresses(session: &Session, verdict: Verdict) -> bool {
    let entry = verdict.entry.and_then(|entry| session.snapshot.program.acls.ace(entry));
    let targets = entry.and_then(|entry| entry.matcher.targets.as_ref());
    targets.is_some_and(|targets| !targets.addresses.is_empty())
}

fn refusal(code: u16) -> Failure {
    let kind = match code {
        100 => FailureKind::Resolve,
        1 | 3 => FailureKind::Denied,
        10 => FailureKind::Limited,
        _ => FailureKind::NotAuthenticated,
    };
    Failure::new(code, kind)
}

/// Connects a request that passed. Notes in the record which way it went.
pub(crate) async fn connect(session: &mut Session, ask: &Ask, grant: Grant) -> Result<Upstream, Failure> {
    let address = grant.address.filter(|address| !address.is_unspecified() && ask.port != 0);
    let target = SocketAddr::new(address.ok_or_else(unresolved)?, ask.port);
    if target == session.local {
        // The service's own address: the request would go round for ever.
        return Err(Failure::new(519, FailureKind::Connect));
    }
    let reuse = grant.reuse(session, ask);
    if grant.verdict.decision == Decision::Redirect {
        return parent::open(session, ask, target, reuse, grant.verdict, grant.user.as_deref()).await;
    }
    session.record.peer = Some(target);
    let settings = &session.service.settings;
    let source = Source::of(settings.external);
    let options = settings.options.server_socket.as_ref();
    let stream = dial(target, source, options, session.snapshot.timeouts.connect).await?;
    Upstream::new(stream, Route::Tunnel, target, reuse, &mut session.record)
}

fn unresolved() -> Failure {
    Failure::new(100, FailureKind::Resolve)
}

#[cfg(test)]
mod tests;
