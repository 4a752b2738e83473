//! Why a request is decided as it is: the way of a [`Query`] through a configuration, step by step.
//!
//! The decision itself is [`query::decide`]'s, which goes the way of the runtime. Here stands what lies around it: which fields fixed
//! it, which entries almost decided instead, by which way the request goes out, and which limits apply.
//!
//! Where it depends on something that the query leaves out (what a name resolves to, the time), there is a [`Case`] for each way
//! in which it can end, with a value that leads there.
use crate::{
    policy::{LimitList, Policy},
    program::{
        Program,
        acl::{AceId, Matcher},
        auth::AuthType,
    },
    query::{self, Answer, Outcome, Query},
    table::{Fields, Request, oracle},
};

mod completion;
pub mod key;
mod near;
pub mod reference;
#[cfg(test)]
mod tests;

pub use key::CacheKey;
pub use near::{Near, Why};
pub use reference::{Otherwise, Reason, When};

/// How a request can end.
#[derive(Clone, Debug)]
pub struct Trace {
    /// One for each way to end. Several: the query leaves out what matters.
    pub cases: Vec<Case>,
    /// What the query leaves out and would have to say.
    pub needs: Fields,
    /// Every value that could matter was tried; otherwise there may be further cases.
    pub is_whole: bool,
}

/// One way in which a request can end.
#[derive(Clone, Debug)]
pub struct Case {
    /// The query, with values for what it leaves out and what matters.
    pub query: Query,
    /// What becomes of it.
    pub answer: Answer,
    /// The fields that fix what the access list says in the deciding step.
    pub depends_on: Fields,
    /// Entries before the deciding one that differ in little, in the order of the list.
    pub near: Vec<Near>,
    /// What a `cache` or `cacheacl` of the chain looks for.
    pub cache: Option<CacheKey>,
    /// Limits that apply, if it passes.
    pub limits: Vec<Applying>,
    /// What the query leaves out and limit lines compare; if there is anything, no limit is named.
    pub limits_need: Fields,
    /// Where 3proxy does otherwise.
    pub otherwise: Vec<Otherwise>,
}

/// A limit that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Applying {
    /// In which list it stands.
    pub list: LimitList,
    /// Its index there.
    pub at: usize,
}

/// Explains what becomes of `query`.
#[must_use]
pub fn explain(policy: &Policy, query: &Query) -> Trace {
    let mut trace = Trace { cases: Vec::new(), needs: Fields::NONE, is_whole: true };
    trace.follow(policy, query.clone());
    trace
}

/// How many ways to end are shown.
const MOST_CASES: usize = 16;

impl Trace {
    /// Adds the ways in which `query` can end.
    fn follow(&mut self, policy: &Policy, query: Query) {
        let answer = query::decide(policy, &query);
        if answer.needs.is_empty() {
            return self.add(policy, query, answer);
        }
        self.needs = self.needs.with(answer.needs);
        let unknown = query.unknown(policy.program());
        let completions = completion::of(policy, &query, &answer);
        self.is_whole &= completions.is_whole;
        // What is known then can lead to further entries, and these may ask for more.
        for completed in completions.queries {
            if completed.unknown(policy.program()) != unknown {
                self.follow(policy, completed);
            }
        }
    }

    /// Adds a way to end, unless it is known.
    fn add(&mut self, policy: &Policy, query: Query, answer: Answer) {
        let ends = |answer: &Answer| (answer.code, answer.verdict());
        if self.cases.iter().any(|case| ends(&case.answer) == ends(&answer)) {
            return;
        }
        if self.cases.len() == MOST_CASES {
            self.is_whole = false;
            return;
        }
        self.cases.push(Case::new(policy, query, answer));
    }
}

