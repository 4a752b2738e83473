//! Questions about a configuration: "may this client do that there?", as `cfgc test` and `cfgc trace` ask them.
//!
//! [`read`](Query::read) makes a [`Query`] of words as users write them, [`decide`] answers it the way that a session is decided:
//! by [`crate::chain`] and the Policy. What depends on the world outside is assumed in favour of the client: it has the password of
//! the user that it names, a RADIUS server says yes, and the authentication cache is empty.
//!
//! What a query leaves out (the client's address, the time, the address of a name) must not matter: [`Answer::needs`] says if it
//! does, and then the answer is none.
use std::net::{IpAddr, Ipv4Addr};

use grammar::{Secret, Text};

use crate::{
    chain::{self, Chain, Identity},
    code::Code,
    policy::Policy,
    program::{
        Program,
        acl::{Operation, Parent},
        auth::{AuthType, Password, can_be_given},
        resolve::{Resolver, ResolverMode},
        service::{Family, ServiceKind},
    },
    sources::Loc,
    table::{Fields, Request, Verdict, WeekTime},
    target::TargetName,
    way,
};

mod error;
pub(crate) mod needs;
mod read;
mod service;
#[cfg(test)]
mod tests;

pub use error::{Part, QueryError};
pub use read::{Words, moment, moment_name, operation_name};
pub use service::{ServiceSelector, describe};

/// One request, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Index into [`Program::services`].
    pub service: usize,
    /// Who the client says that it is, and can prove.
    pub user: Option<Text>,
    /// The password that it gives; `None`: the right one.
    pub password: Option<Secret>,
    /// The client's address, if it is known.
    pub from: Option<IpAddr>,
    /// Where it wants to; `None`: the service learns of no target.
    pub target: Option<TargetName>,
    /// The target as the client wrote it, where `target` keeps less of it: the dot at its end, capitals, `::ffff:`. Nothing here
    /// decides by it, but 3proxy does.
    pub written: Option<Box<str>>,
    /// The target's port; 0: not known.
    pub port: u16,
    /// What it wants to do there.
    pub operation: Operation,
    /// When, if that is known.
    pub at: Option<WeekTime>,
    /// What the target's name resolves to.
    pub resolved: Resolution,
}

/// What a name resolves to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolution {
    /// Not known.
    #[default]
    Unknown,
    /// This address.
    Address(IpAddr),
    /// It does not resolve.
    Nothing,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It passes, directly or through parents.
    Allow,
    /// The access list refuses it.
    Deny,
    /// A user name or another one is wanted.
    AuthRequired,
    /// The target's name does not resolve.
    Unresolved,
}

impl Outcome {
    /// Every outcome.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Deny, Self::AuthRequired, Self::Unresolved];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::AuthRequired => "auth-required",
            Self::Unresolved => "unresolved",
        }
    }

    /// The outcome that 3proxy gives this code.
    pub(crate) const fn of(code: Code) -> Self {
        match code {
            Code::PASSED => Self::Allow,
            Code::DENIED | Code::NOTHING_FOUND => Self::Deny,
            Code::UNRESOLVED => Self::Unresolved,
            _ => Self::AuthRequired,
        }
    }
}

/// One type of the chain, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The type.
    pub kind: AuthType,
    /// The word that named it; `None`: the default chain.
    pub at: Option<Loc>,
    /// Who the client is by it, or the code with which it fails.
    pub found: Result<Identity, Code>,
    /// What the access list said, if it was asked.
    pub verdict: Option<Verdict>,
    /// 3proxy's code for the step.
    pub code: Code,
}

/// What became of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How it ends.
    pub outcome: Outcome,
    /// 3proxy's code.
    pub code: Code,
    /// The types that were asked, in order. Empty: the service wants a name before it asks any (`-u2`).
    pub steps: Vec<Step>,
    /// Which of the steps decided.
    decided: Option<usize>,
    /// The list was asked a second time, with the name that `dnspr` is asked for: what it said then is the step's verdict.
    pub by_name: bool,
    /// Fields that the query leaves out, and that matter: with other values another entry may decide.
    pub needs: Fields,
}

