//! Which entries two lists have in common: numbers for equal content, and the longest run of pairs in order.
use std::collections::HashMap;

use grammar::{Secret, Text};

use crate::{
    program::{
        Program,
        acl::{Ace, AceId, AclRef, Acls, Matcher, ParentHost, ParentKind},
        service::Service,
    },
    table::Decision,
};

/// What is done with a request. Equal numbers are equal effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct EffectId(u32);

/// A list as a service copied it. Equal numbers are equal content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ContentId(u32);

/// What an entry does with a request that it decides: the way out, what is logged, and what limits are told.
#[derive(PartialEq, Eq, Hash)]
struct Effect<'a> {
    decision: Decision,
    parents: Vec<Hop<'a>>,
    nolog: bool,
    weight: i32,
}

/// A parent without its place.
type Hop<'a> = (u16, ParentKind, bool, &'a ParentHost, u16, Option<&'a Text>, Option<&'a Secret>);

/// Numbers for what entries and lists of both versions are.
#[derive(Default)]
pub(super) struct Numbers<'a> {
    effects: HashMap<Effect<'a>, EffectId>,
    entries: HashMap<(&'a Matcher, EffectId, i32), u32>,
    lists: HashMap<(ContentId, u32), ContentId>,
    /// Some limit looks at the weight that an entry leaves.
    weighs: bool,
}

/// The numbers of one Program's lists.
pub(super) struct Numbered {
    /// By list: the number of each beginning, from the empty one on.
    beginnings: Vec<Vec<ContentId>>,
}

impl<'a> Numbers<'a> {
    /// For Programs with these limits.
    pub(super) fn new(programs: [&Program; 2]) -> Self {
        let weighs = programs.iter().any(|program| {
            let limits = &program.limits;
            let weights = limits.bandwidth_in.iter().chain(&limits.bandwidth_out).map(|line| line.weight);
            let more = limits.connections.iter().map(|line| line.weight);
            let traffic = limits.traffic.iter().map(|line| line.limit.weight);
            weights.chain(more).chain(traffic).any(|weight| weight != 0)
        });
        Self { weighs, ..Self::default() }
    }

    /// What an entry does.
    pub(super) fn effect(&mut self, acls: &'a Acls, ace: &'a Ace) -> EffectId {
        let hops = acls.parents(ace).iter().map(|parent| {
            let (user, password) = (parent.user.as_ref(), parent.password.as_ref());
            (parent.weight, parent.kind, parent.secure, &parent.host, parent.port, user, password)
        });
        let weight = if self.weighs { ace.weight } else { 0 };
        let decision = Decision::of(ace);
        self.number(Effect { decision, parents: hops.collect(), nolog: ace.nolog, weight })
    }

    /// What is done at the end of a list.
    pub(super) fn end(&mut self, decision: Decision) -> EffectId {
        self.number(Effect { decision, parents: Vec::new(), nolog: false, weight: 0 })
    }

    fn number(&mut self, effect: Effect<'a>) -> EffectId {
        let next = EffectId(u32::try_from(self.effects.len()).unwrap_or(u32::MAX));
        *self.effects.entry(effect).or_insert(next)
    }

    /// A number that entries of equal content share.
    pub(super) fn entry(&mut self, acls: &'a Acls, ace: &'a Ace) -> u32 {
        let effect = self.effect(acls, ace);
        let next = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        *self.entries.entry((&ace.matcher, effect, ace.weight)).or_insert(next)
    }

    fn longer(&mut self, beginning: ContentId, entry: u32) -> ContentId {
        let next = ContentId(u32::try_from(self.lists.len() + 1).unwrap_or(u32::MAX));
        *self.lists.entry((beginning, entry)).or_insert(next)
    }

    /// Numbers the lists of a Program.
    pub(super) fn lists(&mut self, acls: &'a Acls) -> Numbered {
        let mut beginnings = Vec::with_capacity(acls.lists.len());
        for ids in &acls.lists {
            let mut beginning = ContentId::default();
            let mut all = vec![beginning];
            for ace in ids.iter().filter_map(|id| acls.ace(*id)) {
                let entry = self.entry(acls, ace);
                beginning = self.longer(beginning, entry);
                all.push(beginning);
            }
            beginnings.push(all);
        }
        Numbered { beginnings }
    }

