//! Ranges over one ordered kind of value: which entries have a range that a value lies in.
//!
//! A segment tree over the values at which some range begins or ends. A range is noted at the few nodes that together cover it, so
//! nested and overlapping ranges cost a logarithm each, and a value's entries are what is noted on the way from its leaf to the root.
use smallvec::SmallVec;

use super::postings::Postings;

/// A value that ranges are made of.
pub(super) trait Point: Copy + Ord {
    /// The value behind it; `None`: it is the last.
    fn next(self) -> Option<Self>;
}

macro_rules! point {
    ($($number:ty),+) => {
        $(impl Point for $number {
            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }
        })+
    };
}
point!(u16, u32, u128);

/// Lists of entries, to be merged.
pub(crate) type Lists<'a> = SmallVec<[&'a [u32]; 6]>;

/// Ranges and the entries that have them.
#[derive(Clone, Debug)]
pub(super) struct Intervals<K> {
    /// Where the segments begin that no range's end divides, ascending.
    starts: Box<[K]>,
    /// For each node of the tree: the nearest one at or above it that has entries; 0 is none.
    noted: Box<[u32]>,
    /// The entries noted at each node.
    postings: Postings,
}

impl<K: Point> Intervals<K> {
    /// Of ranges (first, last, entry), with the entries ascending. A range whose last is before its first holds nothing.
    pub(super) fn new(ranges: &[(K, K, u32)]) -> Self {
        let ranges = || ranges.iter().filter(|(first, last, _)| first <= last);
        let ends = ranges().flat_map(|(first, last, _)| [Some(*first), last.next()]);
        let mut starts: Vec<K> = ends.flatten().collect();
        starts.sort_unstable();
        starts.dedup();
        let leaves = starts.len();
        let leaf = |value: K| leaves + starts.partition_point(|start| *start < value);
        let mut pairs = Vec::with_capacity(ranges().count());
        for (first, last, entry) in ranges() {
            let (mut low, mut high) = (leaf(*first), last.next().map_or(2 * leaves, leaf));
            while low < high {
                if low % 2 == 1 {
                    pairs.push((small(low), *entry));
                    low += 1;
                }
                if high % 2 == 1 {
                    high -= 1;
                    pairs.push((small(high), *entry));
                }
                low /= 2;
                high /= 2;
            }
        }
        let postings = Postings::new(2 * leaves, &pairs);
        let mut noted = vec![0_u32; 2 * leaves];
        for node in 1..2 * leaves {
            let own = !postings.of(small(node)).is_empty();
            let nearest = if own { small(node) } else { noted.get(node / 2).copied().unwrap_or_default() };
            if let Some(place) = noted.get_mut(node) {
                *place = nearest;
            }
        }
        Self { starts: starts.into(), noted: noted.into(), postings }
    }

    /// Adds the lists of the entries that have a range with `value` in it.
    pub(super) fn find<'a>(&'a self, value: K, lists: &mut Lists<'a>) {
        let Some(segment) = self.starts.partition_point(|start| *start <= value).checked_sub(1) else {
            return;
        };
        let nearest = |node: usize| self.noted.get(node).copied().unwrap_or_default();
        let mut node = nearest(self.starts.len() + segment);
        while node != 0 {
            lists.push(self.postings.of(node));
            node = nearest(node as usize / 2);
        }
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.noted) + self.postings.bytes()
    }
}

/// A node's number: there are fewer than 2³² of them, since a file has fewer bytes.
fn small(node: usize) -> u32 {
    u32::try_from(node).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Intervals, Lists};

    proptest! {
        #[test]
        fn finds_the_entries_whose_range_has_the_value(
            ranges in prop::collection::vec((any::<u16>(), any::<u16>()), 0..60),
            narrow in prop::collection::vec((0_u16..40, 0_u16..40), 0..60),
            values in prop::collection::vec(prop_oneof![any::<u16>(), 0_u16..45, Just(u16::MAX)], 1..60),
        ) {
            let ranges: Vec<(u16, u16, u32)> =
                ranges.into_iter().chain(narrow).zip(0..).map(|((first, last), at)| (first, last, at / 2)).collect();
            let intervals = Intervals::new(&ranges);
            for value in values {
                let mut lists = Lists::new();
                intervals.find(value, &mut lists);
                for list in &lists {
                    prop_assert!(list.is_sorted() && !list.is_empty());
                }
                let found: BTreeSet<u32> = lists.into_iter().flatten().copied().collect();
                let wanted = ranges.iter().filter(|(first, last, _)| *first <= value && value <= *last);
                prop_assert_eq!(found, wanted.map(|(_, _, at)| *at).collect::<BTreeSet<u32>>());
            }
        }
    }
}