impl Answer {
    /// An answer that no type of the chain gives.
    fn at_once(code: Code) -> Self {
        let (steps, needs) = (Vec::new(), Fields::NONE);
        Self { outcome: Outcome::of(code), code, steps, decided: None, by_name: false, needs }
    }

    /// The step that decided.
    #[must_use]
    pub fn deciding(&self) -> Option<&Step> {
        self.steps.get(self.decided?)
    }

    /// What the access list said in the deciding step; `None`: it was not asked there.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        self.deciding()?.verdict
    }

    /// The user name that the access list was told in the deciding step.
    #[must_use]
    pub fn user(&self) -> Option<&[u8]> {
        self.deciding()?.found.as_ref().ok()?.user()
    }
}

impl Query {
    /// Whether a name is asked for, not a way to it.
    #[must_use]
    pub fn is_for_name(&self) -> bool {
        self.operation == Operation::DnsResolve
    }

    /// As access and limit lists are asked first: `dnspr` tells them no target.
    #[must_use]
    pub fn first(&self) -> Self {
        if self.is_for_name() {
            Self { target: None, written: None, port: 0, ..self.clone() }
        } else {
            self.clone()
        }
    }

    /// As an access list or a limit list is asked, by `user`; what is not known is put as zeros. `host` is [`Query::host`].
    #[must_use]
    pub fn request<'a>(
        &self,
        program: &Program,
        user: Option<&'a [u8]>,
        host: Option<&'a str>,
    ) -> Request<'a> {
        Request {
            user,
            source: self.from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            host: host.map(str::as_bytes),
            address: self.address(program),
            port: self.port,
            operation: self.operation,
            time: self.at.unwrap_or_default(),
            weight: 0,
            redirected: false,
        }
    }

    /// The target as name patterns see it: an address is compared as the text that it is.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        self.target.as_ref().map(ToString::to_string)
    }

    /// The target's address: as given, or what its name resolves to by the query, or else by the configuration alone.
    #[must_use]
    pub fn address(&self, program: &Program) -> Option<IpAddr> {
        match (&self.target, self.resolved) {
            _ if self.is_for_name() => None,
            (Some(TargetName::Address(address)), _) => Some(address.to_canonical()),
            (_, Resolution::Address(address)) => Some(address.to_canonical()),
            (Some(TargetName::Name(name)), Resolution::Unknown) => {
                let family = program.services.get(self.service).map(|service| service.family())?;
                configured(program, name, family)
            }
            (Some(TargetName::Name(_)), Resolution::Nothing) | (None, _) => None,
        }
    }

    /// The name that the client claims. One that can't be given, or with a password that can't, is none: the client does not log in.
    #[must_use]
    pub fn claimed(&self) -> Option<&[u8]> {
        let user = self.user.as_ref()?.as_bytes();
        let password = self.password.as_ref().map_or(&b""[..], Secret::expose);
        (can_be_given(user) && can_be_given(password)).then_some(user)
    }

    /// Whether there is nothing to connect to: an address of zeros, or no port.
    fn leads_nowhere(&self, address: Option<IpAddr>) -> bool {
        let connects = !matches!(self.operation, Operation::Bind | Operation::UdpAssociate);
        let is_nothing = self.port == 0 || address.is_some_and(|address| address.is_unspecified());
        connects && self.target.is_some() && is_nothing
    }

    /// Whether it asks for a UDP association of which no destination is known yet.
    #[must_use]
    pub(crate) fn is_preliminary(&self) -> bool {
        let is_zeros =
            |target: &TargetName| matches!(target, TargetName::Address(address) if address.is_unspecified());
        self.operation == Operation::UdpAssociate && self.target.as_ref().is_none_or(is_zeros)
    }

    /// What it leaves out.
    #[must_use]
    pub fn unknown(&self, program: &Program) -> Fields {
        let is_name = matches!(self.target, Some(TargetName::Name(_))) && !self.is_for_name();
        let unresolved = is_name && self.resolved == Resolution::Unknown && self.address(program).is_none();
        [
            (self.from.is_none(), Fields::SOURCE),
            (unresolved, Fields::ADDRESS),
            (self.at.is_none(), Fields::TIME),
        ]
        .into_iter()
        .filter(|(is_unknown, _)| *is_unknown)
        .fold(Fields::NONE, |fields, (_, field)| fields.with(field))
    }
}

