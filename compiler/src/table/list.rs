//! The table of one list, for all services that copied a part of it.
//!
//! Services copy prefixes of a list, of which only the last entry may be another version than the list's own. So one index answers for
//! all: matches below the prefix's end are its, and the last entry is asked by itself.
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{
    Fields, Preauthorization, Request, Subject, Table, Verdict,
    index::{Among, Index, Layout, Passes, Row, Rows},
    oracle::{self, Association, Walk},
};
use crate::program::acl::{Ace, AceId, AclRef, Acls, Parent};

/// A compiled list. Lists of equal content share one.
#[derive(Debug)]
pub(crate) struct ListTable {
    /// `None`: it is so short that walking is as fast.
    index: Option<Index>,
    /// The first entry that has a weight. Whether one matches depends then on those that were passed over before it.
    first_weight: Option<u32>,
    /// By entry: the fields that it or one before it compares.
    compared: Box<[Fields]>,
}

/// The longest list, in entries and listed values, that is walked.
const SHORT: usize = 32;
const FEW_VALUES: usize = 128;

impl ListTable {
    /// Compiles the entries of a list.
    #[must_use]
    pub(crate) fn new(acls: &Acls, ids: &[AceId]) -> Self {
        let aces = ids.iter().filter_map(|id| acls.ace(*id));
        let values: usize = aces.map(|ace| ace.matcher.values()).sum();
        Self::with_index(acls, ids, ids.len() > SHORT || values > FEW_VALUES)
    }

    /// The same, with an index however short the list is.
    #[cfg(test)]
    pub(super) fn indexed(acls: &Acls, ids: &[AceId]) -> Self {
        Self::with_index(acls, ids, true)
    }

    fn with_index(acls: &Acls, ids: &[AceId], has_index: bool) -> Self {
        let aces = || ids.iter().filter_map(|id| acls.ace(*id));
        let first_weight = aces().zip(0..).find(|(ace, _)| ace.weight != 0).map(|(_, at)| at);
        let weighty = first_weight.is_some();
        // What is passed over in a list with weights is not left out of the index: it may change the weight.
        let passes = |ace: &Ace| if weighty { Passes::Nobody } else { passes(acls, ace) };
        let row = |at: u32| {
            let ace = acls.ace(*ids.get(at as usize)?)?;
            Some(Row { matcher: &ace.matcher, passes: passes(ace), waits: oracle::waits(ace) })
        };
        let rows = Rows { count: u32::try_from(ids.len()).unwrap_or(u32::MAX), row: &row };
        let layout = if weighty { Layout::List } else { Layout::Groups };
        let mut so_far = Fields::NONE;
        let compared = aces().map(|ace| {
            so_far = so_far.with(oracle::compares(ace));
            so_far
        });
        Self {
            first_weight,
            compared: compared.collect(),
            index: has_index.then(|| Index::new(&rows, layout)),
        }
    }

    /// Bytes on the heap, about.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.compared) + self.index.as_ref().map_or(0, Index::bytes)
    }

    /// Whether some entry has a weight.
    const fn is_weighty(&self) -> bool {
        self.first_weight.is_some()
    }

    /// How many entries it has.
    #[must_use]
    pub(crate) const fn entries(&self) -> usize {
        self.compared.len()
    }

    /// The index; `None`: the list is so short that it is walked.
    #[must_use]
    pub(crate) const fn index(&self) -> Option<&Index> {
        self.index.as_ref()
    }
}

/// Whom an entry is passed over for.
#[must_use]
pub(crate) fn passes(acls: &Acls, ace: &Ace) -> Passes {
    match acls.parents(ace).first() {
        None => Passes::Nobody,
        Some(first) if Parent::is_local(first) => Passes::Redirected,
        Some(_) => Passes::Unredirectable,
    }
}

/// A number that lists of equal content share.
#[must_use]
pub(crate) fn digest(acls: &Acls, ids: &[AceId]) -> u64 {
    let mut hash = DefaultHasher::new();
    for ace in ids.iter().filter_map(|id| acls.ace(*id)) {
        (&ace.matcher, passes(acls, ace), oracle::waits(ace), ace.weight).hash(&mut hash);
    }
    hash.finish()
}

