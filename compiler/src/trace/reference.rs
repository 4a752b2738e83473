//! Where 3proxy decides a request otherwise than `cfgc run`, and how: the one place that says so.
//!
//! docs/DIFFERENCES.md has all differences. Here are those that change what becomes of one request: whether it passes, by which
//! entry, and through which parents. What lies in the bytes on the wire or in what a connection did before is no part of a
//! [`Query`], so it is not told.
//!
//! What 3proxy does is decided once more, by the same chain, with the request [as it sees it](seen). A [`Reason`] that alone
//! changes nothing is not named.
use std::net::IpAddr;

use super::Case;
use crate::{
    chain::Identity,
    code::Code,
    policy::Policy,
    program::{
        Program,
        acl::Parent,
        auth::{AuthType, Password},
        resolve::ResolverMode,
        service::ServiceKind,
    },
    query::{self, Answer, Judge, Outcome, Query, Resolution},
    sources::Loc,
    table::{Request, Verdict},
    target::TargetName,
    way,
};

mod remembered;
mod seen;
#[cfg(test)]
mod tests;

use seen::List;

/// A way in which 3proxy does otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otherwise {
    /// Why; at least one.
    pub reasons: Vec<Reason>,
    /// When.
    pub when: When,
    /// How it ends then; `None`: that is not known.
    pub ends: Option<Ends>,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// How.
    pub outcome: Outcome,
    /// 3proxy's code.
    pub code: Code,
    /// What the access list says; `None`: it is not asked, so no parent is passed.
    pub verdict: Option<Verdict>,
}

/// When 3proxy does otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// With every such request.
    Always,
    /// While its authentication cache holds a request with the same key that passed.
    Remembered,
    /// In the first second after it started.
    FirstSecond,
}

/// Why 3proxy does otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It takes an IPv4 client for this address, which is in no IPv4 network: it arrives at an IPv6 listener.
    ClientInV6Form(IpAddr),
    /// It takes an IPv4 target for this address, which is in no IPv4 network.
    TargetInV6Form(IpAddr),
    /// It compares the target's name with the dot at its end.
    DotKept,
    /// It looks the target's name up before it asks who the client is, and what it may do.
    LookedUpFirst,
    /// It does not find the static record of this line, whose name is written with other capitals.
    RecordInOtherCase(Loc),
    /// It goes on with the weight that an entry left when another authentication type was asked.
    WeightKept,
    /// It takes any password for right, since the hash is empty.
    EmptyHash,
    /// It cuts name and password at 255 bytes.
    CredentialsCut,
    /// Its list does not hear the name that `dnspr` is asked for.
    NameUnheard,
    /// It takes the user name in this parent's line for `*`: the client's own, which there is not.
    ReadAsStar(Loc),
    /// It looks for this parent at 127.0.0.2.
    ParentFaked(Loc),
    /// It finds the client in its authentication cache, by this word of the chain.
    FoundInCache(Option<Loc>),
    /// No entry with weekdays or periods matches.
    TimesVoid,
}

impl Reason {
    /// A name, for programs.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::ClientInV6Form(_) => "client-in-ipv6-form",
            Self::TargetInV6Form(_) => "target-in-ipv6-form",
            Self::DotKept => "dot-kept",
            Self::LookedUpFirst => "looked-up-first",
            Self::RecordInOtherCase(_) => "record-in-other-case",
            Self::WeightKept => "weight-kept",
            Self::EmptyHash => "empty-hash",
            Self::CredentialsCut => "credentials-cut",
            Self::NameUnheard => "name-unheard",
            Self::ReadAsStar(_) => "read-as-star",
            Self::ParentFaked(_) => "parent-faked",
            Self::FoundInCache(_) => "found-in-cache",
            Self::TimesVoid => "times-void",
        }
    }
}

impl When {
    /// A name, for programs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Remembered => "remembered",
            Self::FirstSecond => "first-second",
        }
    }
}

impl Ends {
    fn of(answer: &Answer) -> Self {
        Self { outcome: answer.outcome, code: answer.code, verdict: answer.verdict() }
    }

    /// Whether both are one to the client: how it ends, and by which entry if it passes (that fixes the parents).
    fn is_same(&self, other: &Self) -> bool {
        let way = |ends: &Self| ends.verdict.and_then(|verdict| verdict.entry).filter(|_| ends.code.passes());
        self.outcome == other.outcome && way(self) == way(other)
    }
}

