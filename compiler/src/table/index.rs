//! The index over the entries of a list: which of them match a request, without asking each.
//!
//! For each field there are the entries that list nothing for it (bits: they accept any value) and, by value, those that accept it
//! (short lists). What all fields accept is [searched](matching) without asking the entries.
//!
//! In a list of mixed entries every block would have some that accept anything in each field, and nothing could be skipped. So for
//! the first match ([`Index::first`]) the entries are laid out in groups, by which of the selective fields (user, source, target)
//! they list something for: in a group the others accept all and cost nothing, and each group yields its first match. What a group has
//! behind the first match of another is not looked at.
//!
//! Fields that no entry lists anything for are not there, and cost nothing.
mod field;
mod matching;

use std::collections::BTreeMap;

use field::{Operations, Placed, Ports, Sources, TargetField, Times, Users, those};
use matching::FieldMatches;
pub(crate) use matching::Matching;

use super::{
    Fields, Subject,
    bits::{BLOCK, Bits},
    oracle::asks_destination,
};
use crate::program::acl::Matcher;

/// An entry, as far as an index looks at it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    /// Its fields.
    pub matcher: &'a Matcher,
    /// Whom it never decides.
    pub passes: Passes,
    /// It has no say before the destination is known.
    pub waits: bool,
}

/// The entries of a list, each looked at when it is asked for.
pub(crate) struct Rows<'a> {
    /// How many there are.
    pub count: u32,
    /// The one at a place in the list.
    pub row: &'a dyn Fn(u32) -> Option<Row<'a>>,
}

impl<'a> Rows<'a> {
    /// All, in order.
    fn iter(&self) -> impl Iterator<Item = Row<'a>> {
        (0..self.count).filter_map(self.row)
    }
}

/// Which requests an entry is passed over for although it matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Passes {
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
pub(crate) enum Layout {
    /// The list's: [`Index::matching`] finds them in it.
    List,
    /// In groups that list something for the same selective fields: best for [`Index::first`].
    Groups,
}

/// Of which entries the first is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Among {
    /// All.
    All,
    /// Those that list targets or ports.
    Asking,
    /// Those that have a say before the destination is known.
    Telling,
}

/// The indexed entries of one list.
#[derive(Debug)]
pub(crate) struct Index {
    /// By place in the layout: the entry. Groups begin at blocks, so between them there is [`NOBODY`].
    entries: Box<[u32]>,
    groups: Box<[Group]>,
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

/// Places of entries that list something for the same selective fields.
#[derive(Debug)]
struct Group {
    /// The block at which it ends, and the next begins.
    end: u32,
    /// Those fields.
    listed: Fields,
}

/// A place without an entry.
const NOBODY: u32 = u32::MAX;

impl Index {
    /// Indexes entries.
    #[must_use]
    pub(crate) fn new(rows: &Rows<'_>, layout: Layout) -> Self {
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
    pub(crate) fn first(&self, subject: &Subject<'_>, fields: Fields, among: Among) -> Option<u32> {
        let mut asked = self.ask(subject, fields, among);
        let entry = |place: u32| self.entries.get(place as usize).copied().unwrap_or(NOBODY);
        let mut first = NOBODY;
        let mut start = 0;
        for group in &self.groups {
            let blocks = start..group.end;
            start = group.end;
            if asked.has_asked(group.listed) {
                continue;
            }
            if let Some(field) = asked.few(&blocks, group.listed) {
                first = asked.earliest(field, first, entry);
                continue;
            }
            // In a group the order is the list's: what stands behind the first match so far can't come before it.
            let heads = self.heads.get(blocks.start as usize..blocks.end as usize).unwrap_or_default();
            let end = blocks.start + u32::try_from(heads.partition_point(|head| *head < first)).unwrap_or(0);
            if let Some(place) = asked.first(&blocks, end, group.listed) {
                first = first.min(entry(place));
            }
        }
        Some(first).filter(|first| *first != NOBODY)
    }

    /// Those of these entries that match `subject` as far as `fields` go, in the order of the layout. Weights are not looked at.
    #[must_use]
    pub(crate) fn matching<'a>(
        &'a self,
        subject: &Subject<'_>,
        fields: Fields,
        among: Among,
    ) -> Matching<'a> {
        let blocks = u32::try_from(self.heads.len()).unwrap_or(u32::MAX);
        Matching::new(self.ask(subject, fields, among), &self.entries, blocks)
    }

