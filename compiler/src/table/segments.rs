//! Ranges over one ordered kind of value with few ends between them: which entries accept a value, as one set for each segment.
//!
//! Most lists name a handful of ports and times, and many entries name the same. [`Intervals`](super::intervals::Intervals) are for
//! ranges of which each is an entry's own.
use super::{
    bits::{BLOCK, Bits},
    intervals::Point,
};

/// More segments are not worth a set each.
const MOST: usize = 64;

/// Segments and the entries that accept the values in them.
#[derive(Clone, Debug)]
pub(super) struct Segments<K> {
    /// Where segments begin, ascending, but for the first, which begins at the least value.
    starts: Box<[K]>,
    /// For each segment.
    sets: Box<[Bits]>,
}

impl<K: Point> Segments<K> {
    /// Of ranges (first, last, entry) of `len` entries; the entries of `any` accept all values. `None`: there are too many segments.
    pub(super) fn new(len: u32, any: &Bits, ranges: &[(K, K, u32)]) -> Option<Self> {
        let ranges = || ranges.iter().filter(|(first, last, _)| first <= last);
        let mut starts: Vec<K> = Vec::new();
        for end in ranges().flat_map(|(first, last, _)| [Some(*first), last.next()]).flatten() {
            if let Err(place) = starts.binary_search(&end) {
                starts.insert(place, end);
            }
            if starts.len() >= MOST {
                return None;
            }
        }
        let mut sets = vec![any.blocks().to_vec(); starts.len() + 1];
        for blocks in &mut sets {
            blocks.resize(len.div_ceil(BLOCK) as usize, 0);
        }
        for (first, last, entry) in ranges() {
            let segment = |value: K| starts.partition_point(|start| *start <= value);
            for blocks in sets.get_mut(segment(*first)..=segment(*last)).unwrap_or_default() {
                if let Some(block) = blocks.get_mut((entry / BLOCK) as usize) {
                    *block |= 1 << (entry % BLOCK);
                }
            }
        }
        Some(Self { starts: starts.into(), sets: sets.into_iter().map(Bits::of).collect() })
    }

    /// The entries that accept `value`.
    pub(super) fn find(&self, value: K) -> Option<&Bits> {
        self.sets.get(self.starts.partition_point(|start| *start <= value))
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.starts)
            + self.sets.iter().map(|set| set.bytes() + size_of::<Bits>()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Bits, Segments};

    proptest! {
        #[test]
        fn a_value_has_the_entries_whose_range_it_lies_in_and_those_that_accept_any(
            len in 1_u32..200,
            ranges in prop::collection::vec((0_u16..20, 0_u16..20, 0_u32..200), 0..60),
            last in prop::option::of(0_u32..200),
        ) {
            let ranges: Vec<_> = ranges.into_iter()
                .chain(last.map(|entry| (19, u16::MAX, entry)))
                .filter(|(.., entry)| *entry < len)
                .collect();
            let any = |entry: u32| entry.is_multiple_of(7);
            let segments = Segments::new(len, &Bits::new(len, any), &ranges).unwrap();
            for value in (0..22).chain([u16::MAX]) {
                let accepts = |entry: u32| {
                    any(entry) || ranges.iter().any(|(first, last, of)| *of == entry && *first <= value && value <= *last)
                };
                prop_assert_eq!(segments.find(value), Some(&Bits::new(len, accepts)), "{}", value);
            }
        }
    }
}