/// What a name, in lower case, resolves to without asking anybody.
fn configured(program: &Program, name: &str, family: Family) -> Option<IpAddr> {
    let order: &[bool] = match family {
        Family::Default | Family::V4 => &[false],
        Family::V6 => &[true],
        Family::V4ThenV6 => &[false, true],
        Family::V6ThenV4 => &[true, false],
    };
    let resolver = &program.resolver;
    order.iter().find_map(|&v6| match resolver.mode.value {
        ResolverMode::System => None,
        ResolverMode::Fake if v6 => Some(Resolver::FAKE_V6.into()),
        ResolverMode::Fake => Some(Resolver::FAKE_V4.into()),
        ResolverMode::Servers => {
            let kept = resolver.records.iter().rev().filter(|record| !record.before_cache);
            let mut of_family = kept.filter(|record| record.address.is_ipv6() == v6);
            let is_it = |written: &Text| written.as_bytes().eq_ignore_ascii_case(name.as_bytes());
            of_family.find(|record| is_it(&record.name)).map(|record| record.address)
        }
    })
}

/// Answers a query.
#[must_use]
pub fn decide(policy: &Policy, query: &Query) -> Answer {
    decide_by(policy, query, &mut Own { policy, query })
}

/// Who answers what a chain asks.
pub(crate) trait Judge {
    /// The name that reaches the service.
    fn claimed<'q>(&self, query: &'q Query) -> Option<&'q [u8]> {
        query.claimed()
    }

    /// Who the client is by one type, if it claims a name; or the code with which that fails.
    fn identify(&mut self, kind: AuthType, claimed: Option<&[u8]>) -> Result<Identity, Code>;

    /// What the service's access list says.
    fn list(&mut self, request: &Request<'_>) -> Verdict;

    /// Whether the list is asked by the name that `dnspr` is asked for, too.
    fn hears_names(&self) -> bool {
        true
    }
}

/// As `cfgc run` decides.
struct Own<'a> {
    policy: &'a Policy,
    query: &'a Query,
}

impl Judge for Own<'_> {
    fn identify(&mut self, kind: AuthType, claimed: Option<&[u8]>) -> Result<Identity, Code> {
        identify(self.policy, kind, claimed, self.query.password.as_ref())
    }

    fn list(&mut self, request: &Request<'_>) -> Verdict {
        if self.query.is_preliminary() {
            self.policy.preauthorize(self.query.service, request).verdict
        } else {
            self.policy.decide(self.query.service, request)
        }
    }
}