/// Whether one table answers for both lists: their entries match alike. What they decide then is looked up in each.
#[must_use]
pub(crate) fn equal(acls: &Acls, one: &[AceId], other: &[AceId]) -> bool {
    let alike = |(one, other): (&AceId, &AceId)| match (acls.ace(*one), acls.ace(*other)) {
        (Some(one), Some(other)) => {
            one.matcher == other.matcher
                && one.weight == other.weight
                && passes(acls, one) == passes(acls, other)
                && oracle::waits(one) == oracle::waits(other)
        }
        _ => false,
    };
    one.len() == other.len() && one.iter().zip(other).all(alike)
}

/// A table, asked for one service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied<'a> {
    /// The table of the list.
    pub table: &'a ListTable,
    /// Where the entries are.
    pub acls: &'a Acls,
    /// What the service copied.
    pub list: AclRef,
}

impl Copied<'_> {
    fn walk(&self) -> Walk<'_> {
        Walk { acls: self.acls, list: Some(self.list) }
    }

    /// How many entries stand before the last.
    const fn before_last(&self) -> u32 {
        self.list.len.saturating_sub(1)
    }

    /// The index, unless it can't answer: an entry of the list that is passed over takes back the weight that an earlier walk left,
    /// which matters if the last entry has a weight. In a list without weights the index leaves such entries out; and only another
    /// version of its last entry can then have one.
    fn index(&self, request: &Request<'_>) -> Option<&Index> {
        let weighs = |(_, last): (AceId, &Ace)| last.weight != 0;
        let unseen = request.weight != 0 && !self.table.is_weighty() && self.last().is_some_and(weighs);
        self.table.index.as_ref().filter(|_| !unseen)
    }

    fn entry(&self, at: u32) -> Option<(AceId, &Ace)> {
        let id = *self.acls.lists.get(self.list.list.0 as usize)?.get(at as usize)?;
        Some((id, self.acls.ace(id)?))
    }

    fn last(&self) -> Option<(AceId, &Ace)> {
        Some((self.list.last, self.acls.ace(self.list.last)?))
    }

    /// The entry that decides: its number in the list, and the entry.
    fn deciding(&self, index: &Index, subject: &mut Subject<'_>) -> Option<(u32, AceId, &Ace)> {
        let decider = if self.table.is_weighty() {
            self.heaviest(index, subject)
        } else {
            index.first(subject, Fields::ALL, Among::All).filter(|at| *at < self.before_last())
        };
        if let Some(at) = decider {
            return self.entry(at).map(|(id, ace)| (at, id, ace));
        }
        let (id, ace) = self.last()?;
        let decides = oracle::matches(&ace.matcher, subject)
            && !oracle::outweighed(ace, subject.weight)
            && !oracle::passed_over(self.acls, ace, subject);
        decides.then_some((self.before_last(), id, ace))
    }

    /// The same in a list with weights, the last entry aside: what is passed over leaves its weight behind.
    fn heaviest(&self, index: &Index, subject: &mut Subject<'_>) -> Option<u32> {
        for at in index.matching(subject, Fields::ALL, Among::All).take_while(|at| *at < self.before_last()) {
            let (_, ace) = self.entry(at)?;
            if oracle::outweighed(ace, subject.weight) {
                continue;
            }
            if !oracle::passed_over(self.acls, ace, subject) {
                return Some(at);
            }
            subject.weight = ace.weight;
        }
        None
    }
}

