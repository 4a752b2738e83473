//! The index over the entries of a list: which of them match a request, without asking each.
//!
//! For each field there are the entries that list nothing for it (bits: they accept any value) and, by value, those that accept it
//! (short lists). An entry matches if every field accepts it: so the fields are asked in turn for their next block of 64 entries
//! that is not empty, the furthest block wins, and the blocks are intersected as words. A field that few entries accept a value of
//! makes the walk skip all others, and where no field is selective a step still covers 64 entries.
//!
//! In a list of mixed entries every block would have some that accept anything in each field, and nothing could be skipped. So for
//! the first match ([`Index::first`]) the entries are laid out in groups, by which of the selective fields (user, source, target)
//! they list something for: in a group the others accept all and cost nothing, and each group yields its first match. What a group has
//! behind the first match of another is not looked at.
//!
//! Fields that no entry lists anything for are not there, and cost nothing.
mod field;

use field::{Accepting, Operations, Placed, Ports, Sources, TargetField, Times, Users, those};
use smallvec::SmallVec;

use super::{
    Fields, Subject,
    bits::{BLOCK, Bits},
    oracle::asks_destination,
};
use crate::program::acl::Matcher;

/// An entry, as far as an index looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its fields.
    pub matcher: &'a Matcher,
    /// Whom it never decides.
    pub passes: Passes,
    /// It has no say before the destination is known.
    pub waits: bool,
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

/// In which order an index keeps its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The list's: [`Index::matching`] finds them in it.
    List,
    /// In groups that list something for the same selective fields: best for [`Index::first`].
    Groups,
}

/// Of which entries the first is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// All.
    All,
    /// Those that list targets or ports.
    Asking,
    /// Those that have a say before the destination is known.
    Telling,
}

/// The indexed entries of one list.
#[derive(Debug)]
pub struct Index {
    /// By place in the layout: the entry. Groups begin at blocks, so between them there is [`NOBODY`].
    entries: Box<[u32]>,
    /// The blocks at which groups end, and the next begin.
    groups: Box<[u32]>,
    /// By block: its first entry.
    heads: Box<[u32]>,
    users: Option<Users>,
    sources: Option<Sources>,
    targets: Option<TargetField>,
    ports: Option<Ports>,
    operations: Option<Operations>,
    times: Option<Times>,
    /// Places of entries that may decide a request which was redirected before.
    unredirected: Option<Bits>,
    /// Places of entries that list targets or ports.
    asking: Bits,
    /// Places of entries that have a say before the destination is known; `None`: all have.
    telling: Option<Bits>,
}

/// A place without an entry.
const NOBODY: u32 = u32::MAX;

impl Index {
    /// Indexes entries.
    #[must_use]
    pub fn new(rows: &[Row<'_>], layout: Layout) -> Self {
        let (entries, groups) = lay_out(rows, layout);
        let placed = &Placed { rows, entries: &entries };
        let passed = rows.iter().any(|row| row.passes == Passes::Redirected);
        Self {
            users: Users::new(placed),
            sources: Sources::new(placed),
            targets: TargetField::new(placed),
            ports: Ports::new(placed),
            operations: Operations::new(placed),
            times: Times::new(placed),
            unredirected: passed.then(|| those(placed, |row| row.passes != Passes::Redirected)),
            asking: those(placed, |row| asks_destination(row.matcher)),
            telling: rows.iter().any(|row| row.waits).then(|| those(placed, |row| !row.waits)),
            heads: entries.iter().step_by(BLOCK as usize).copied().collect(),
            entries,
            groups,
        }
    }

    /// The first of those entries, in the order of the list, that matches `subject` as far as `fields` go. Weights are not looked at.
    #[must_use]
    pub fn first(&self, subject: &Subject<'_>, fields: Fields, among: Among) -> Option<u32> {
        let mut matching = self.matching(subject, fields);
        let bits = match among {
            Among::All => None,
            Among::Asking => Some(&self.asking),
            Among::Telling => self.telling.as_ref(),
        };
        matching.fields.extend(bits.map(Accepting::only));
        let mut first = u32::MAX;
        let mut start = 0;
        for end in &self.groups {
            // In a group the order is the list's: what stands behind the first match so far can't come before it.
            let heads = self.heads.get(start as usize..*end as usize).unwrap_or_default();
            let before = start + u32::try_from(heads.partition_point(|head| *head < first)).unwrap_or(0);
            if let Some((block, places)) = matching.intersect(start, before) {
                let place = block * BLOCK + places.trailing_zeros();
                first = first.min(self.entries.get(place as usize).copied().unwrap_or(NOBODY));
            }
            start = *end;
        }
        Some(first).filter(|first| *first != NOBODY)
    }

    /// The entries that match `subject` as far as `fields` go, in the order of the layout. Weights are not looked at.
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
        asked.extend(
            self.times.as_ref().filter(|_| on(Fields::TIME)).and_then(|field| field.accepting(subject)),
        );
        asked.extend(self.unredirected.as_ref().filter(|_| subject.redirected).map(Accepting::only));
        Matching { fields: asked, entries: &self.entries, block: 0, left: 0, next: 0 }
    }