impl Case {
    fn new(policy: &Policy, query: Query, answer: Answer) -> Self {
        let program = policy.program();
        let first = query.first();
        let asked = if answer.by_name { &query } else { &first };
        let host = asked.host();
        let user: Option<Box<[u8]>> = answer.user().map(Into::into);
        let request = asked.request(program, user.as_deref(), host.as_deref());
        let is_asked = answer.deciding().is_some_and(|step| step.kind != AuthType::None);
        let (near, depends_on) = match answer.verdict().filter(|_| is_asked) {
            // Entries that wait for a destination say neither yes nor no.
            Some(_) if query.is_preliminary() => (Vec::new(), preliminary(program, query.service)),
            Some(verdict) => (
                near::of(program, query.service, &request, verdict.entry),
                policy.depends_on(query.service, &request),
            ),
            None => (Vec::new(), Fields::NONE),
        };
        let (limits, limits_need) = match answer.outcome {
            Outcome::Allow => limits(policy, &first, &answer),
            _ => (Vec::new(), Fields::NONE),
        };
        let cache = key::of(policy, &first);
        let otherwise = Vec::new();
        let case = Self { query, answer, depends_on, near, cache, limits, limits_need, otherwise };
        Self { otherwise: reference::of(policy, &case), ..case }
    }

    /// The entry that decided.
    #[must_use]
    pub fn entry(&self) -> Option<AceId> {
        self.answer.verdict()?.entry
    }
}

impl Applying {
    /// Whether both are one line.
    fn is_same_line(self, other: Self) -> bool {
        let traffic = [LimitList::TrafficIn, LimitList::TrafficOut];
        let is_one_list =
            self.list == other.list || traffic.contains(&self.list) && traffic.contains(&other.list);
        is_one_list && self.at == other.at
    }
}

/// The limits that apply to a request that passes, or what it takes to know them.
fn limits(policy: &Policy, query: &Query, answer: &Answer) -> (Vec<Applying>, Fields) {
    let host = query.host();
    let request = query.request(policy.program(), answer.user(), host.as_deref());
    let needs = query.unknown(policy.program()).and(limits_compare(policy));
    if !needs.is_empty() {
        return (Vec::new(), needs);
    }
    let weight = answer.verdict().map_or(0, |verdict| policy.weight(verdict));
    let request = Request { weight, ..request };
    let mut limits: Vec<Applying> = Vec::new();
    for list in LimitList::ALL {
        for at in policy.limits(list, &request) {
            let limit = Applying { list, at };
            // A quota for both directions is in both lists.
            if !limits.iter().any(|other| other.is_same_line(limit)) {
                limits.push(limit);
            }
        }
    }
    (limits, Fields::NONE)
}

/// Fields that fix what a list says of a UDP association without a destination, if not the fewest.
fn preliminary(program: &Program, service: usize) -> Fields {
    let list = program.services.get(service).and_then(|service| service.acl);
    let entries = list.into_iter().flat_map(|list| program.acls.entries(list));
    entries
        .fold(Fields::NONE, |fields, (_, ace)| fields.with(oracle::compares(ace)))
        .without(Fields::DESTINATION)
}

/// The fields that limit lines compare.
fn limits_compare(policy: &Policy) -> Fields {
    let limits = &policy.program().limits;
    let matchers = limits.bandwidth_in.iter().map(|line| &line.matcher);
    let matchers = matchers.chain(limits.bandwidth_out.iter().map(|line| &line.matcher));
    let matchers = matchers.chain(limits.connections.iter().map(|line| &line.matcher));
    let matchers = matchers.chain(limits.traffic.iter().map(|line| &line.limit.matcher));
    matchers.fold(Fields::NONE, |fields, matcher| fields.with(compares(matcher)))
}

/// Of what a query can leave out: what a matcher compares.
fn compares(matcher: &Matcher) -> Fields {
    let addresses = matcher.targets.as_deref().is_some_and(|targets| !targets.addresses.is_empty());
    let times = matcher.weekdays.is_some() || matcher.periods.is_some();
    [(matcher.sources.is_some(), Fields::SOURCE), (addresses, Fields::ADDRESS), (times, Fields::TIME)]
        .into_iter()
        .filter(|(does, _)| *does)
        .fold(Fields::NONE, |fields, (_, field)| fields.with(field))
}
