//! The access decision: which entry of a list decides a request.
//!
//! [`oracle`] is the specification: the plain walk, to be read beside `allow` in the manual. [`index`] answers the same from indexes.
//! Everything else asks through [`Table`].
pub mod index;
pub mod oracle;

use std::net::IpAddr;

use crate::program::acl::{AceId, Operation};

/// What the client asks for, as far as an entry can compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The user name; `None`: nobody logged in.
    pub user: Option<&'a [u8]>,
    /// The client's address. An IPv4-mapped one must be given as IPv4.
    pub source: IpAddr,
    /// The target's name, if the client gave one.
    pub host: Option<&'a [u8]>,
    /// The target's address, if there is one: as given, or as resolved.
    pub address: Option<IpAddr>,
    /// The target's port; 0: not known.
    pub port: u16,
    /// What is to be done there.
    pub operation: Operation,
    /// When.
    pub time: WeekTime,
    /// The weight that an earlier match of the same request left behind; 0 at first.
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
    /// The fields that could have changed the outcome.
    pub depends_on: Fields,
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

/// A set of request fields.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Fields(u16);

impl Fields {
    /// No field.
    pub const NONE: Self = Self(0);
    /// User name.
    pub const USER: Self = Self(1);
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

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
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

/// Decides requests by one list.
pub trait Table {
    /// What the list says of `request`.
    fn decide(&self, request: &Request<'_>) -> Verdict;
}
