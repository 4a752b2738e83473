//! May it: the authentication chain and the access list, then the limits, and then the way to the target.
//!
//! In which order the types of the chain are asked, and what follows from their answers, is [`compiler::chain`]'s.
//!
//! A name that does not resolve is no answer yet: who may not ask for it is told that first, so that nobody learns from the proxy
//! which names exist. (3proxy resolves before all else.)
use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use compiler::{
    chain::{Chain, Identity, Judged},
    code::Code,
    program::{
        acl::{Operation, Parent},
        auth::{AuthStep, AuthType},
    },
    table::{Decision, Request, Verdict, WeekTime},
};
use jiff::Zoned;

use crate::{
    authenticate::{self, cache::Flight},
    connect::{Source, connect as dial},
    datagram::{self, Outlet},
    error::{Failure, FailureKind},
    parent,
    resolve::Resolved,
    session::{Ask, Credentials, ReuseKey, Route, Session, TargetName, Upstream},
};

mod association;
mod name_query;

pub(crate) use association::Association;
pub(crate) use name_query::Asker;

/// A request that passed.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    /// The target's address; `None`: the name does not resolve.
    pub(crate) address: Option<IpAddr>,
    /// What the list said.
    pub(crate) verdict: Verdict,
    /// Whom the list was told; parents that want the client's own credentials need it.
    pub(crate) user: Option<Box<[u8]>>,
    /// When.
    pub(crate) time: WeekTime,
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
    let address = resolve(session, &ask.target).await;
    note(session, ask, address);
    walk_chain(session, ask, address, REQUEST, &mut Found::new()).await.map(|(grant, _)| grant)
}

/// The address of a target; `None`: it has none.
pub(crate) async fn resolve(session: &Session, target: &TargetName) -> Option<IpAddr> {
    match target {
        TargetName::Address(address) => Some(address.to_canonical()),
        TargetName::Name(name) => match session.snapshot.resolver.lookup(name, session.family()).await {
            Resolved::Address(address) => Some(address.to_canonical()),
            Resolved::Nothing => None,
        },
    }
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

/// What the list makes of a client that a type of the chain knows, or does not.
type Judge = fn(&mut Chain<'_>, &Request<'_>, Result<&Identity, Code>) -> Judged;
/// Of a request for one target.
const REQUEST: Judge = |chain, request, found| chain.judge(request, found);
/// Of a UDP association.
const ASSOCIATION: Judge = |chain, request, found| chain.judge_association(request, found);

/// What the types of a chain found out, in their order.
type Found = Vec<Result<Identity, Code>>;

/// Asks the chain, and notes whether the request is logged.
///
/// What a type finds out goes into `found`, and is not found out again if it is there already. With the grant comes whether it is
/// settled, see [`Judged`].
async fn walk_chain(
    session: &mut Session,
    ask: &Ask,
    address: Option<IpAddr>,
    judge: Judge,
    found: &mut Found,
) -> Result<(Grant, bool), Failure> {
    let snapshot = Arc::clone(&session.snapshot);
    let service = Arc::clone(&session.service);
    let (host, time) = (ask.target.to_string(), now());
    let request = request(session, ask, &host, address, time);
    let mut identities = Identities { session, ask, address, flight: None, deferred: None };
    let mut chain = Chain::new(&snapshot.policy, service.index, &service.settings.chain.value);
    let mut step = 0;
    while let Some(kind) = chain.next_type() {
        step += 1;
        if found.len() < step {
            let behind = service.settings.chain.value.get(step..).unwrap_or_default();
            found.push(identities.find(kind, behind).await);
        }
        let Some(known) = found.get(step - 1) else { break };
        let session = &mut *identities.session;
        let judged = judge(&mut chain, &request, known.as_ref().map_err(|code| *code));
        let (Ok(identity), Some(verdict)) = (known, judged.verdict) else { continue };
        if let Some(user) = identity.user() {
            session.record.user = Some(user.into());
        }
        let entry = verdict.entry.and_then(|entry| snapshot.program.acls.ace(entry));
        session.record.nolog = entry.is_some_and(|entry| entry.nolog);
        if !judged.code.passes() {
            continue;
        }
        if let Identity::User { name, fresh: true } = identity
            && chain.remembers()
        {
            authenticate::remember(session, ask, address, kind, name);
        }
        let grant = Grant { address, verdict, user: identity.user().map(Into::into), time };
        return Ok((grant, judged.settled));
    }
    Err(refusal(chain.code()))
}

/// Finds out who a client is, for one type of a chain after the other.
struct Identities<'a> {
    session: &'a mut Session,
    ask: &'a Ask,
    address: Option<IpAddr>,
    /// Others who would ask the same wait for its end.
    flight: Option<Flight>,
    /// Whom a cache remembers, and the type that knew: the list comes first, since an `iponly` stands before that type.
    deferred: Option<(Identity, AuthType)>,
}

