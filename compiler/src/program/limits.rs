//! Limits that apply to all services: bandwidth, connections, traffic.
//!
//! Each list is walked in order; every matching entry applies, up to the first `no…` entry that matches.
use grammar::Text;

use super::acl::Matcher;
use crate::sources::Loc;

/// Every limit of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// `bandlimin`, `nobandlimin`: towards the client.
    pub bandwidth_in: Vec<Limit<Bandwidth>>,
    /// `bandlimout`, `nobandlimout`: towards the server.
    pub bandwidth_out: Vec<Limit<Bandwidth>>,
    /// `connlim`, `noconnlim`.
    pub connections: Vec<Limit<ConnectionRate>>,
    /// `count…`, `nocount…`.
    pub traffic: Vec<Traffic>,
    /// The last `counter` line.
    pub counter_file: Option<CounterFile>,
}

/// A line of a limit list, whatever it limits.
pub(crate) struct LimitLine<'a> {
    pub(crate) at: Loc,
    pub(crate) matcher: &'a Matcher,
    /// It is no `no…` line.
    pub(crate) limits: bool,
}

impl Limits {
    /// Every line.
    pub(crate) fn lines(&self) -> impl Iterator<Item = LimitLine<'_>> {
        let bandwidth = self.bandwidth_in.iter().chain(&self.bandwidth_out).map(Limit::line);
        let connections = self.connections.iter().map(Limit::line);
        bandwidth.chain(connections).chain(self.traffic.iter().map(|traffic| traffic.limit.line()))
    }
}

/// One line of a limit list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit<T> {
    /// The line.
    pub at: Loc,
    /// What it limits, or `None`: a `no…` line, which ends the walk.
    pub limit: Option<T>,
    /// Which requests it is for.
    pub matcher: Matcher,
    /// The eighth field.
    pub weight: i32,
}

impl<T> Limit<T> {
    const fn line(&self) -> LimitLine<'_> {
        LimitLine { at: self.at, matcher: &self.matcher, limits: self.limit.is_some() }
    }

    /// It limits several clients together.
    #[must_use]
    pub(crate) fn is_shared(&self) -> bool {
        let Matcher { users, sources, .. } = &self.matcher;
        let one_user = users.as_ref().is_some_and(|users| users.iter().nth(1).is_none());
        let one_source = matches!(sources.as_deref(), Some([only]) if only.first == only.last);
        self.limit.is_some() && !one_user && !one_source
    }
}

/// A channel shared by all that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bandwidth {
    /// Bits per second; at least 300.
    pub bits_per_second: u32,
}

/// A number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionRate {
    /// How many.
    pub connections: u32,
    /// In this many seconds; 0: at a time.
    pub seconds: u32,
}

/// Which bytes a quota counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the server to the client.
    In,
    /// From the client to the server.
    Out,
    /// Both.
    All,
}

/// One `count…` or `nocount…` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// Which bytes it counts, or whose walk it ends.
    pub direction: Direction,
    /// The line.
    pub limit: Limit<Quota>,
}

/// A number of bytes in a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Record in the counter file; 0: not kept.
    pub number: u32,
    /// Text behind the number.
    pub comment: Text,
    /// When it starts anew.
    pub rotation: Rotation,
    /// Quota in bytes.
    pub bytes: u64,
}

/// `counter FILE [TYPE REPORT]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterFile {
    /// The line.
    pub at: Loc,
    /// Path of the file.
    pub path: Text,
    /// Reports, if asked for: how often, and the path.
    pub report: Option<(Rotation, Text)>,
}

pub use grammar::value::Rotation;
