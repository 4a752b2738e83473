//! The requests that two lists decide differently.
//!
//! Entries that both lists have, in the same order, decide alike: whatever no other entry matches falls to the same one of them. So only
//! requests that an entry of one list alone decides can differ. Of each such entry there is taken what entries before it take; what is
//! left is held against the entries of the other list that do something else. Entries are sets of requests
//! ([`requests`](crate::analysis::requests)), so nothing is sampled, and a list costs no more than the entries that changed times its length.
use std::rc::Rc;

use super::{
    Class, ListChange,
    align::{self, EffectId, Numbers},
    by_name, describe,
    pairs::pairs,
};
use crate::{
    analysis::requests::{
        askable::Askable,
        cell::{Cell, Left, Shape, Work, join},
        example,
        space::{Half, Space},
    },
    program::acl::{Ace, AceId, AclRef, Acls},
    table::Decision,
};

/// At most this many classes are told apart.
pub(super) const MOST_CLASSES: usize = 200;

/// A list as it is compared: its entries, and behind them its end.
pub(super) struct Side<'a> {
    entries: Vec<Entry<'a>>,
    /// Where the same entry stands in the other list.
    partners: Vec<Option<usize>>,
    /// By entry, in the space at hand: what it decides.
    shapes: Vec<Rc<[Shape<'a>]>>,
}

/// An entry, or the end.
#[derive(Clone, Copy)]
struct Entry<'a> {
    ace: Option<(AceId, &'a Ace)>,
    effect: EffectId,
    decision: Decision,
}

/// One version's list.
pub(super) type List<'a> = (&'a Acls, Option<AclRef>);

/// What comes out, apart from which services it is about.
pub(super) struct Comparison<'a> {
    old: Side<'a>,
    new: Side<'a>,
    space: Space<'a>,
    asked: &'a Askable,
}

impl<'a> Comparison<'a> {
    /// Of two lists that are not equal.
    pub(super) fn new(
        (old, new): (List<'a>, List<'a>),
        asked: &'a Askable,
        defined: &'a [&'a [u8]],
        numbers: &mut Numbers<'a>,
    ) -> Self {
        let mut side = |(acls, list): List<'a>| {
            let aces = align::entries(acls, list);
            let ids: Vec<u32> = aces.iter().map(|(_, ace)| numbers.entry(acls, ace)).collect();
            let mut entries: Vec<Entry<'a>> = Vec::with_capacity(aces.len() + 1);
            for (id, ace) in aces {
                let effect = numbers.effect(acls, ace);
                entries.push(Entry { ace: Some((id, ace)), effect, decision: Decision::of(ace) });
            }
            let decision = if list.is_some() { Decision::End } else { Decision::Allow };
            entries.push(Entry { ace: None, effect: numbers.end(decision), decision });
            (entries, ids)
        };
        let ((old, old_ids), (new, new_ids)) = (side(old), side(new));
        let mut partners = pairs(&old_ids, &new_ids);
        let ends = old.last().map(|end| end.effect) == new.last().map(|end| end.effect);
        partners.push(ends.then_some(new.len() - 1));
        let mut back = vec![None; new.len()];
        for (at, partner) in partners.iter().enumerate() {
            if let Some(place) = partner.and_then(|partner| back.get_mut(partner)) {
                *place = Some(at);
            }
        }
        let matchers = old.iter().chain(&new).filter_map(|entry| Some(&entry.ace?.1.matcher));
        let space = Space::new(matchers, defined);
        let side = |entries, partners| Side { entries, partners, shapes: Vec::new() };
        Self { old: side(old, partners), new: side(new, back), space, asked }
    }

    /// Adds the classes of requests that are decided differently.
    pub(super) fn run(mut self, found: &mut ListChange, work: &mut Work) {
        for half in Half::ALL {
            let requests = self.space.requests(self.asked, half);
            if requests.is_empty() {
                continue;
            }
            if !work.spend(16 * (self.old.entries.len() + self.new.entries.len())) {
                found.more = true;
                return;
            }
            self.old.shape(&self.space, half);
            self.new.shape(&self.space, half);
            found.weights |= half == Half::Binds && (self.old.weights_count() || self.new.weights_count());
            self.compare(&requests, &requests, found, work);
            if half == Half::Others && self.asked.by_name {
                let named = self.space.named(self.asked);
                let asked = by_name::asked(&named, &requests, [&self.old, &self.new], work);
                self.compare(&asked, &named, found, work);
            }
        }
    }

    /// Adds the classes of `requests`, which are some of `whole`.
    fn compare(&self, requests: &[Cell<'a>], whole: &[Cell<'a>], found: &mut ListChange, work: &mut Work) {
        let mut search = Search { space: &self.space, requests, whole, found, work, flipped: false };
        search.all(&self.old, &self.new);
        search.flipped = true;
        search.all(&self.new, &self.old);
    }
}

fn unpaired(side: &Side<'_>) -> impl Iterator<Item = usize> {
    side.partners.iter().enumerate().filter(|(_, partner)| partner.is_none()).map(|(at, _)| at)
}

impl<'a> Side<'a> {
    /// Finds out what each entry decides in a space.
    fn shape(&mut self, space: &Space<'a>, half: Half) {
        let shapes = self.entries.iter().map(|entry| match entry.ace {
            None => vec![Space::everything()],
            // It reaches no weight that there ever is.
            Some((_, ace)) if ace.weight < 0 => Vec::new(),
            Some((_, ace)) if half == Half::Binds && ace.redirects() => Vec::new(),
            Some((_, ace)) => space.shapes(&ace.matcher, half),
        });
        self.shapes = shapes.map(Into::into).collect();
    }

