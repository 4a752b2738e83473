//! The lists of limits, and what their lines match of each other.
use crate::{
    program::{
        acl::Matcher,
        limits::{Direction, Limit, Limits},
    },
    requests::{
        askable::Askable,
        cell::{Cell, Work},
        space::{Half, Space},
    },
    sources::Loc,
};

/// So many parts of what a line matches are told apart.
const MOST: usize = 64;
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

/// All requests, and what entries of one list match of them.
pub(super) struct Universe<'a> {
    space: Space<'a>,
    requests: [Vec<Cell<'a>>; 2],
}

impl<'a> Universe<'a> {
    pub(super) fn of(asked: &'a Askable, lines: &'a [Line<'a>]) -> Self {
        let space = Space::new(lines.iter().map(|line| line.matcher), &[]);
        let requests = Half::ALL.map(|half| space.requests(asked, half));
        Self { space, requests }
    }

    /// What a line matches, of the BINDs and of all others.
    pub(super) fn matched(&self, matcher: &'a Matcher) -> [Vec<Cell<'a>>; 2] {
        Half::ALL.map(|half| {
            let shapes = self.space.shapes(matcher, half);
            let [others, binds] = &self.requests;
            let cells = match half {
                Half::Others => others,
                Half::Binds => binds,
            };
            cells.iter().flat_map(|cell| shapes.iter().filter_map(|shape| cell.and(shape))).collect()
        })
    }

    /// Takes out what another line matches. Whether it met anything; `None`: too much work.
    pub(super) fn take(
        &self,
        open: &mut [Vec<Cell<'a>>; 2],
        matcher: &'a Matcher,
        work: &mut Work,
    ) -> Option<bool> {
        let mut met = false;
        for (cells, half) in open.iter_mut().zip(Half::ALL) {
            for shape in self.space.shapes(matcher, half) {
                if cells.len() > MOST || !work.spend(16 + cells.iter().map(Cell::len).sum::<usize>()) {
                    return None;
                }
                met |= cells.iter().any(|cell| cell.meets(&shape));
                let left = std::mem::take(cells).into_iter();
                let left =
                    left.flat_map(|cell| if cell.meets(&shape) { cell.minus(&shape) } else { vec![cell] });
                *cells = left.collect();
            }
        }
        Some(met)
    }

    /// Whether some request matches both.
    pub(super) fn meets(&self, matched: &[Vec<Cell<'a>>; 2], matcher: &'a Matcher, work: &mut Work) -> bool {
        matched.iter().zip(Half::ALL).any(|(cells, half)| {
            work.spend(8 + cells.len())
                && self
                    .space
                    .shapes(matcher, half)
                    .iter()
                    .any(|shape| cells.iter().any(|cell| cell.meets(shape)))
        })
    }
}
