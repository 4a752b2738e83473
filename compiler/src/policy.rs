//! The Policy: what decides requests, compiled once per load, immutable, and numbered.
//!
//! It holds the [`Program`] that it was compiled from, so that a verdict's entry can be looked up, and named by its line.
use std::{collections::HashMap, fmt, sync::Arc};

use grammar::Text;

use crate::{
    program::{
        Program,
        acl::{Ace, AclRef, Parent},
        auth::Password,
        limits::{Direction, Limit},
    },
    table::{Decision, Fields, Request, Subject, Table, Verdict, oracle},
};

mod identity;

/// What decides requests.
pub struct Policy {
    program: Arc<Program>,
    identity: u64,
    /// Of users with one name, the last.
    users: HashMap<Text, u32>,
}

/// A list of limits that apply to all services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitList {
    /// [`Limits::bandwidth_in`](crate::program::limits::Limits::bandwidth_in).
    BandwidthIn,
    /// [`Limits::bandwidth_out`](crate::program::limits::Limits::bandwidth_out).
    BandwidthOut,
    /// [`Limits::connections`](crate::program::limits::Limits::connections).
    Connections,
    /// [`Limits::traffic`](crate::program::limits::Limits::traffic), those that count towards the client.
    TrafficIn,
    /// The same, those that count towards the server.
    TrafficOut,
}

impl Policy {
    /// Compiles a Program.
    #[must_use]
    pub fn compile(program: &Arc<Program>) -> Self {
        let users = program.users.iter().zip(0..).map(|(user, at)| (user.name.clone(), at)).collect();
        Self { identity: identity::of(program), users, program: Arc::clone(program) }
    }

    /// What it was compiled from.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// A number that two Policies share only if they decide alike: it covers services' chains, caches and lists, users with their
    /// passwords, RADIUS, parents and limits, and neither comments nor places. Of one build of cfgc only: not to be kept on disk.
    #[must_use]
    pub const fn identity(&self) -> u64 {
        self.identity
    }

    /// What the access list of the service at this index of [`Program::services`] says of `request`.
    /// No such service: refused.
    #[must_use]
    pub fn decide(&self, service: usize, request: &Request<'_>) -> Verdict {
        match self.list(service) {
            Some(Some(list)) => self.table(list).decide(request),
            Some(None) => Verdict { entry: None, decision: Decision::Allow },
            None => Verdict::END,
        }
    }

    /// Which fields of `request` fix what [`Policy::decide`] says: see [`Table::depends_on`].
    #[must_use]
    pub fn depends_on(&self, service: usize, request: &Request<'_>) -> Fields {
        self.list(service).flatten().map_or(Fields::NONE, |list| self.table(list).depends_on(request))
    }

    /// The parents that a verdict sends the request through, in the order in which they are drawn; none if it goes direct.
    #[must_use]
    pub fn parents(&self, verdict: Verdict) -> &[Parent] {
        self.ace(verdict).map_or(&[], |ace| self.program.acls.parents(ace))
    }

    /// The weight that a verdict leaves for the next walk of the same request, and for the limits.
    #[must_use]
    pub fn weight(&self, verdict: Verdict) -> i32 {
        self.ace(verdict).map_or(0, |ace| ace.weight.value)
    }

    /// The password of a user; of entries with one name the last counts.
    #[must_use]
    pub fn user(&self, name: &[u8]) -> Option<&Password> {
        let at = *self.users.get(name)?;
        Some(&self.program.users.get(at as usize)?.password)
    }

    /// The limits that apply to `request`, as indexes into the list: every one that matches, up to the first `no…` line that does.
    /// `request` has the [weight](Policy::weight) of the verdict that let it pass.
    #[must_use]
    pub fn limits(&self, list: LimitList, request: &Request<'_>) -> Vec<usize> {
        let limits = &self.program.limits;
        let subject = Subject::new(request);
        let traffic = |other| {
            let counted = limits.traffic.iter().enumerate().filter(move |(_, line)| line.direction != other);
            counted.map(|(at, line)| (at, &line.limit))
        };
        match list {
            // 3proxy has room for ten.
            LimitList::BandwidthIn => {
                applying(limits.bandwidth_in.iter().enumerate(), &subject).take(10).collect()
            }
            LimitList::BandwidthOut => {
                applying(limits.bandwidth_out.iter().enumerate(), &subject).take(10).collect()
            }
            LimitList::Connections => applying(limits.connections.iter().enumerate(), &subject).collect(),
            LimitList::TrafficIn => applying(traffic(Direction::Out), &subject).collect(),
            LimitList::TrafficOut => applying(traffic(Direction::In), &subject).collect(),
        }
    }

    fn list(&self, service: usize) -> Option<Option<AclRef>> {
        self.program.services.get(service).map(|service| service.acl)
    }

    fn table(&self, list: AclRef) -> impl Table {
        oracle::Walk { acls: &self.program.acls, list: Some(list) }
    }

    fn ace(&self, verdict: Verdict) -> Option<&Ace> {
        self.program.acls.ace(verdict.entry?)
    }
}

/// The indexes of `lines` that match, up to the first `no…` line that does.
fn applying<'a, T: 'a>(
    lines: impl Iterator<Item = (usize, &'a Limit<T>)>,
    subject: &Subject<'_>,
) -> impl Iterator<Item = usize> {
    let weighty = |line: &Limit<T>| line.weight == 0 || line.weight >= subject.weight;
    let matching = lines.filter(move |(_, line)| weighty(line) && oracle::matches(&line.matcher, subject));
    matching.take_while(|(_, line)| line.limit.is_some()).map(|(at, _)| at)
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").field("identity", &self.identity).finish_non_exhaustive()
    }
}
