//! The authentication chain of a service: which type is asked next, and what its answer and the access list make of the request.
//!
//! The types are asked in order. The first that knows the client ends the chain: what the access list says then is final. A type
//! that fails hands over to the next; if all fail, the highest code is the answer, and one above 9 is final at once. For `iponly`
//! the list itself is what succeeds or fails.
//!
//! Who the client is needs passwords, caches and servers: the caller finds that out. What follows from it is here, so that the
//! runtime, `cfgc test` and `cfgc trace` go one way.
use crate::{
    code::Code,
    policy::Policy,
    program::{
        acl::Parent,
        auth::{AuthStep, AuthType},
        resolve::DNS_PORT,
    },
    table::{Decision, Preauthorization, Request, Verdict},
};

/// What a type found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Nothing is checked, not even by the access list.
    Unchecked,
    /// The access list alone decides, and is not told the user name.
    Hidden,
    /// The user, as the client says or as was proved, and whether that is worth remembering.
    User {
        /// Name.
        name: Box<[u8]>,
        /// It was found out now, not remembered.
        fresh: bool,
    },
}

impl Identity {
    /// The name that the access list is told.
    #[must_use]
    pub fn user(&self) -> Option<&[u8]> {
        match self {
            Self::Unchecked | Self::Hidden => None,
            Self::User { name, .. } => Some(name),
        }
    }
}

/// What the list is asked of a query for a name that `dnspr` is sent, after it has let `request` pass, which names no target: 3proxy
/// asks no more than that.
#[must_use]
pub const fn for_name<'a>(request: &Request<'a>, host: &'a [u8]) -> Request<'a> {
    Request { host: Some(host), address: None, port: DNS_PORT, ..*request }
}

/// A chain that is being asked.
#[derive(Debug)]
pub struct Chain<'a> {
    policy: &'a Policy,
    service: usize,
    steps: &'a [AuthStep],
    /// The step that was asked last, counted from 1.
    asked: usize,
    worst: Code,
    is_over: bool,
}

/// What became of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What the access list said; `None`: it was not asked, since the client is not known by this type.
    pub verdict: Option<Verdict>,
    /// What the request would end with here.
    pub code: Code,
    /// Of a UDP association: no datagram needs to be judged by itself, see [`Preauthorization`].
    pub settled: bool,
}

impl<'a> Chain<'a> {
    /// The chain `steps` of the service at this index of [`Program::services`](crate::program::Program::services).
    #[must_use]
    pub const fn new(policy: &'a Policy, service: usize, steps: &'a [AuthStep]) -> Self {
        Self { policy, service, steps, asked: 0, worst: Code::PASSED, is_over: false }
    }

    /// The type to ask next; `None`: it is decided.
    pub fn next_type(&mut self) -> Option<AuthType> {
        let step = self.steps.get(self.asked).filter(|_| !self.is_over)?;
        self.asked += 1;
        Some(step.kind)
    }

    /// What follows from the answer of the type that was asked last: who the client is, or a code. `request` is what the client
    /// asks for; its user is not looked at.
    pub fn judge(&mut self, request: &Request<'_>, found: Result<&Identity, Code>) -> Judged {
        let (policy, service) = (self.policy, self.service);
        self.judge_by(request, found, &mut |request| policy.decide(service, request))
    }

    /// The same, where `ask` stands for the access list.
    pub(crate) fn judge_by(
        &mut self,
        request: &Request<'_>,
        found: Result<&Identity, Code>,
        ask: &mut dyn FnMut(&Request<'_>) -> Verdict,
    ) -> Judged {
        let judged = match found {
            Err(code) => Judged { verdict: None, code, settled: true },
            Ok(Identity::Unchecked) => self.code_of(request, None, UNCHECKED),
            Ok(identity) => {
                let user = identity.user();
                let verdict = ask(&Request { user, ..*request });
                self.code_of(request, user, verdict)
            }
        };
        self.note(judged)
    }

    /// The same of a UDP association, whose destinations its datagrams will name: what `request` says of one is not looked at.
    pub fn judge_association(&mut self, request: &Request<'_>, found: Result<&Identity, Code>) -> Judged {
        let judged = match found {
            Err(code) => Judged { verdict: None, code, settled: true },
            Ok(Identity::Unchecked) => self.code_of(request, None, UNCHECKED),
            Ok(identity) => {
                let user = identity.user();
                let Preauthorization { verdict, settled } =
                    self.policy.preauthorize(self.service, &Request { user, ..*request });
                Judged { settled, ..self.code_of(request, user, verdict) }
            }
        };
        self.note(judged)
    }

    /// What becomes of the chain.
    fn note(&mut self, judged: Judged) -> Judged {
        let is_known = judged.verdict.is_some() && self.step() != Some(AuthType::IpOnly);
        self.is_over = judged.code.is_final() || is_known;
        self.worst = if self.is_over { judged.code } else { self.worst.max(judged.code) };
        judged
    }

    /// The code of the request, once there is no type left to ask.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.worst
    }

    /// Whether a success of the type that was asked last is remembered: only if a cache was asked before it. As in 3proxy: behind
    /// `strong`, a cache that is keyed by the name alone would let a wrong password in that a right one had gone before.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.steps.iter().take(self.asked.saturating_sub(1)).any(|step| step.kind.is_cache())
    }

    fn code_of(&self, request: &Request<'_>, user: Option<&[u8]>, verdict: Verdict) -> Judged {
        let is_last = self.asked >= self.steps.len();
        let code = match verdict.decision {
            // 3proxy looks for a way to the target, which nobody has named, before it looks at the parents.
            Decision::Redirect if !request.operation.has_target() => Code::UNRESOLVED,
            // A parent wants the client's credentials: a type that can know them may come yet.
            Decision::Redirect if !is_last && user.is_none() && self.wants_user(verdict) => Code::NO_USER,
            // What was to be compared is the address that there is not.
            Decision::Deny if request.address.is_none() && self.lists_addresses_only(verdict) => {
                Code::UNRESOLVED
            }
            decision => Code::of(decision),
        };
        Judged { verdict: Some(verdict), code, settled: true }
    }

    fn step(&self) -> Option<AuthType> {
        self.steps.get(self.asked.checked_sub(1)?).map(|step| step.kind)
    }

    fn wants_user(&self, verdict: Verdict) -> bool {
        self.policy.parents(verdict).iter().any(Parent::wants_client_credentials)
    }

    /// Where an entry lists names too, it matched by one of them.
    fn lists_addresses_only(&self, verdict: Verdict) -> bool {
        let entry = verdict.entry.and_then(|entry| self.policy.program().acls.ace(entry));
        let targets = entry.and_then(|entry| entry.matcher.targets.as_ref());
        targets.is_some_and(|targets| targets.names.is_empty() && !targets.addresses.is_empty())
    }
}

/// The list is not asked.
const UNCHECKED: Verdict = Verdict { entry: None, decision: Decision::Allow };
