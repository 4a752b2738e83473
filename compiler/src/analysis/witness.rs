//! Witnesses: requests that show what a policy does, made from what its entries list.
//!
//! A rule that claims "such a request goes wrong" builds candidates here, asks the policy about them, and shows one that does. So
//! what it reports is proved, and where no candidate goes wrong it is silent. What candidates are made of is in [`values`], for those
//! too who make requests in other ways: `shadow/sample.rs` one that an entry decides itself, `requests/example.rs` one of a set.
pub(crate) mod values;

use std::{fmt, net::IpAddr};

use grammar::value::OPERATION_WORDS;

pub(crate) use values::OFFICE_HOURS;
use values::{ELSEWHERE, LOOPBACK, NAMES, PORTS, STRANGERS, USERS, is_of_loopback, next, previous};

use crate::policy::Policy;
use crate::{
    program::{
        acl::{Matcher, Operation},
        auth::AuthType,
        service::Service,
    },
    table::{Fields, Request, WeekTime, oracle::target_ranges},
};

/// A request with all its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// User name.
    pub user: Option<Vec<u8>>,
    /// Client address.
    pub source: IpAddr,
    /// Target.
    pub target: Target,
    /// Target port.
    pub port: u16,
    /// Operation.
    pub operation: Operation,
    /// When.
    pub time: WeekTime,
}

/// A target: as the client names it, and its address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// A name, or the text of the address; `None`: the service knows none.
    pub host: Option<Vec<u8>>,
    /// The address, known to the client or resolved.
    pub address: Option<IpAddr>,
}

/// Candidates: each combination of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Space {
    users: Vec<Option<Vec<u8>>>,
    sources: Vec<IpAddr>,
    targets: Vec<Target>,
    ports: Vec<u16>,
    operations: Vec<Operation>,
    times: Vec<WeekTime>,
}

/// At most this many of what an entry lists are tried.
const TRIED: usize = 3;

impl Space {
    /// Requests of `service`'s clients that an entry's fields accept, as the list sees them when `step` of the chain walks it.
    #[must_use]
    pub(crate) fn accepted(matcher: &Matcher, service: &Service, step: AuthType, policy: &Policy) -> Self {
        let operations = matcher.operations;
        let can = service.kind.operations().iter().copied();
        Self {
            users: users(matcher, step, policy),
            sources: match matcher.sources.as_deref() {
                None => vec![STRANGERS[0]],
                Some(ranges) => ranges.iter().take(TRIED).map(|range| values::host(*range)).collect(),
            },
            targets: targets(matcher, service),
            ports: ports(matcher, service),
            operations: can.filter(|operation| operations.is_none_or(|set| set.has(*operation))).collect(),
            times: values::time(matcher, OFFICE_HOURS).into_iter().collect(),
        }
    }

    /// The combinations, at most `most` of them.
    pub(crate) fn requests(&self, most: usize) -> impl Iterator<Item = Witness> + '_ {
        let lengths = [
            self.operations.len(),
            self.ports.len(),
            self.targets.len(),
            self.users.len(),
            self.sources.len(),
            self.times.len(),
        ];
        let all: usize = lengths.iter().product();
        (0..all.min(most)).filter_map(move |number| {
            let mut rest = number;
            let mut next = |length: usize| {
                let at = rest.checked_rem(length)?;
                rest /= length;
                Some(at)
            };
            let operation = *self.operations.get(next(self.operations.len())?)?;
            let port = *self.ports.get(next(self.ports.len())?)?;
            let target = self.targets.get(next(self.targets.len())?)?.clone();
            let user = self.users.get(next(self.users.len())?)?.clone();
            let source = *self.sources.get(next(self.sources.len())?)?;
            let time = *self.times.get(next(self.times.len())?)?;
            Some(Witness { user, source, target, port, operation, time })
        })
    }
}

impl Witness {
    /// As a table is asked.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request {
            user: self.user.as_deref(),
            source: self.source,
            host: self.target.host.as_deref(),
            address: self.target.address,
            port: self.port,
            operation: self.operation,
            time: self.time,
            weight: 0,
            redirected: false,
        }
    }

    /// The same request but for one field, which gets other values: some that `matcher` lists nothing like, and some near its own.
    #[must_use]
    pub(crate) fn varied(
        &self,
        field: Fields,
        service: &Service,
        step: AuthType,
        policy: &Policy,
    ) -> Vec<Self> {
        let with = |change: &dyn Fn(&mut Self)| {
            let mut other = self.clone();
            change(&mut other);
            other
        };
        let any = Matcher::default();
        let varied: Vec<Self> = match field {
            // The clients can't choose.
            Fields::HOST | Fields::ADDRESS | Fields::PORT if !service.asks_for_target() => Vec::new(),
            Fields::USER => users(&any, step, policy)
                .into_iter()
                .map(|user| with(&|it| it.user.clone_from(&user)))
                .collect(),
            Fields::SOURCE => {
                let near = [next(self.source), previous(self.source)];
                let others = STRANGERS.into_iter().chain(near.into_iter().flatten());
                others.map(|source| with(&|it| it.source = source)).collect()
            }
            Fields::HOST => NAMES
                .into_iter()
                .map(|name| with(&|it| it.target.host = Some(name.as_bytes().to_vec())))
                .collect(),
            Fields::ADDRESS => {
                let known = self.target.address;
                let near = [known.and_then(next), known.and_then(previous)];
                let others = [ELSEWHERE, STRANGERS[1]].into_iter().chain(near.into_iter().flatten());
                others.map(|address| with(&|it| it.target = Target::literal(address))).collect()
            }
            Fields::PORT => {
                let near = [self.port.checked_add(1), self.port.checked_sub(1)].into_iter().flatten();
                PORTS.into_iter().chain(near).map(|port| with(&|it| it.port = port)).collect()
            }
            Fields::OPERATION => service
                .kind
                .operations()
                .iter()
                .map(|operation| with(&|it| it.operation = *operation))
                .collect(),
            _ => Vec::new(),
        };
        varied.into_iter().filter(|other| other != self).collect()
    }
}

