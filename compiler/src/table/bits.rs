//! Sets of entries as bits, in blocks of 64 that are skipped when empty.

/// Entries per block.
pub(super) const BLOCK: u32 = u64::BITS;

/// A set of entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits {
    /// Up to the last that is not empty.
    blocks: Box<[u64]>,
    /// A bit for each block that is not empty.
    summary: Box<[u64]>,
}

impl Bits {
    /// Those of the first `len` entries that `has` says yes to.
    pub(super) fn new(len: u32, has: impl Fn(u32) -> bool) -> Self {
        let block = |at: u32| {
            (0..BLOCK).filter(|bit| at + bit < len && has(at + bit)).fold(0, |word, bit| word | 1 << bit)
        };
        Self::of((0..len).step_by(BLOCK as usize).map(block).collect())
    }

    /// Of blocks.
    pub(super) fn of(mut blocks: Vec<u64>) -> Self {
        blocks.truncate(blocks.iter().rposition(|block| *block != 0).map_or(0, |last| last + 1));
        let filled = |blocks: &[u64]| {
            blocks.iter().zip(0..).fold(0, |word, (block, bit)| word | u64::from(*block != 0) << bit)
        };
        let summary = blocks.chunks(BLOCK as usize).map(filled).collect();
        Self { blocks: blocks.into(), summary }
    }

    /// The entries, 64 by 64.
    pub(super) fn blocks(&self) -> &[u64] {
        &self.blocks
    }

    /// Whether an entry is one of them.
    pub(super) fn has(&self, entry: u32) -> bool {
        self.blocks.get((entry / BLOCK) as usize).is_some_and(|block| block & 1 << (entry % BLOCK) != 0)
    }

    /// The first block from `from` on, and before `end`, that is not empty: which, and its entries.
    pub(super) fn block(&self, from: u32, end: u32) -> Option<(u32, u64)> {
        let mut word = from / BLOCK;
        let mut filled = self.summary.get(word as usize)? & (u64::MAX << (from % BLOCK));
        while filled == 0 {
            word += 1;
            if word * BLOCK >= end {
                return None;
            }
            filled = *self.summary.get(word as usize)?;
        }
        let at = word * BLOCK + filled.trailing_zeros();
        if at < end { Some((at, *self.blocks.get(at as usize)?)) } else { None }
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.blocks) + size_of_val(&*self.summary)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, Bits};

    proptest! {
        #[test]
        fn blocks_laid_end_to_end_are_the_set(
            len in 0_u32..9000,
            members in prop::collection::btree_set(0_u32..9000, 0..60),
            end in prop_oneof![0_u32..150, Just(u32::MAX)],
        ) {
            let bits = Bits::new(len, |at| members.contains(&at));
            let mut found = Vec::new();
            let mut from = 0;
            while let Some((at, block)) = bits.block(from, end) {
                prop_assert!((from..end).contains(&at) && block != 0);
                found.extend((0..BLOCK).filter(|bit| block & (1 << bit) != 0).map(|bit| at * BLOCK + bit));
                from = at + 1;
            }
            prop_assert!((0..9100).all(|at| bits.has(at) == (at < len && members.contains(&at))));
            let wanted: Vec<u32> = members.into_iter().filter(|at| *at < len && *at / BLOCK < end).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
