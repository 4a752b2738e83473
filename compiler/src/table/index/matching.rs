//! One request's search through an index.
//!
//! An entry matches if every field accepts it. Where few entries name the request's value of some field, those are asked one by one
//! whether the other fields accept them too: if they are very few, all at once, whatever groups they are in. Elsewhere the fields are
//! asked in turn for their next block of 64 entries that is not empty, the furthest block wins, and the blocks are intersected as
//! words: so a field that few entries accept a value of makes the search skip all others, and where no field is selective a step still
//! covers 64 entries.
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
    /// Some of those that accept any list something: a target that has no name is accepted by entries that list only addresses.
    any_may_list: bool,
}

impl<'a> Accepting<'a> {
    /// Those that accept any, and those that name it.
    pub(super) const fn new(any: &'a Bits, named: Lists<'a>) -> Self {
        Self { any, named, any_may_list: false }
    }

    /// The same, where entries that list something may be among those that accept any.
    pub(super) fn any_may_list(self, any_may_list: bool) -> Self {
        Self { any_may_list, ..self }
    }

    /// These and no other.
    pub(super) fn only(bits: &'a Bits) -> Self {
        Self { any: bits, named: Lists::new(), any_may_list: true }
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

/// A field of which some entries name the request's value.
#[derive(Debug)]
struct Named<'a> {
    field: Fields,
    /// How many do.
    count: usize,
    accepting: Accepting<'a>,
}

impl Named<'_> {
    /// Whether all of `blocks` that accept the value name it, where every entry lists something for this field.
    fn has_all_of(&self, blocks: &Range<u32>) -> bool {
        let Accepting { any, any_may_list, .. } = &self.accepting;
        !any_may_list || any.block(blocks.start, blocks.end).is_none()
    }
}

/// So many entries are asked whatever groups they are in.
const FEW: usize = 16;

/// What the fields say of one request.
#[derive(Debug, Default)]
pub(super) struct FieldMatches<'a> {
    /// Those for which some entries name the request's value.
    fields: SmallVec<[Named<'a>; 5]>,
    /// The fields of which all entries that name the value were asked, if there are any, and no others that list something accept it.
    asked: Fields,
    /// For the others: who accepts it.
    sets: SmallVec<[&'a Bits; 8]>,
}

impl<'a> FieldMatches<'a> {
    /// Takes account of a field.
    pub(super) fn add(&mut self, field: Fields, accepting: Accepting<'a>) {
        match accepting.naming() {
            0 => {
                self.sets.push(accepting.any);
                if !accepting.any_may_list {
                    self.asked = self.asked.with(field);
                }
            }
            count => self.fields.push(Named { field, count, accepting }),
        }
    }

    /// Only those count any more.
    pub(super) fn only(&mut self, places: &'a Bits) {
        self.sets.push(places);
    }

    /// Whether all entries that list something for the fields `listed`, and match, were asked already.
    pub(super) fn has_asked(&self, listed: Fields) -> bool {
        !self.asked.and(listed).is_empty()
    }

    /// A field that so few entries name that one look at each of them, in all groups, finds all that match in these blocks. All
    /// entries there list something for the fields `listed`.
    pub(super) fn few(&self, blocks: &Range<u32>, listed: Fields) -> Option<usize> {
        let at = self.fewest(listed)?;
        let named = self.fields.get(at)?;
        (named.count <= FEW && named.has_all_of(blocks)).then_some(at)
    }

    /// The first entry of `first` and of those that are named in this field and that the others accept.
    pub(super) fn earliest(&mut self, at: usize, mut first: u32, entry: impl Fn(u32) -> u32) -> u32 {
        let Some(named) = self.fields.get(at) else { return first };
        for list in &named.accepting.named {
            for place in *list {
                let entry = entry(*place);
                if entry < first && self.others_accept(at, *place) {
                    first = entry;
                }
            }
        }
        if !named.accepting.any_may_list {
            self.asked = self.asked.with(named.field);
        }
        first
    }

    /// The first place that all fields accept in the blocks of `group` before `end`. All entries there list something for the fields
    /// `listed`.
    pub(super) fn first(&mut self, group: &Range<u32>, end: u32, listed: Fields) -> Option<u32> {
        let blocks = group.start..end;
        match self.naming_few(group, listed) {
            Some(named) => self.first_named(named, &blocks),
            None => self.intersect(blocks).map(|(block, places)| block * BLOCK + places.trailing_zeros()),
        }
    }

    /// The field of `listed` that accepts the fewest entries, if that is so few that they are best asked one by one.
    fn naming_few(&self, blocks: &Range<u32>, listed: Fields) -> Option<usize> {
        let at = self.fewest(listed)?;
        let named = self.fields.get(at)?;
        let few = named.count <= 16 + 2 * blocks.len();
        (few && named.has_all_of(blocks)).then_some(at)
    }

    /// The field of `listed` that the fewest entries name.
    fn fewest(&self, listed: Fields) -> Option<usize> {
        let fields = self.fields.iter().enumerate().filter(|(_, named)| listed.has(named.field));
        fields.min_by_key(|(_, named)| named.count).map(|(at, _)| at)
    }

    /// The first place in these blocks that is named in this field, and that the others accept.
    fn first_named(&self, at: usize, blocks: &Range<u32>) -> Option<u32> {
        let naming = self.fields.get(at)?;
        let (start, mut end) = (blocks.start * BLOCK, blocks.end * BLOCK);
        let mut first = None;
        for list in &naming.accepting.named {
            let behind = list.partition_point(|place| *place < start);
            let places = list.iter().skip(behind).copied().take_while(|place| *place < end);
            if let Some(place) = places.into_iter().find(|place| self.others_accept(at, *place)) {
                end = place;
                first = Some(place);
            }
        }
        first
    }

    /// Whether all fields but this one accept the entry at `place`.
    fn others_accept(&self, at: usize, place: u32) -> bool {
        let mut others = self.fields.iter().enumerate().filter(|(other, _)| *other != at);
        self.sets.iter().all(|set| set.has(place)) && others.all(|(_, named)| named.accepting.has(place))
    }

    /// The first of these blocks in which every field accepts something in common, and what all of them accept in it.
    fn intersect(&mut self, blocks: Range<u32>) -> Option<(u32, u64)> {
        let Range { start: mut at, end } = blocks;
        'furthest: while at < end {
            let mut all = u64::MAX;
            for named in &mut self.fields {
                let (block, accepted) = named.accepting.block(at, end)?;
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
