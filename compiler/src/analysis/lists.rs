//! Which entries of access lists which services ask.
//!
//! A service copies the list as it stands, and the list goes on: thousands of services may hold parts of one. Rules that looked at
//! every copy would cost the square of that. [`asked`] gives each list with all services that ask it, and [`entries`] each entry with
//! the first service that does; [`Once`] is for those that have to go from service to service themselves.
use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, HashSet},
};

use super::shadow::Shadowed;
use crate::{
    program::{
        Program,
        acl::{Ace, AceId, AclRef, Acls, ListId, Operations},
        service::Service,
    },
    sources::Loc,
};

/// A list, and the services that ask it.
#[derive(Clone, Debug)]
pub(crate) struct AskedList {
    /// The longest copy.
    pub(crate) acl: AclRef,
    /// The services, the ones with the longest copy first, as indexes of [`Program::services`] with their copies.
    pub(crate) copies: Vec<(usize, AclRef)>,
}

/// Each list that services ask, in order.
pub(crate) fn asked(program: &Program) -> Vec<AskedList> {
    let mut lists: BTreeMap<ListId, Vec<(usize, AclRef)>> = BTreeMap::new();
    for (at, service) in program.services.iter().enumerate() {
        if let Some(acl) = service.asked_list() {
            lists.entry(acl.list).or_default().push((at, acl));
        }
    }
    let asked = lists.into_values().filter_map(|mut copies| {
        copies.sort_by_key(|(_, acl)| Reverse((acl.len, acl.last)));
        Some(AskedList { acl: copies.first()?.1, copies })
    });
    asked.collect()
}

impl AskedList {
    /// The services, the ones with the longest copy first.
    pub(crate) fn services<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = &'a Service> {
        self.asking(program, 0)
    }

    /// The services that have the entry at `place`.
    pub(crate) fn asking<'a>(
        &'a self,
        program: &'a Program,
        place: usize,
    ) -> impl Iterator<Item = &'a Service> {
        let with = self.copies.iter().take_while(move |(_, acl)| acl.len as usize > place);
        with.filter_map(|(at, _)| program.services.get(*at).map(|service| &**service))
    }

    /// The entries of the longest copy, each with the operations that the services which have it can be asked for.
    pub(crate) fn entries<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl Iterator<Item = (AceId, &'a Ace, Operations)> {
        let mut copies = self.copies.iter().peekable();
        let mut operations = Operations::default();
        let mut by_place = vec![Operations::default(); self.acl.len as usize];
        for (place, slot) in by_place.iter_mut().enumerate().rev() {
            while let Some((at, _)) = copies.next_if(|(_, acl)| acl.len as usize > place) {
                let kind = program.services.get(*at).map(|service| service.kind);
                operations = operations.with(kind.map_or(&[][..], |kind| kind.operations()).into());
            }
            *slot = operations;
        }
        program.acls.entries(self.acl).zip(by_place).map(|((id, ace), operations)| (id, ace, operations))
    }
}

/// An entry, and the first service that asks it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    /// The service's index in [`Program::services`].
    pub(crate) at: usize,
    /// The service.
    pub(crate) service: &'a Service,
    /// The entry.
    pub(crate) id: AceId,
    /// What it says.
    pub(crate) ace: &'a Ace,
}

/// Each entry that services ask, once for each of the groups that `group` puts them in; `None` leaves a service out.
///
/// Where it depends on the kind of service what an entry does, that is the group.
pub(crate) fn entries<'a, G: Ord>(
    program: &'a Program,
    group: impl Fn(&Service) -> Option<G>,
) -> impl Iterator<Item = Entry<'a>> {
    let mut groups: BTreeMap<G, Once> = BTreeMap::new();
    program.services.iter().enumerate().flat_map(move |(at, service)| {
        let asked = service.asked_list().zip(group(service));
        let fresh = asked.map(|(acl, group)| groups.entry(group).or_default().fresh(&program.acls, acl));
        fresh.into_iter().flatten().map(move |(id, ace)| Entry { at, service, id, ace })
    })
}

/// Each entry that services of the sort `some` ask and none of the sort `but`, once.
pub(crate) fn entries_but<'a>(
    program: &'a Program,
    but: impl Fn(&Service) -> bool,
    some: impl Fn(&Service) -> bool,
) -> impl Iterator<Item = Entry<'a>> {
    let mut once = Once::default();
    for acl in program.services.iter().filter(|service| but(service)).filter_map(|it| it.asked_list()) {
        once.skip(acl);
    }
    program.services.iter().enumerate().filter(move |(_, service)| some(service)).flat_map(
        move |(at, service)| {
            let fresh = service.asked_list().map(|acl| once.fresh(&program.acls, acl));
            fresh.into_iter().flatten().map(move |(id, ace)| Entry { at, service, id, ace })
        },
    )
}