    /// What the fields say of `subject`.
    fn ask<'a>(&'a self, subject: &Subject<'_>, fields: Fields, among: Among) -> FieldMatches<'a> {
        let mut asked = FieldMatches::default();
        if let Some(users) = self.users.as_ref().filter(|_| fields.has(Fields::USER)) {
            asked.add(Fields::USER, users.accepting(subject));
        }
        if let Some(sources) = self.sources.as_ref().filter(|_| fields.has(Fields::SOURCE)) {
            asked.add(Fields::SOURCE, sources.accepting(subject));
        }
        if let Some(accepting) = self.targets.as_ref().and_then(|field| field.accepting(subject, fields)) {
            asked.add(Fields::TARGET, accepting);
        }
        let ports = self.ports.as_ref().filter(|_| fields.has(Fields::PORT));
        if let Some(accepting) = ports.and_then(|field| field.accepting(subject)) {
            asked.add(Fields::PORT, accepting);
        }
        let times = self.times.as_ref().filter(|_| fields.has(Fields::TIME));
        if let Some(accepting) = times.and_then(|field| field.accepting(subject)) {
            asked.add(Fields::TIME, accepting);
        }
        if let Some(operations) = self.operations.as_ref().filter(|_| fields.has(Fields::OPERATION)) {
            asked.only(operations.accepting(subject));
        }
        if let Some(unredirected) = self.unredirected.as_ref().filter(|_| subject.redirected) {
            asked.only(unredirected);
        }
        match among {
            Among::All => {}
            Among::Asking => asked.only(&self.asking),
            Among::Telling => self.telling.iter().for_each(|telling| asked.only(telling)),
        }
        asked
    }

    /// Bytes on the heap, about.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        self.sizes().map(|(_, bytes)| bytes).sum()
    }

    /// Bytes on the heap, about, of what it is made of: the fields that some entry lists something for, and the order.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&'static str, usize)> {
        let order = size_of_val(&*self.entries) + size_of_val(&*self.groups) + size_of_val(&*self.heads);
        let parts = [
            ("user", self.users.as_ref().map(Users::bytes)),
            ("source", self.sources.as_ref().map(Sources::bytes)),
            ("target", self.targets.as_ref().map(TargetField::bytes)),
            ("port", self.ports.as_ref().map(Ports::bytes)),
            ("operation", self.operations.as_ref().map(Operations::bytes)),
            ("time", self.times.as_ref().map(Times::bytes)),
            ("redirected", self.unredirected.as_ref().map(Bits::bytes)),
            ("preauthorization", Some(self.asking.bytes() + self.telling.as_ref().map_or(0, Bits::bytes))),
            ("order", Some(order)),
        ];
        parts.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)))
    }
}

/// The entry at each place, and the groups.
fn lay_out(rows: &Rows<'_>, layout: Layout) -> (Box<[u32]>, Box<[Group]>) {
    let block = BLOCK as usize;
    let mut groups: BTreeMap<Fields, Vec<u32>> = BTreeMap::new();
    for (row, entry) in rows.iter().zip(0..) {
        let listed = if layout == Layout::Groups { listed(row.matcher) } else { Fields::NONE };
        groups.entry(listed).or_default().push(entry);
    }
    let mut entries = Vec::with_capacity(rows.count as usize);
    let mut ends = Vec::with_capacity(groups.len());
    for (listed, group) in groups {
        entries.resize(entries.len().next_multiple_of(block), NOBODY);
        entries.extend(group);
        ends.push(Group { end: u32::try_from(entries.len().div_ceil(block)).unwrap_or(u32::MAX), listed });
    }
    (entries.into(), ends.into())
}

/// The selective fields that an entry lists something for.
fn listed(matcher: &Matcher) -> Fields {
    let targets = matcher.targets.as_deref();
    let lists_targets = targets.is_some_and(|all| !all.names.is_empty() || !all.addresses.is_empty());
    let listed = [
        (matcher.users.is_some(), Fields::USER),
        (matcher.sources.is_some(), Fields::SOURCE),
        (lists_targets, Fields::TARGET),
    ];
    listed.into_iter().filter(|(does, _)| *does).fold(Fields::NONE, |fields, (_, field)| fields.with(field))
}