    /// The number of a list as a service copied it; `None`: empty.
    pub(super) fn content(&mut self, numbered: &Numbered, acls: &'a Acls, list: Option<AclRef>) -> ContentId {
        let Some(list) = list else { return ContentId::default() };
        let beginning = numbered
            .beginnings
            .get(list.list.0 as usize)
            .and_then(|all| all.get(list.len.saturating_sub(1) as usize))
            .copied()
            .unwrap_or_default();
        let Some(last) = acls.ace(list.last) else { return beginning };
        let last = self.entry(acls, last);
        self.longer(beginning, last)
    }
}

/// The list that decides the requests of a service; `None`: all that got past authentication pass.
pub(super) fn walked(service: &Service) -> Option<AclRef> {
    let unasked =
        service.chain.value.first().is_some_and(|step| step.kind == crate::program::auth::AuthType::None);
    service.acl.filter(|_| !unasked)
}

/// The entries of a list, in order.
pub(super) fn entries(acls: &Acls, list: Option<AclRef>) -> Vec<(AceId, &Ace)> {
    list.into_iter().flat_map(|list| acls.entries(list)).collect()
}

/// Pairs of equal entries in order: for each of `old`, where it stands in `new`.
///
/// What both begin with and what both end with is paired first: then a change of one entry among equal ones is told of that one.
pub(super) fn pairs(old: &[u32], new: &[u32]) -> Vec<Option<usize>> {
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = [old, new].map(|all| all.get(front..).unwrap_or_default());
    let back = rest[0].iter().rev().zip(rest[1].iter().rev()).take_while(|(old, new)| old == new).count();
    let [old_middle, new_middle] = rest.map(|rest| rest.split_at(rest.len() - back).0);
    let middle = pairs_between(old_middle, new_middle);
    let middle = middle.into_iter().map(|place| place.map(|place| front + place));
    let behind = new.len() - back..new.len();
    (0..front).map(Some).chain(middle).chain(behind.map(Some)).collect()
}

/// As many pairs as can be had when the first of equal entries is paired with the first, and so on.
fn pairs_between(old: &[u32], new: &[u32]) -> Vec<Option<usize>> {
    let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, entry) in new.iter().enumerate().rev() {
        places.entry(*entry).or_default().push(at);
    }
    let partner = |entry: &u32| places.get_mut(entry).and_then(Vec::pop);
    let partners: Vec<Option<usize>> = old.iter().map(partner).collect();
    // The longest ascending run: by length, the run with the least last place, each knowing the one before it.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; old.len()];
    for (at, place) in partners.iter().enumerate().filter_map(|(at, place)| Some((at, (*place)?))) {
        let length = ends.partition_point(|(least, _)| *least < place);
        if let Some(before) = before.get_mut(at) {
            *before = length.checked_sub(1).and_then(|shorter| ends.get(shorter)).map(|(_, at)| *at);
        }
        match ends.get_mut(length) {
            Some(end) => *end = (place, at),
            None => ends.push((place, at)),
        }
    }
    let mut kept = vec![None; old.len()];
    let mut next = ends.last().map(|(_, at)| *at);
    while let Some(at) = next {
        if let Some(kept) = kept.get_mut(at) {
            *kept = partners.get(at).copied().flatten();
        }
        next = before.get(at).copied().flatten();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn what_stayed_in_order_is_paired() {
        let cases: [(&[u32], &[u32], &[Option<usize>]); 8] = [
            (&[1, 2, 3], &[1, 2, 3], &[Some(0), Some(1), Some(2)]),
            (&[1, 2, 3], &[1, 3], &[Some(0), None, Some(1)]),
            (&[1, 3], &[9, 1, 2, 3], &[Some(1), Some(3)]),
            (&[4, 1, 2, 3], &[1, 2, 3, 4], &[None, Some(0), Some(1), Some(2)]),
            (&[7, 7], &[8, 7], &[None, Some(1)]),
            (&[7, 7, 7], &[7, 8, 7], &[Some(0), None, Some(2)]),
            (&[7, 7, 7], &[7, 7], &[Some(0), Some(1), None]),
            (&[7, 7, 1], &[7, 1, 7], &[Some(0), None, Some(1)]),
        ];
        for (old, new, expected) in cases {
            assert_eq!(pairs(old, new), expected, "{old:?} {new:?}");
        }
    }
}