/// Where 3proxy does otherwise with the query of a case; mostly nowhere.
pub(super) fn of(policy: &Policy, case: &Case) -> Vec<Otherwise> {
    let (query, own) = (&case.query, Ends::of(&case.answer));
    if looked_up_first(policy, query, &case.answer) {
        let ends = Ends { outcome: Outcome::Unresolved, code: Code::UNRESOLVED, verdict: None };
        return Vec::from([Otherwise::always(Reason::LookedUpFirst, Some(ends))]);
    }
    let reasons = reasons(policy, query);
    let ends = as_seen(policy, query, &reasons);
    let mut told = Vec::new();
    if !ends.is_same(&own) {
        told.push(Otherwise {
            reasons: needed(policy, query, reasons.clone()),
            when: When::Always,
            ends: Some(ends),
        });
    }
    told.extend(
        record_in_other_case(policy.program(), query)
            .map(|at| Otherwise::always(Reason::RecordInOtherCase(at), None)),
    );
    told.extend(by_parents(policy, query, &case.answer));
    let void: Vec<_> = reasons.into_iter().chain([Reason::TimesVoid]).collect();
    let at_start = as_seen(policy, query, &void);
    if !at_start.is_same(&ends) {
        let reasons = Vec::from([Reason::TimesVoid]);
        told.push(Otherwise { reasons, when: When::FirstSecond, ends: Some(at_start) });
    }
    told.extend(remembered::of(policy, case, &ends));
    told
}

impl Otherwise {
    fn always(reason: Reason, ends: Option<Ends>) -> Self {
        Self { reasons: Vec::from([reason]), when: When::Always, ends }
    }
}

/// A name that does not resolve ends the request before anything is asked.
fn looked_up_first(policy: &Policy, query: &Query, answer: &Answer) -> bool {
    let program = policy.program();
    let Some(service) = program.services.get(query.service) else { return false };
    let looks_up = match service.kind {
        ServiceKind::Proxy => true,
        // A name is wanted while the two agree on how to log in, before the target is told.
        ServiceKind::Socks | ServiceKind::Auto => !answer.steps.is_empty(),
        _ => false,
    };
    let is_absent =
        matches!(query.target, Some(TargetName::Name(_))) && query.resolved == Resolution::Nothing;
    let refused = matches!(answer.outcome, Outcome::Deny | Outcome::AuthRequired);
    looks_up && is_absent && refused && program.resolver.mode.value != ResolverMode::Fake
}

/// What 3proxy takes otherwise with this query, whether it matters or not.
fn reasons(policy: &Policy, query: &Query) -> Vec<Reason> {
    let Some(service) = policy.program().services.get(query.service) else { return Vec::new() };
    let client = seen::client(service, query.from).map(Reason::ClientInV6Form);
    let target = seen::target(service, query).map(Reason::TargetInV6Form);
    let dotted = matches!(query.target, Some(TargetName::Name(_)))
        && query.written.as_ref().is_some_and(|written| written.ends_with('.'));
    let several = service.chain.value.len() > 1;
    let basic =
        matches!(service.kind, ServiceKind::Proxy) && basic(query).is_some_and(|basic| basic.len() > BASIC);
    let facts = [
        (dotted, Reason::DotKept),
        (several, Reason::WeightKept),
        (query.password.is_some(), Reason::EmptyHash),
        (basic, Reason::CredentialsCut),
        (query.is_for_name(), Reason::NameUnheard),
    ];
    let facts = facts.into_iter().filter(|(is_so, _)| *is_so).map(|(_, reason)| reason);
    client.into_iter().chain(target).chain(facts).collect()
}

/// The reasons without which it would end otherwise.
fn needed(policy: &Policy, query: &Query, mut reasons: Vec<Reason>) -> Vec<Reason> {
    let ends = as_seen(policy, query, &reasons);
    for at in (0..reasons.len()).rev() {
        let mut fewer = reasons.clone();
        fewer.remove(at);
        if as_seen(policy, query, &fewer).is_same(&ends) {
            reasons = fewer;
        }
    }
    reasons
}

/// How a query ends if these reasons hold.
fn as_seen(policy: &Policy, query: &Query, reasons: &[Reason]) -> Ends {
    let mut reference = Reference { policy, query, list: List::new(policy, query, reasons), reasons };
    let answer = query::decide_by(policy, query, &mut reference);
    let mut ends = Ends::of(&answer);
    // Zeros in IPv6 form are an address, and lead to this host.
    let is_zeros = matches!(query.target, Some(TargetName::Address(address)) if address.is_unspecified());
    let in_v6_form = reasons.iter().any(|reason| matches!(reason, Reason::TargetInV6Form(_)));
    if ends.code == Code::UNRESOLVED && is_zeros && in_v6_form && query.port != 0 {
        ends = Ends { outcome: Outcome::Allow, code: Code::PASSED, ..ends };
    }
    ends
}