/// Answers a query, where `judge` knows the client and the list.
pub(crate) fn decide_by(policy: &Policy, query: &Query, judge: &mut impl Judge) -> Answer {
    let program = policy.program();
    let Some(service) = program.services.get(query.service) else {
        return Answer::at_once(Code::NOTHING_FOUND);
    };
    let asks_name = service.options.need_user.map_or(1, |need| need.value);
    let claimed = judge.claimed(query).filter(|_| asks_name > 0);
    if asks_name > 1 && claimed.is_none() && matches!(service.kind, ServiceKind::Proxy | ServiceKind::Socks) {
        return Answer::at_once(Code::NO_USER);
    }
    let asked = query.first();
    let host = asked.host();
    let request = asked.request(program, None, host.as_deref());
    let unknown = query.unknown(program);
    let mut chain = Chain::new(policy, query.service, &service.chain.value);
    let (mut steps, mut needs) = (Vec::new(), Fields::NONE);
    while let Some(kind) = chain.next_type() {
        let at = service.chain.value.get(steps.len()).and_then(|step| step.at);
        let found = judge.identify(kind, claimed);
        let identity = found.as_ref().map_err(|code| *code);
        let judged = chain.judge_by(&request, identity, &mut |request| judge.list(request));
        if let Some(user) = found.as_ref().ok().filter(|identity| **identity != Identity::Unchecked) {
            let asked = Request { user: user.user(), ..request };
            needs = needs.with(needs::of(program, service.acl, &asked, unknown));
        }
        steps.push(Step { kind, at, found, verdict: judged.verdict, code: judged.code });
    }
    let judged = chain.code();
    let decided = steps.iter().rposition(|step: &Step| step.code == judged);
    // What passes is connected to, or waited for: that takes an address.
    let absent = matches!(asked.target, Some(TargetName::Name(_))) && !unknown.has(Fields::ADDRESS);
    let nowhere = absent && request.address.is_none() || asked.leads_nowhere(request.address);
    let code = if judged.passes() && nowhere { Code::UNRESOLVED } else { judged };
    let mut answer = Answer { outcome: Outcome::of(code), code, steps, decided, by_name: false, needs };
    if code.passes() && judge.hears_names() {
        ask_by_name(program, query, judge, &request, &mut answer);
    }
    if answer.code.passes() && lacks_credentials(policy, query, &answer) {
        (answer.outcome, answer.code) = (Outcome::of(Code::NO_USER), Code::NO_USER);
    }
    answer
}

/// What the list says of the name that `dnspr` is asked for by a client that may ask, if it is asked at all.
fn ask_by_name(
    program: &Program,
    query: &Query,
    judge: &mut impl Judge,
    request: &Request<'_>,
    answer: &mut Answer,
) {
    let Some(host) = query.host().filter(|_| query.is_for_name()) else { return };
    let Some(step) = answer.decided.and_then(|at| answer.steps.get_mut(at)) else { return };
    let Ok(identity) = &step.found else { return };
    if *identity == Identity::Unchecked {
        return;
    }
    let request = chain::for_name(&Request { user: identity.user(), ..*request }, host.as_bytes());
    let list = program.services.get(query.service).and_then(|service| service.acl);
    let needs = needs::of(program, list, &request, query.unknown(program));
    let verdict = judge.list(&request);
    let code = Code::of(verdict.decision);
    (step.verdict, step.code) = (Some(verdict), code);
    (answer.outcome, answer.code, answer.by_name) = (Outcome::of(code), code, true);
    answer.needs = answer.needs.with(needs);
}

/// Whether a parent that is in every draw wants the client's own credentials, and there are none.
fn lacks_credentials(policy: &Policy, query: &Query, answer: &Answer) -> bool {
    let parents = answer.verdict().map(|verdict| policy.parents(verdict)).unwrap_or_default();
    let groups = || way::groups(parents);
    query.claimed().is_none()
        && !parents.is_empty()
        && way::surely(&groups(), Parent::wants_client_credentials).is_some()
}

/// Who the client is by one type, with all that it claims being true, but for a password that can be seen to be wrong.
pub(crate) fn identify(
    policy: &Policy,
    kind: AuthType,
    claimed: Option<&[u8]>,
    password: Option<&Secret>,
) -> Result<Identity, Code> {
    let known = |name: &[u8]| Identity::User { name: name.into(), fresh: true };
    match kind {
        AuthType::None => Ok(Identity::Unchecked),
        AuthType::IpOnly => Ok(Identity::Hidden),
        AuthType::UserOnly | AuthType::Radius => claimed.map(known).ok_or(Code::NO_USER),
        AuthType::DnsName => claimed.map(known).ok_or(Code::NOTHING_FOUND),
        AuthType::Strong => {
            let name = claimed.ok_or(Code::NO_USER)?;
            let kept = policy.user(name).ok_or(Code::UNKNOWN_USER)?;
            let differs = |clear: &Secret| password.is_some_and(|given| given != clear);
            let is_wrong = matches!(kept, Password::Clear(clear) if differs(clear));
            if is_wrong || !kept.can_be_right() { Err(kept.wrong()) } else { Ok(known(name)) }
        }
        AuthType::Cache | AuthType::CacheAcl => Err(Code::NO_USER),
    }
}
