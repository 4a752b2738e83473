//! Numbers for what entries and lists of two versions are: equal numbers are equal content.
use std::collections::HashMap;

use grammar::{Secret, Text};

use crate::{
    program::{
        Program,
        acl::{Ace, AceId, AclRef, Acls, Matcher, ParentHost, ParentKind},
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
struct EntryEffect<'a> {
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
    effects: HashMap<EntryEffect<'a>, EffectId>,
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
        self.number(EntryEffect { decision, parents: hops.collect(), nolog: ace.nolog, weight })
    }

    /// What is done at the end of a list.
    pub(super) fn end(&mut self, decision: Decision) -> EffectId {
        self.number(EntryEffect { decision, parents: Vec::new(), nolog: false, weight: 0 })
    }

    fn number(&mut self, effect: EntryEffect<'a>) -> EffectId {
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

/// The entries of a list, in order.
pub(super) fn entries(acls: &Acls, list: Option<AclRef>) -> Vec<(AceId, &Ace)> {
    list.into_iter().flat_map(|list| acls.entries(list)).collect()
}