/// Who answers as 3proxy would.
struct Reference<'a> {
    policy: &'a Policy,
    query: &'a Query,
    list: List<'a>,
    reasons: &'a [Reason],
}

impl Judge for Reference<'_> {
    fn claimed<'q>(&self, query: &'q Query) -> Option<&'q [u8]> {
        let is_cut = self.reasons.contains(&Reason::CredentialsCut);
        if is_cut { query.user.as_ref().map(grammar::Text::as_bytes) } else { query.claimed() }
    }

    fn identify(&mut self, kind: AuthType, claimed: Option<&[u8]>) -> Result<Identity, Code> {
        let has = |reason: &Reason| self.reasons.contains(reason);
        let given = self.query.password.as_ref();
        if claimed.is_some() && has(&Reason::CredentialsCut) {
            let cut = basic(self.query).unwrap_or_default();
            let cut = cut.get(..BASIC).unwrap_or(&cut);
            let mut parts = cut.splitn(2, |byte| *byte == b':');
            let (name, password) = (parts.next(), parts.next().map(grammar::Secret::from));
            return query::identify(self.policy, kind, name, password.as_ref());
        }
        match claimed {
            Some(name) if kind == AuthType::Strong && has(&Reason::EmptyHash) => {
                match self.policy.user(name) {
                    Some(Password::Crypt(hash)) if hash.expose().is_empty() => {
                        Ok(Identity::User { name: name.into(), fresh: true })
                    }
                    _ => query::identify(self.policy, kind, claimed, given),
                }
            }
            _ => query::identify(self.policy, kind, claimed, given),
        }
    }

    fn list(&mut self, request: &Request<'_>) -> Verdict {
        self.list.decide(request)
    }

    fn hears_names(&self) -> bool {
        !self.reasons.contains(&Reason::NameUnheard)
    }
}

/// At most this many bytes of `NAME:PASSWORD` are read.
const BASIC: usize = 255;

/// `NAME:PASSWORD`, as a client of an HTTP proxy sends it.
fn basic(query: &Query) -> Option<Vec<u8>> {
    let (name, password) = (query.user.as_ref()?, query.password.as_ref()?);
    Some([name.as_bytes(), b":", password.expose()].concat())
}

/// The static record that a name has only if capitals don't count.
fn record_in_other_case(program: &Program, query: &Query) -> Option<Loc> {
    let Some(TargetName::Name(name)) = &query.target else { return None };
    let resolver = &program.resolver;
    if resolver.mode.value != ResolverMode::Servers || query.resolved != Resolution::Unknown {
        return None;
    }
    let address = query.address(program)?;
    let written = query.written.as_deref().unwrap_or(name).as_bytes();
    let kept = resolver.records.iter().filter(|record| !record.before_cache && record.address == address);
    let mut same = kept.filter(|record| record.name.as_bytes().eq_ignore_ascii_case(name.as_bytes()));
    let record = same.next()?;
    let exact = |name: &[u8]| name == written || Some(name) == written.strip_suffix(b".");
    (!exact(record.name.as_bytes()) && !same.any(|record| exact(record.name.as_bytes()))).then_some(record.at)
}

/// What 3proxy makes of the parents of a request that passes.
fn by_parents(policy: &Policy, query: &Query, answer: &Answer) -> Vec<Otherwise> {
    let (Some(verdict), Code::PASSED) = (answer.verdict(), answer.code) else { return Vec::new() };
    let groups = way::groups(policy.parents(verdict));
    // A type that knows a name may come yet.
    let service = policy.program().services.get(query.service);
    let is_last = service.is_some_and(|service| service.chain.value.len() == answer.steps.len());
    let no_name = answer.user().is_none() && is_last;
    let starred = |parent: &Parent| {
        let user = parent.user.as_ref().map(grammar::Text::as_bytes);
        user.is_some_and(|user| user.len() > 1 && user.starts_with(b"*"))
    };
    let mut told = Vec::new();
    if let Some(parent) = way::surely(&groups, starred).filter(|_| no_name) {
        let ends = Ends { outcome: Outcome::AuthRequired, code: Code::NO_USER, verdict: Some(verdict) };
        told.push(Otherwise::always(Reason::ReadAsStar(parent.at), Some(ends)));
    }
    let faked = &policy.program().history.faked_parents;
    let drawn = groups.iter().flat_map(|group| &group.members).filter(|(_, chance)| *chance > 0);
    let drawn = drawn.filter(|(parent, _)| faked.iter().any(|faked| faked.at == parent.at));
    told.extend(drawn.map(|(parent, _)| Otherwise::always(Reason::ParentFaked(parent.at), None)));
    told
}
