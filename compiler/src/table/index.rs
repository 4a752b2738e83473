//! The index over the entries of a list: which of them match a request, in order, without asking each.
//!
//! For each field there are the entries that list nothing for it (bits: they accept any value) and, by value, those that accept it
//! (short lists). An entry matches if every field accepts it: so the fields are asked in turn for their next block of 64 entries
//! that is not empty, the furthest block wins, and the blocks are intersected as words. A field that few entries accept a value of
//! makes the walk skip all others, and where no field is selective a step still covers 64 entries.
//!
//! Fields that no entry lists anything for are not there, and cost nothing.
mod field;

use field::{Accepting, Operations, Ports, Sources, TargetField, Times, Users};
use smallvec::SmallVec;

use super::{Fields, Subject, bits::BLOCK};
use crate::program::acl::Matcher;

/// An entry, as far as an index looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its fields.
    pub matcher: &'a Matcher,
    /// Whom it never decides.
    pub passes: Passes,
}

/// Which requests an entry is passed over for although it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Passes {
    /// None.
    #[default]
    Nobody,
    /// Those that can't be redirected: the entry has parents.
    Unredirectable,
    /// Those, and requests that were redirected before: its first parent is a local redirection.
    Redirected,
}

/// The indexed entries of one list.
#[derive(Debug)]
pub struct Index {
    len: u32,
    users: Option<Users>,
    sources: Option<Sources>,
    targets: Option<TargetField>,
    ports: Option<Ports>,
    operations: Option<Operations>,
    times: Option<Times>,
    /// Entries that may decide a request which was redirected before.
    unredirected: Option<super::bits::Bits>,
}

impl Index {
    /// Indexes entries.
    #[must_use]
    pub fn new(rows: &[Row<'_>]) -> Self {
        let passed = rows.iter().any(|row| row.passes == Passes::Redirected);
        let not_passed = |at: u32| rows.get(at as usize).is_some_and(|row| row.passes != Passes::Redirected);
        let len = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        Self {
            len,
            users: Users::new(rows),
            sources: Sources::new(rows),
            targets: TargetField::new(rows),
            ports: Ports::new(rows),
            operations: Operations::new(rows),
            times: Times::new(rows),
            unredirected: passed.then(|| super::bits::Bits::new(len, not_passed)),
        }
    }

    /// The entries that match `subject` as far as `fields` go, ascending. Weights are not looked at.
    pub fn matching<'a>(&'a self, subject: &Subject<'_>, fields: Fields) -> Matching<'a> {
        let mut asked = SmallVec::new();
        let on = |field| fields.has(field);
        asked.extend(self.users.as_ref().filter(|_| on(Fields::USER)).map(|field| field.accepting(subject)));
        asked.extend(
            self.sources.as_ref().filter(|_| on(Fields::SOURCE)).map(|field| field.accepting(subject)),
        );
        asked.extend(self.targets.as_ref().and_then(|field| field.accepting(subject, fields)));
        asked.extend(
            self.ports.as_ref().filter(|_| on(Fields::PORT)).and_then(|field| field.accepting(subject)),
        );
        asked.extend(
            self.operations.as_ref().filter(|_| on(Fields::OPERATION)).map(|field| field.accepting(subject)),
        );
        asked.extend(self.times.as_ref().filter(|_| on(Fields::TIME)).map(|field| field.accepting(subject)));
        asked.extend(self.unredirected.as_ref().filter(|_| subject.redirected).map(Accepting::only));
        Matching { fields: asked, len: self.len, block: 0, left: 0, next: 0 }
    }

    /// Bytes on the heap, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.users.as_ref().map_or(0, Users::bytes)
            + self.sources.as_ref().map_or(0, Sources::bytes)
            + self.targets.as_ref().map_or(0, TargetField::bytes)
            + self.ports.as_ref().map_or(0, Ports::bytes)
            + self.operations.as_ref().map_or(0, Operations::bytes)
            + self.times.as_ref().map_or(0, Times::bytes)
            + self.unredirected.as_ref().map_or(0, super::bits::Bits::bytes)
    }
}

/// Entries that match a request, ascending.
#[derive(Debug)]
pub struct Matching<'a> {
    fields: SmallVec<[Accepting<'a>; 7]>,
    len: u32,
    /// The block that `left` is of.
    block: u32,
    /// Matching entries of it that are still to come.
    left: u64,
    /// The first block that was not looked at yet.
    next: u32,
}

impl Iterator for Matching<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.left == 0 {
            (self.block, self.left) = self.intersect(self.next)?;
            self.next = self.block + 1;
        }
        let entry = self.block * BLOCK + self.left.trailing_zeros();
        self.left &= self.left - 1;
        (entry < self.len).then_some(entry)
    }
}

impl Matching<'_> {
    /// The first block from `from` on in which every field accepts something, and what all of them accept in it.
    fn intersect(&mut self, from: u32) -> Option<(u32, u64)> {
        let mut at = from;
        'furthest: loop {
            let mut all = u64::MAX;
            for field in &mut self.fields {
                let (block, accepted) = field.block(at)?;
                if block > at {
                    at = block;
                    continue 'furthest;
                }
                all &= accepted;
            }
            return (at < self.len.div_ceil(BLOCK)).then_some((at, all));
        }
    }
}
