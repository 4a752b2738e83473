//! The access decision: which entry of a list decides a request.
//!
//! [`oracle`] is the specification: the plain walk, to be read beside `allow` in the manual. [`index`] answers the same from indexes.
//! Everything else asks through [`Table`].
//!
//! Reading order: [`oracle`], [`list`] (the table of one list, for all services that copied a part of it), [`index`] and what it is
//! made of: `texts`, `names`, `networks`, `schedule`, `segments`, `intervals`, `postings`, `bits`.
mod bits;
pub(crate) mod index;
pub(crate) mod intervals;
pub(crate) mod list;
pub(crate) mod names;
mod networks;
pub mod oracle;
mod postings;
pub(crate) mod schedule;
mod segments;
mod subject;
#[cfg(test)]
mod tests;
mod texts;

pub use subject::Subject;

use std::net::IpAddr;

use crate::program::acl::{Ace, AceId, Action, Operation};

/// What the client asks for, as far as an entry can compare it. Taken as it comes: [`Subject`] brings it to one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The user name; `None`: nobody logged in.
    pub user: Option<&'a [u8]>,
    /// The client's address. An IPv4-mapped one is taken for the IPv4 address that it is.
    pub source: IpAddr,
    /// The target as the client named it; if it did so by address, the text of that. `None`: the service knows none. Case and one
    /// dot at its end don't matter.
    pub host: Option<&'a [u8]>,
    /// The target's address, if there is one: as given, or as resolved. All zeros is none.
    pub address: Option<IpAddr>,
    /// The target's port; 0: not known.
    pub port: u16,
    /// What is to be done there.
    pub operation: Operation,
    /// When.
    pub time: WeekTime,
    /// The weight of the entry that an earlier walk for the same request ended at; 0 at first. A limit list is asked with the
    /// weight of the entry that let the request pass.
    pub weight: i32,
    /// Local redirections were followed already: entries whose first parent is a local redirection are skipped.
    pub redirected: bool,
}

/// A moment in local time, as entries see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeekTime {
    /// 0 is Sunday.
    pub day: u8,
    /// Seconds since midnight.
    pub second: u32,
}

/// What a list says of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The entry that decided; `None`: no entry matched, the implicit end.
    pub entry: Option<AceId>,
    /// What it decided.
    pub decision: Decision,
}

impl Verdict {
    /// The end of a list that is not empty, and what is said where there is nothing to ask.
    pub const END: Self = Self { entry: None, decision: Decision::End };

    /// What an empty list says.
    pub(crate) const EMPTY: Self = Self { entry: None, decision: Decision::Allow };

    /// The verdict of an entry.
    #[must_use]
    pub fn of(id: AceId, ace: &Ace) -> Self {
        Self { entry: Some(id), decision: Decision::of(ace) }
    }

    /// Whether the request passes, directly or through parents.
    #[must_use]
    pub const fn passes(self) -> bool {
        self.decision.passes()
    }
}

/// What a list says of a UDP association, whose destinations only its datagrams name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preauthorization {
    /// Whether there may be an association: it passes if some destination may.
    pub verdict: Verdict,
    /// No entry that was asked compares a target or a port: the verdict is that of every destination, and no datagram needs to be
    /// judged by itself.
    pub settled: bool,
}

/// What is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Pass, directly. An empty list passes everything.
    Allow,
    /// Refused by an entry.
    Deny,
    /// Pass, through the entry's parents.
    Redirect,
    /// Refused by the end of a list that is not empty.
    End,
}

impl Decision {
    /// Whether the request passes, directly or through parents.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Self::Allow | Self::Redirect)
    }

    /// What an entry decides once it matches.
    #[must_use]
    pub const fn of(ace: &Ace) -> Self {
        match (ace.action, ace.redirects()) {
            (Action::Deny, _) => Self::Deny,
            (Action::Allow, false) => Self::Allow,
            (Action::Allow, true) => Self::Redirect,
        }
    }
}

/// A set of request fields.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fields(u16);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// User name.
    pub(crate) const USER: Self = Self(1);
    /// Client address.
    pub const SOURCE: Self = Self(1 << 1);
    /// Target name.
    pub const HOST: Self = Self(1 << 2);
    /// Target address.
    pub const ADDRESS: Self = Self(1 << 3);
    /// Target port.
    pub const PORT: Self = Self(1 << 4);
    /// Operation.
    pub const OPERATION: Self = Self(1 << 5);
    /// Weekday or time of day.
    pub const TIME: Self = Self(1 << 6);
    /// Weight left by an earlier match.
    pub const WEIGHT: Self = Self(1 << 7);

    /// Every field.
    pub const ALL: Self = Self(0xff);
    /// Both ways to name a target: alternatives of each other in an entry.
    pub const TARGET: Self = Self::HOST.with(Self::ADDRESS);
    /// What a UDP association's datagrams name.
    pub const DESTINATION: Self = Self::TARGET.with(Self::PORT);

    const NAMES: [(Self, &'static str); 8] = [
        (Self::USER, "user"),
        (Self::SOURCE, "source"),
        (Self::HOST, "host"),
        (Self::ADDRESS, "address"),
        (Self::PORT, "port"),
        (Self::OPERATION, "operation"),
        (Self::TIME, "time"),
        (Self::WEIGHT, "weight"),
    ];

    /// Fields of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every field of `other` is here.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Fields of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Fields of this that `other` has not.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fields, one by one, in the order of an entry.
    pub fn each(self) -> impl Iterator<Item = Self> {
        Self::NAMES.into_iter().map(|(field, _)| field).filter(move |field| self.has(*field))
    }

    /// The fields' names, in the order of an entry.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(field, _)| self.has(*field)).map(|(_, name)| name)
    }
}

impl std::fmt::Debug for Fields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Decides requests by one list, as one service copied it.
pub trait Table {
    /// What the list says of `request`.
    fn decide(&self, request: &Request<'_>) -> Verdict;

    /// Fields that fix the outcome: whatever request has these in common with `request`, the same entry decides it.
    ///
    /// As few as possible: without any one of them that would no longer hold. Where a list uses weights it is every field that
    /// an entry up to the deciding one compares, since an entry may then change what a later one does.
    fn depends_on(&self, request: &Request<'_>) -> Fields;

    /// What the list says of `request` before its target and port are known: what it holds of them is not looked at.
    ///
    /// An entry that lists targets or ports might match: then an `allow` lets the association be, and a `deny` waits for the
    /// datagrams.
    fn preauthorize(&self, request: &Request<'_>) -> Preauthorization;
}
