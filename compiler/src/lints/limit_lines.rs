//! The lists of limits, as they are walked.
use crate::{
    program::{
        acl::Matcher,
        limits::{Direction, Limit, Limits},
    },
    sources::Loc,
};

/// A line of a limit list.
pub(super) struct Line<'a> {
    pub(super) at: Loc,
    pub(super) matcher: &'a Matcher,
    /// A `no…` line.
    pub(super) ends: bool,
    weight: i32,
}

/// The lists that are walked, without those that have weights.
pub(super) fn lists(limits: &Limits) -> [Vec<Line<'_>>; 5] {
    let traffic = |other: Direction| {
        let counted = limits.traffic.iter().filter(move |line| line.direction != other);
        plain(counted.map(|line| self::line(&line.limit)).collect())
    };
    [
        plain(limits.bandwidth_in.iter().map(line).collect()),
        plain(limits.bandwidth_out.iter().map(line).collect()),
        plain(limits.connections.iter().map(line).collect()),
        traffic(Direction::Out),
        traffic(Direction::In),
    ]
}

const fn line<T>(limit: &Limit<T>) -> Line<'_> {
    Line { at: limit.at, matcher: &limit.matcher, ends: limit.limit.is_none(), weight: limit.weight }
}

fn plain(lines: Vec<Line<'_>>) -> Vec<Line<'_>> {
    if lines.iter().any(|line| line.weight != 0) { Vec::new() } else { lines }
}