    /// Whether an entry that is passed over for a BIND leaves a weight that a later one does not reach.
    fn weights_count(&self) -> bool {
        let mut most = 0;
        self.entries.iter().filter_map(|entry| entry.ace).any(|(_, ace)| {
            let weight = ace.weight;
            let outweighed = weight > 0 && weight < most;
            most = if ace.redirects() { most.max(weight) } else { most };
            outweighed
        })
    }

    /// Those of `requests` that pass. `None`: that is too much work.
    pub(super) fn passing(&self, requests: &[Cell<'a>], work: &mut Work) -> Option<Vec<Cell<'a>>> {
        let mut passing = Left::default();
        for (at, _) in self.entries.iter().enumerate().filter(|(_, entry)| entry.decision.passes()) {
            if passing.more || !work.spend(1 + at) {
                return None;
            }
            let matched =
                requests.iter().flat_map(|cell| self.shapes(at).iter().filter_map(|shape| cell.and(shape)));
            for cell in matched {
                let before = self.shapes.iter().take(at).flat_map(|shapes| shapes.iter());
                cell.without(before, &mut passing, work);
            }
        }
        (!passing.more).then_some(passing.cells)
    }

    fn shapes(&self, at: usize) -> &[Shape<'a>] {
        self.shapes.get(at).map_or(&[], |shapes| shapes)
    }
}

/// The search in one space.
struct Search<'s, 'a> {
    space: &'s Space<'a>,
    requests: &'s [Cell<'a>],
    /// What is left out of these is told.
    whole: &'s [Cell<'a>],
    found: &'s mut ListChange,
    work: &'s mut Work,
    /// The entry that changed is of the new list.
    flipped: bool,
}

impl<'a> Search<'_, 'a> {
    /// Finds the requests that entries decide which only `own` has, and that the other list decides otherwise.
    fn all(&mut self, own: &Side<'a>, other: &Side<'a>) {
        for at in unpaired(own) {
            // What is before an entry is gone through for each: where that is too much, the rest is not looked at.
            if self.found.more || !self.work.spend(1 + at) {
                self.found.more = true;
                return;
            }
            self.changed(own, at, other);
        }
    }

    /// Finds the requests that the entry `at` decides, which only its own list has, and that the other list decides otherwise.
    fn changed(&mut self, own: &Side<'a>, at: usize, other: &Side<'a>) {
        let matched: Vec<Cell<'a>> = self
            .requests
            .iter()
            .flat_map(|cell| own.shapes(at).iter().filter_map(|shape| cell.and(shape)))
            .collect();
        let mut decided = Left::default();
        for cell in matched.clone() {
            let before = own.shapes.iter().take(at).flat_map(|shapes| shapes.iter());
            cell.without(before, &mut decided, self.work);
        }
        if decided.cells.is_empty() && !decided.more {
            return;
        }
        let Some(entry) = own.entries.get(at) else { return };
        // If what is left has too many parts, each pair of entries is looked at from the start.
        let (cells, whole) = if decided.more { (matched, true) } else { (decided.cells, false) };
        for (index, (candidate, partner)) in other.entries.iter().zip(&other.partners).enumerate() {
            // Two changed entries meet once; an entry of both lists that stands before ours would have decided first.
            let later = partner.map_or(!self.flipped, |partner| partner > at);
            if candidate.effect == entry.effect || !later {
                continue;
            }
            if self.found.classes.len() >= MOST_CLASSES || !self.work.spend(cells.len() * 8) {
                self.found.more = true;
                return;
            }
            let common: Vec<Cell<'a>> = cells
                .iter()
                .flat_map(|cell| other.shapes(index).iter().filter_map(|shape| cell.and(shape)))
                .collect();
            if common.is_empty() {
                continue;
            }
            let earlier = other.shapes.iter().zip(&other.partners).take(index);
            let earlier = earlier.filter(|(_, partner)| whole || partner.is_none_or(|partner| partner > at));
            let earlier: Vec<&Shape<'a>> = earlier.flat_map(|(shapes, _)| shapes.iter()).collect();
            let own_before = own.shapes.iter().take(if whole { at } else { 0 });
            let taken: Vec<&Shape<'a>> = own_before.flat_map(|shapes| shapes.iter()).chain(earlier).collect();
            self.work.spend(taken.len());
            let mut left = Left::default();
            for cell in &common {
                cell.clone().without(taken.iter().copied(), &mut left, self.work);
            }
            self.report(*entry, *candidate, left, common);
        }
    }

    /// Notes what two entries decide differently.
    fn report(&mut self, own: Entry<'a>, other: Entry<'a>, mut left: Left<'a>, common: Vec<Cell<'a>>) {
        let (old, new) = if self.flipped { (other, own) } else { (own, other) };
        let id = |entry: Entry<'_>| entry.ace.map(|(id, _)| id);
        let Some(first) = left.cells.first() else {
            self.found.undecided += usize::from(left.more);
            return;
        };
        let witness = example::witness(self.space, first);
        join(&mut left.cells);
        let shown = if left.more { common } else { left.cells };
        let requests = shown.iter().map(|cell| describe::requests(self.space, self.whole, cell));
        let (old, new) = ((id(old), old.decision), (id(new), new.decision));
        let known = self.found.classes.iter_mut().find(|class| class.old == old && class.new == new);
        if let Some(class) = known {
            class.complete &= !left.more;
            requests.for_each(|one| describe::add(&mut class.requests, one));
            return;
        }
        let mut class = Class { old, new, requests: Vec::new(), complete: !left.more, witness };
        requests.for_each(|one| describe::add(&mut class.requests, one));
        self.found.classes.push(class);
    }
}