    /// Bytes on the heap, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.sizes().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes on the heap, about, of what it is made of: the fields that some entry lists something for, and the order.
    pub fn sizes(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let parts = [
            ("user", self.users.as_ref().map(Users::bytes)),
            ("source", self.sources.as_ref().map(Sources::bytes)),
            ("target", self.targets.as_ref().map(TargetField::bytes)),
            ("port", self.ports.as_ref().map(Ports::bytes)),
            ("operation", self.operations.as_ref().map(Operations::bytes)),
            ("time", self.times.as_ref().map(Times::bytes)),
            ("redirected", self.unredirected.as_ref().map(Bits::bytes)),
            ("preauthorization", Some(self.asking.bytes() + self.telling.as_ref().map_or(0, Bits::bytes))),
            (
                "order",
                Some(
                    [&self.entries, &self.groups, &self.heads].map(|part| size_of_val(&**part)).iter().sum(),
                ),
            ),
        ];
        parts.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)))
    }
}

/// The entry at each place, and the blocks at which groups end.
fn lay_out(rows: &[Row<'_>], layout: Layout) -> (Box<[u32]>, Box<[u32]>) {
    let block = BLOCK as usize;
    let mut groups: [Vec<u32>; 8] = Default::default();
    for (row, entry) in rows.iter().zip(0..) {
        let Matcher { users, sources, targets, .. } = row.matcher;
        let key = usize::from(users.is_some())
            | usize::from(sources.is_some()) << 1
            | usize::from(targets.is_some()) << 2;
        if let Some(group) = groups.get_mut(if layout == Layout::Groups { key } else { 0 }) {
            group.push(entry);
        }
    }
    let mut entries = Vec::with_capacity(rows.len());
    let mut ends = Vec::new();
    for group in groups.into_iter().filter(|group| !group.is_empty()) {
        entries.resize(entries.len().next_multiple_of(block), NOBODY);
        entries.extend(group);
        ends.push(u32::try_from(entries.len().div_ceil(block)).unwrap_or(u32::MAX));
    }
    (entries.into(), ends.into())
}

/// Entries that match a request, in the order of the layout.
#[derive(Debug)]
pub struct Matching<'a> {
    fields: SmallVec<[Accepting<'a>; 8]>,
    entries: &'a [u32],
    /// The block that `left` is of.
    block: u32,
    /// Matching places of it that are still to come.
    left: u64,
    /// The first block that was not looked at yet.
    next: u32,
}

impl Iterator for Matching<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            while self.left == 0 {
                (self.block, self.left) = self.intersect(self.next, self.blocks())?;
                self.next = self.block + 1;
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

impl Matching<'_> {
    fn blocks(&self) -> u32 {
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX).div_ceil(BLOCK)
    }

    /// The first block from `from` on, and before `end`, in which every field accepts something in common, and what all of them
    /// accept in it.
    fn intersect(&mut self, from: u32, end: u32) -> Option<(u32, u64)> {
        let mut at = from;
        'furthest: while at < end {
            let mut all = u64::MAX;
            for field in &mut self.fields {
                let (block, accepted) = field.block(at, end)?;
                if block > at {
                    at = block;
                    continue 'furthest;
                }
                all &= accepted;
                if all == 0 {
                    break;
                }
            }
            if all != 0 {
                return Some((at, all));
            }
            at += 1;
        }
        None
    }
}