impl Identities<'_> {
    /// Who it is by this type; `behind` are those that come after it.
    async fn find(&mut self, kind: AuthType, behind: &[AuthStep]) -> Result<Identity, Code> {
        if kind.is_cache() {
            let (identity, by) = self.remembered().await?;
            let mut before = behind.iter().map(|step| step.kind).take_while(|kind| *kind != by);
            if before.any(|kind| kind == AuthType::IpOnly) {
                self.deferred = Some((identity, by));
                return Err(Code::NO_USER);
            }
            return Ok(identity);
        }
        match self.deferred.take_if(|(_, by)| *by == kind) {
            Some((identity, _)) => Ok(identity),
            // It did not know the client when another did.
            None if self.deferred.is_some() && kind != AuthType::IpOnly => Err(Code::NO_USER),
            None => authenticate::identify(kind, self.session, self.ask).await,
        }
    }

    async fn remembered(&mut self) -> Result<(Identity, AuthType), Code> {
        let known = authenticate::remembered(self.session, self.ask, self.address);
        if known != Err(Code::NO_USER) || self.flight.is_some() {
            return known;
        }
        self.flight = authenticate::find_out(self.session, self.ask, self.address).await;
        match self.flight {
            Some(_) => known,
            None => authenticate::remembered(self.session, self.ask, self.address),
        }
    }
}

/// What lists are asked, so far as the client has said it. An address is compared with name patterns as the text that it is, as
/// in 3proxy.
fn request<'a>(
    session: &Session,
    ask: &Ask,
    host: &'a str,
    address: Option<IpAddr>,
    time: WeekTime,
) -> Request<'a> {
    Request {
        user: None,
        source: session.client.ip(),
        // A query for a name has no target.
        host: (ask.operation != Operation::DnsResolve).then_some(host.as_bytes()),
        address,
        port: ask.port,
        operation: ask.operation,
        time,
        weight: 0,
        redirected: false,
    }
}

/// Counts a request that passed where its kind is limited.
pub(crate) fn limit(session: &mut Session, ask: &Ask, grant: &Grant) -> Result<(), Failure> {
    let snapshot = Arc::clone(&session.snapshot);
    if snapshot.limits.is_empty() {
        // Those of a configuration before hold no more.
        session.limits = None;
        return Ok(());
    }
    let host = ask.target.to_string();
    let request = Request {
        user: grant.user.as_deref(),
        weight: snapshot.policy.weight(grant.verdict),
        ..request(session, ask, &host, grant.address, grant.time)
    };
    snapshot.limits.admit(&snapshot.policy, &request, &mut session.limits)
}

fn now() -> WeekTime {
    let now = Zoned::now();
    let second = i32::from(now.hour()) * 3600 + i32::from(now.minute()) * 60 + i32::from(now.second());
    WeekTime { day: now.weekday().to_sunday_zero_offset().unsigned_abs(), second: second.unsigned_abs() }
}

fn needs_user(session: &Session, verdict: Verdict) -> bool {
    session.snapshot.policy.parents(verdict).iter().any(Parent::wants_client_credentials)
}

fn refusal(code: Code) -> Failure {
    let kind = match code {
        Code::UNRESOLVED => FailureKind::Resolve,
        Code::DENIED | Code::NOTHING_FOUND => FailureKind::Denied,
        Code::OTHER_ADDRESS => FailureKind::Limited,
        _ => FailureKind::NotAuthenticated,
    };
    Failure::new(code.number(), kind)
}

/// Connects a request that passed. Notes in the record which way it went.
pub(crate) async fn connect(session: &mut Session, ask: &Ask, grant: Grant) -> Result<Upstream, Failure> {
    let target = target(session, grant.address, ask.port)?;
    limit(session, ask, &grant)?;
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

/// A way for the datagrams of a request that passed. If it leads to a parent, it is noted in the record how many were tried.
pub(crate) async fn associate(
    session: &mut Session,
    credentials: Option<&Credentials>,
    grant: &Grant,
    target: SocketAddr,
) -> Result<Outlet, Failure> {
    if grant.verdict.decision == Decision::Redirect {
        let user = grant.user.as_deref();
        return parent::associate(session, credentials, target, grant.verdict, user).await;
    }
    let source = Source::of(session.service.settings.external);
    let (socket, external) = datagram::bind(target.ip(), source)?;
    Ok(Outlet { socket, parent: None, peer: None, external })
}

/// Where a request that passed goes.
pub(crate) fn target(session: &Session, address: Option<IpAddr>, port: u16) -> Result<SocketAddr, Failure> {
    let address = address.filter(|address| !address.is_unspecified() && port != 0);
    let target = SocketAddr::new(address.ok_or(Failure::UNRESOLVED)?, port);
    if target == session.local {
        // The service's own address: the request would go round for ever.
        return Err(Failure::new(519, FailureKind::Connect));
    }
    Ok(target)
}

#[cfg(test)]
mod tests;