impl Target {
    /// A target that the client names by its address.
    #[must_use]
    pub fn literal(address: IpAddr) -> Self {
        Self { host: Some(address.to_string().into_bytes()), address: Some(address) }
    }

    /// The target and port of a port mapper, whatever the client wants.
    #[must_use]
    pub fn fixed(service: &Service) -> Option<(Self, u16)> {
        let target = service.target.as_ref()?;
        let address = target.host.to_str().and_then(|host| host.parse().ok());
        let named = || Self::named(target.host.as_bytes());
        Some((address.map_or_else(named, Self::literal), target.port))
    }

    /// A target that the client names: somewhere, or this host if that is what the name says.
    #[must_use]
    pub fn named(name: &[u8]) -> Self {
        let address = if is_of_loopback(name) { LOOPBACK } else { ELSEWHERE };
        Self { host: Some(name.to_vec()), address: Some(address) }
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let single = |(_, all): &&(&str, &[Operation])| **all == [self.operation];
        let operation = OPERATION_WORDS.iter().find(single).map_or("request", |(word, _)| word);
        write!(f, "`{operation}")?;
        let host = self.target.host.as_deref().map(String::from_utf8_lossy);
        match (host, self.target.address) {
            (Some(host), _) if host.contains(':') => write!(f, " [{host}]:{}", self.port)?,
            (Some(host), _) => write!(f, " {host}:{}", self.port)?,
            (None, Some(address)) => write!(f, " {address}:{}", self.port)?,
            (None, None) => {}
        }
        write!(f, "`")?;
        if let Some(user) = &self.user {
            write!(f, " by `{}`", String::from_utf8_lossy(user))?;
        }
        write!(f, " from {}", self.source)
    }
}

/// User names that an entry accepts and that the list can see when `step` walks it.
fn users(matcher: &Matcher, step: AuthType, policy: &Policy) -> Vec<Option<Vec<u8>>> {
    let listed = matcher.users.as_ref();
    let defined = &policy.program().users;
    if step == AuthType::IpOnly {
        // It hides the name.
        let nobody = listed.is_none_or(|names| names.iter().any(|name| name == b"-"));
        return if nobody { vec![None] } else { Vec::new() };
    }
    let unknown = policy.program().unknown.users;
    // Without any `users` the file is a part of one: then every name may exist.
    let checked = step == AuthType::Strong && (!defined.is_empty() || unknown);
    let exists = |name: &&[u8]| *name != b"-" && (!checked || policy.user(name).is_some());
    let own = |names: &mut dyn Iterator<Item = &[u8]>| {
        names.filter(exists).take(TRIED).map(|name| Some(name.to_vec())).collect()
    };
    match listed {
        Some(names) => own(&mut names.iter()),
        None if checked && !unknown => own(&mut defined.iter().map(|user| user.name.as_bytes())),
        None => USERS.iter().map(|name| Some(name.as_bytes().to_vec())).collect(),
    }
}

/// Targets that an entry accepts and that a service's clients can ask for.
fn targets(matcher: &Matcher, service: &Service) -> Vec<Target> {
    if let Some((target, _)) = Target::fixed(service) {
        return vec![target];
    }
    if !service.kind.has_target() {
        return vec![Target::default()];
    }
    match matcher.targets.as_deref() {
        None => vec![Target::named(NAMES[0].as_bytes()), Target::literal(ELSEWHERE)],
        Some(targets) => {
            let addresses =
                target_ranges(targets).take(TRIED).map(|range| Target::literal(values::host(range)));
            let names =
                targets.names.iter().take(TRIED).map(|pattern| Target::named(&values::name(pattern, b"www")));
            addresses.chain(names).collect()
        }
    }
}

/// Ports that an entry accepts.
fn ports(matcher: &Matcher, service: &Service) -> Vec<u16> {
    match (&service.target, service.kind.has_target(), matcher.ports.as_deref()) {
        (Some(target), ..) => vec![target.port],
        (None, false, _) => vec![0],
        (None, true, None) => PORTS.into_iter().take(TRIED).collect(),
        (None, true, Some(ranges)) => ranges
            .iter()
            .filter(|range| range.first <= range.last)
            .take(TRIED)
            .map(|range| range.first)
            .collect(),
    }
}
