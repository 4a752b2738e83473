//! The access lists that services ask, each once.
use std::{cmp::Reverse, collections::BTreeMap};

use crate::program::{
    Program,
    acl::{Ace, AceId, AclRef, ListId, Operations},
    auth::AuthType,
    service::Service,
};

/// A list, and the services that ask it.
#[derive(Clone, Debug)]
pub(crate) struct Walked {
    /// The longest copy.
    pub(crate) acl: AclRef,
    /// The services, the ones with the longest copy first, as indexes of [`Program::services`] with their copies.
    pub(crate) copies: Vec<(usize, AclRef)>,
}

/// Each of them, in the order of lists. A service with `auth none` asks none.
pub(crate) fn lists(program: &Program) -> Vec<Walked> {
    let mut lists: BTreeMap<ListId, Vec<(usize, AclRef)>> = BTreeMap::new();
    for (at, service) in program.services.iter().enumerate().filter(|(_, service)| walks(service)) {
        if let Some(acl) = service.acl {
            lists.entry(acl.list).or_default().push((at, acl));
        }
    }
    let walked = lists.into_values().filter_map(|mut copies| {
        copies.sort_by_key(|(_, acl)| Reverse((acl.len, acl.last)));
        Some(Walked { acl: copies.first()?.1, copies })
    });
    walked.collect()
}

/// Whether a service asks its list.
fn walks(service: &Service) -> bool {
    service.chain.value.first().is_none_or(|step| step.kind != AuthType::None)
}

impl Walked {
    /// The services, the ones with the longest copy first.
    pub(crate) fn services<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = &'a Service> {
        self.copies.iter().filter_map(|(at, _)| program.services.get(*at).map(|service| &**service))
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