/// Entries that were gone through already: of lists that grow from service to service only what is new is gone through.
#[derive(Debug, Default)]
pub(crate) struct Once {
    /// How many entries of each list.
    searched: HashMap<ListId, u32>,
    /// Last entries, as services copied them.
    last: HashSet<AceId>,
}

impl Once {
    /// The entries of a list as a service copied it that were not gone through before, in order.
    pub(crate) fn fresh<'a>(
        &mut self,
        acls: &'a Acls,
        acl: AclRef,
    ) -> impl Iterator<Item = (AceId, &'a Ace)> + use<'a> {
        let list = acls.lists.get(acl.list.0 as usize).map_or(&[][..], Vec::as_slice);
        let before = acl.len.saturating_sub(1);
        let from = self.searched.entry(acl.list).or_default();
        let new = list.get(*from as usize..before as usize).unwrap_or_default();
        let known = before < *from && list.get(before as usize) == Some(&acl.last);
        *from = before.max(*from);
        let mut ids: Vec<AceId> = new.iter().copied().filter(|id| !self.last.contains(id)).collect();
        if self.last.insert(acl.last) && !known {
            ids.push(acl.last);
        }
        ids.into_iter().filter_map(|id| Some((id, acls.ace(id)?)))
    }

    /// The same and the last entry, gone through or not: where services may differ in what comes to it.
    pub(crate) fn fresh_and_last<'a>(
        &mut self,
        acls: &'a Acls,
        acl: AclRef,
    ) -> impl Iterator<Item = (AceId, &'a Ace)> + use<'a> {
        let fresh = self.fresh(acls, acl).filter(move |(id, _)| *id != acl.last);
        fresh.chain(acls.ace(acl.last).map(|last| (acl.last, last)))
    }

    /// Takes a list for gone through.
    pub(crate) fn skip(&mut self, acl: AclRef) {
        let from = self.searched.entry(acl.list).or_default();
        *from = acl.len.saturating_sub(1).max(*from);
        self.last.insert(acl.last);
    }
}

/// Whether copies have an entry of some sort: each list is searched for its first one once.
#[derive(Debug)]
pub(crate) struct Having<'a, F> {
    acls: &'a Acls,
    sort: F,
    first: HashMap<ListId, Option<usize>>,
}

impl<'a, F: Fn(&Ace) -> bool> Having<'a, F> {
    pub(crate) fn new(acls: &'a Acls, sort: F) -> Self {
        Self { acls, sort, first: HashMap::new() }
    }

    /// Whether the list as a service copied it has one.
    pub(crate) fn holds(&mut self, acl: AclRef) -> bool {
        let (acls, sort) = (self.acls, &self.sort);
        let first = *self.first.entry(acl.list).or_insert_with(|| {
            let ids = acls.lists.get(acl.list.0 as usize)?;
            ids.iter().position(|id| acls.ace(*id).is_some_and(sort))
        });
        first.is_some_and(|at| at + 1 < acl.len as usize) || acls.ace(acl.last).is_some_and(sort)
    }
}

/// How far services copied each list, asked or not.
#[derive(Debug)]
pub(crate) struct Copies(BTreeMap<(ListId, u32), Loc>);

impl Copies {
    pub(crate) fn of(program: &Program) -> Self {
        let copies = program.services.iter().filter_map(|service| {
            let acl = service.acl?;
            Some(((acl.list, acl.len), service.at))
        });
        Self(copies.collect())
    }

    /// Whether a service's copy ends with the entry at `place`.
    pub(crate) fn end_behind(&self, list: ListId, place: usize) -> bool {
        u32::try_from(place + 1).is_ok_and(|len| self.0.contains_key(&(list, len)))
    }

    /// If an entry was added behind a service, and all that shadow it stand before that: how many entries the service copied,
    /// and where it is, or the last of those that copied as many.
    pub(crate) fn left_by(&self, shadowed: &Shadowed) -> Option<(u32, Loc)> {
        let last = shadowed.by.iter().map(|shadow| shadow.place).max()?;
        let between = (shadowed.list, last + 1)..=(shadowed.list, shadowed.place);
        self.0.range(between).next_back().map(|((_, len), at)| (*len, *at))
    }
}

#[cfg(test)]
mod tests;
