//! What lines of a list match of each other, calculated.
use crate::{
    analysis::requests::{
        askable::Askable,
        cell::{Cell, Work},
        space::{Half, Space},
    },
    program::acl::Matcher,
};

/// At most this many parts of what a line matches are told apart.
const MOST: usize = 64;
/// How much work it is worth to compare two lines.
const WORK: u64 = 100_000;

/// Whether `wide` matches every request that `narrow` matches. If that is too much work: not known to.
pub(super) fn covers(wide: &Matcher, narrow: &Matcher) -> bool {
    let asked = Askable::everything();
    let universe = Universe::of(&asked, [wide, narrow].into_iter());
    let mut open = universe.matched(narrow);
    universe.take(&mut open, wide, &mut Work(WORK)).is_some() && open.iter().all(Vec::is_empty)
}

/// All requests, and what entries of one list match of them.
pub(super) struct Universe<'a> {
    space: Space<'a>,
    requests: [Vec<Cell<'a>>; 2],
}

impl<'a> Universe<'a> {
    pub(super) fn of(asked: &'a Askable, matchers: impl Iterator<Item = &'a Matcher> + Clone) -> Self {
        let space = Space::new(matchers, &[]);
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
                *cells = std::mem::take(cells).into_iter().flat_map(|cell| cell.except(&shape)).collect();
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