impl Copied<'_> {
    /// The same as [`Table::preauthorize`], in a list with weights: entries leave theirs behind, so they are asked in turn.
    fn preauthorize_weighing(&self, index: &Index, subject: &Subject<'_>) -> Preauthorization {
        let last = self.last();
        let weighty = self.table.first_weight.is_some_and(|at| at < self.before_last())
            || last.is_some_and(|(_, ace)| ace.weight != 0);
        let mut association = Association::new(self.acls, subject.clone(), weighty);
        let fields = Fields::ALL.without(Fields::DESTINATION);
        let mut next = 0;
        // Of those that wait, the first that counts unsettles; behind it only those that have a say matter.
        for among in [Among::All, Among::Telling] {
            let from = next;
            let might = index.matching(subject, fields, among).skip_while(|at| *at < from);
            for at in might.take_while(|at| *at < self.before_last()) {
                next = at + 1;
                let decided = self.entry(at).and_then(|(id, ace)| association.ask(id, ace));
                if decided.is_some() {
                    return association.told(decided);
                }
                if among == Among::All && !association.is_settled() {
                    break;
                }
            }
        }
        let decided = last.and_then(|(id, ace)| association.ask(id, ace));
        association.told(decided)
    }
}

impl Table for Copied<'_> {
    fn decide(&self, request: &Request<'_>) -> Verdict {
        let Some(index) = self.index(request) else { return self.walk().decide(request) };
        let deciding = self.deciding(index, &mut Subject::new(request));
        deciding.map_or(Verdict::END, |(_, id, ace)| Verdict::of(id, ace))
    }

    fn depends_on(&self, request: &Request<'_>) -> Fields {
        let Some(index) = self.index(request) else { return self.walk().depends_on(request) };
        let subject = Subject::new(request);
        let deciding = self.deciding(index, &mut subject.clone());
        let last = self.last().map(|(_, ace)| ace);
        let asked_last = deciding.is_none_or(|(at, ..)| at == self.before_last());
        let before = if asked_last { self.before_last() } else { deciding.map_or(0, |(at, ..)| at + 1) };
        let mut compared = before
            .checked_sub(1)
            .and_then(|at| self.table.compared.get(at as usize).copied())
            .unwrap_or_default();
        if asked_last {
            compared = compared.with(last.map_or(Fields::NONE, oracle::compares));
        }
        subject.least(compared, |fields| {
            // Whoever of those before the deciding entry may decide with only these known comes first here.
            let may_decide = |ace| oracle::may_decide(self.acls, ace, &subject, fields);
            let first = if self.table.is_weighty() {
                let may = |at: &u32| self.entry(*at).is_some_and(|(_, ace)| may_decide(ace));
                index.matching(&subject, fields, Among::All).find(may)
            } else {
                index.first(&subject, fields, Among::All)
            };
            let first = first.filter(|at| *at < self.before_last());
            match deciding {
                Some((at, _, ace)) => {
                    fields.has(oracle::compares(ace)) && first.is_none_or(|first| first >= at)
                }
                None => first.is_none() && !last.is_some_and(may_decide),
            }
        })
    }

    fn preauthorize(&self, request: &Request<'_>) -> Preauthorization {
        let Some(index) = self.index(request) else { return self.walk().preauthorize(request) };
        let subject = Subject::new(request);
        if self.table.is_weighty() {
            return self.preauthorize_weighing(index, &subject);
        }
        let fields = Fields::ALL.without(Fields::DESTINATION);
        let first = |among| index.first(&subject, fields, among).filter(|at| *at < self.before_last());
        let asking = first(Among::Asking);
        if let Some((at, (id, ace))) = first(Among::Telling).and_then(|at| Some((at, self.entry(at)?))) {
            let settled = asking.is_none_or(|asking| asking > at);
            return Preauthorization { verdict: Verdict::of(id, ace), settled };
        }
        let might = |ace: &Ace| {
            oracle::might_match(&ace.matcher, &subject) && !oracle::outweighed(ace, subject.weight)
        };
        let last = self.last().filter(|(_, ace)| might(ace));
        let passed_over = |ace: &Ace| oracle::passed_over(self.acls, ace, &subject);
        let matters = |ace: &Ace| !passed_over(ace) || ace.weight != 0;
        let asks = |(_, ace): (_, &Ace)| matters(ace) && oracle::asks_destination(&ace.matcher);
        let settled = asking.is_none() && !last.is_some_and(asks);
        let decides = |ace: &Ace| !oracle::waits(ace) && !passed_over(ace);
        let verdict =
            last.filter(|(_, ace)| decides(ace)).map_or(Verdict::END, |(id, ace)| Verdict::of(id, ace));
        Preauthorization { verdict, settled }
    }
}
