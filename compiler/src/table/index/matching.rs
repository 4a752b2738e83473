//! One request's search through an index.
//!
//! An entry matches if every field accepts it. Where few entries name the request's value of some field, those are asked one by one
//! whether the other fields accept them too. Elsewhere the fields are asked in turn for their next block of 64 entries that is not
//! empty, the furthest block wins, and the blocks are intersected as words: so a field that few entries accept a value of makes
//! the search skip all others, and where no field is selective a step still covers 64 entries.
use std::ops::Range;

use smallvec::SmallVec;

use super::NOBODY;
use crate::table::{
    Fields,
    bits::{BLOCK, Bits},
    intervals::Lists,
};

/// The places of the entries that accept one value of one field.
#[derive(Debug)]
pub(super) struct Accepting<'a> {
    /// Of those that accept any.
    any: &'a Bits,
    /// Of those that accept it by name, in ascending lists. What was passed is cut off.
    named: Lists<'a>,
}

impl<'a> Accepting<'a> {
    /// Those that accept any, and those that name it.
    pub(super) const fn new(any: &'a Bits, named: Lists<'a>) -> Self {
        Self { any, named }
    }

    /// These and no other.
    pub(super) fn only(bits: &'a Bits) -> Self {
        Self { any: bits, named: Lists::new() }
    }

    /// How many name it; those that do so twice may count twice.
    fn naming(&self) -> usize {
        self.named.iter().map(|list| list.len()).sum()
    }

    /// Whether the entry at `place` is one of them.
    fn has(&self, place: u32) -> bool {
        self.any.has(place) || self.named.iter().any(|list| list.binary_search(&place).is_ok())
    }

    /// The first block from `from` on, and before `end`, that has some of them: which, and them.
    fn block(&mut self, from: u32, end: u32) -> Option<(u32, u64)> {
        let mut first = self.any.block(from, end);
        for list in &mut self.named {
            skip(list, from * BLOCK);
            let Some(block) = list.first().map(|place| place / BLOCK).filter(|block| *block < end) else {
                continue;
            };
            if first.is_none_or(|(other, _)| block < other) {
                first = Some((block, 0));
            }
        }
        let (block, mut places) = first?;
        for list in &self.named {
            let within = list.iter().take_while(|place| **place / BLOCK == block);
            places = within.fold(places, |places, place| places | 1 << (place % BLOCK));
        }
        Some((block, places))
    }
}

/// Cuts off what is below `from`: looks near the front first, since steps are mostly short.
fn skip(list: &mut &[u32], from: u32) {
    let mut step = 1;
    while list.get(step - 1).is_some_and(|place| *place < from) {
        *list = list.get(step..).unwrap_or_default();
        step *= 2;
    }
    let below = list.get(..step.min(list.len())).unwrap_or_default().partition_point(|place| *place < from);
    *list = list.get(below..).unwrap_or_default();
}

/// What the fields say of one request.
#[derive(Debug, Default)]
pub(super) struct FieldMatches<'a> {
    /// Those for which some entries name the request's value, and how many do.
    fields: SmallVec<[(Fields, usize, Accepting<'a>); 5]>,
    /// For the others: who accepts it.
    sets: SmallVec<[&'a Bits; 8]>,
}

impl<'a> FieldMatches<'a> {
    /// Takes account of a field.
    pub(super) fn add(&mut self, field: Fields, accepting: Accepting<'a>) {
        match accepting.naming() {
            0 => self.sets.push(accepting.any),
            count => self.fields.push((field, count, accepting)),
        }
    }

    /// Only those count any more.
    pub(super) fn only(&mut self, places: &'a Bits) {
        self.sets.push(places);
    }

    /// The first place in these blocks that all fields accept. All entries there list something for the fields `listed`.
    pub(super) fn first(&mut self, blocks: Range<u32>, listed: Fields) -> Option<u32> {
        match self.naming_few(&blocks, listed) {
            Some(named) => self.first_named(named, &blocks),
            None => self.intersect(blocks).map(|(block, places)| block * BLOCK + places.trailing_zeros()),
        }
    }

    /// The field of `listed` that accepts the fewest entries, if that is so few that they are best asked one by one.
    fn naming_few(&self, blocks: &Range<u32>, listed: Fields) -> Option<usize> {
        let fields = self.fields.iter().enumerate().filter(|(_, (field, ..))| listed.has(*field));
        let (at, (_, count, accepting)) = fields.min_by_key(|(_, (_, count, _))| *count)?;
        let few = *count <= 16 + 2 * blocks.len();
        // A target that has no name, or no address, is accepted by entries that list only such.
        (few && accepting.any.block(blocks.start, blocks.end).is_none()).then_some(at)
    }

    /// The first place in these blocks that is named in this field, and that the others accept.
    fn first_named(&self, at: usize, blocks: &Range<u32>) -> Option<u32> {
        let (_, _, naming) = self.fields.get(at)?;
        let others = || self.fields.iter().enumerate().filter(|(other, _)| *other != at);
        let accept = |place: &u32| {
            self.sets.iter().all(|set| set.has(*place))
                && others().all(|(_, (_, _, accepting))| accepting.has(*place))
        };
        let (start, mut end) = (blocks.start * BLOCK, blocks.end * BLOCK);
        let mut first = None;
        for list in &naming.named {
            let behind = list.partition_point(|place| *place < start);
            let places = list.iter().skip(behind).copied().take_while(|place| *place < end);
            if let Some(place) = places.into_iter().find(accept) {
                end = place;
                first = Some(place);
            }
        }
        first
    }

    /// The first of these blocks in which every field accepts something in common, and what all of them accept in it.
    fn intersect(&mut self, blocks: Range<u32>) -> Option<(u32, u64)> {
        let Range { start: mut at, end } = blocks;
        'furthest: while at < end {
            let mut all = u64::MAX;
            for (.., accepting) in &mut self.fields {
                let (block, accepted) = accepting.block(at, end)?;
                if block > at {
                    at = block;
                    continue 'furthest;
                }
                all &= accepted;
            }
            for set in &self.sets {
                let (block, accepted) = set.block(at, end)?;
                if block > at {
                    at = block;
                    continue 'furthest;
                }
                all &= accepted;
            }
            if all != 0 {
                return Some((at, all));
            }
            at += 1;
        }
        None
    }
}

/// Entries that match a request, in the order of the layout.
#[derive(Debug)]
pub(crate) struct Matching<'a> {
    asked: FieldMatches<'a>,
    /// By place.
    entries: &'a [u32],
    /// The block that `left` is of.
    block: u32,
    /// Matching places of it that are still to come.
    left: u64,
    /// The blocks that were not looked at yet.
    blocks: Range<u32>,
}

impl<'a> Matching<'a> {
    /// Of these entries, in `blocks` blocks.
    pub(super) const fn new(asked: FieldMatches<'a>, entries: &'a [u32], blocks: u32) -> Self {
        Self { asked, entries, block: 0, left: 0, blocks: 0..blocks }
    }
}

impl Iterator for Matching<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            while self.left == 0 {
                (self.block, self.left) = self.asked.intersect(self.blocks.clone())?;
                self.blocks.start = self.block + 1;
            }
            let place = self.block * BLOCK + self.left.trailing_zeros();
            self.left &= self.left - 1;
            let entry = self.entries.get(place as usize).copied().filter(|entry| *entry != NOBODY);
            if entry.is_some() {
                return entry;
            }
        }
    }
}
