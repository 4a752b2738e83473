//! Services whose authentication cache can hit, and what they would do without it.
use std::collections::BTreeMap;

use super::{Policy, walks, witness::Witness};
use crate::{
    program::{
        Program,
        acl::{Ace, AceId, ListId},
        auth::{AuthCache, AuthStep, AuthType, remembering},
        service::{Service, ServiceKind},
    },
    sources::Loc,
};

/// A service whose authentication cache can hit.
#[derive(Clone, Copy, Debug)]
pub struct Cached<'a> {
    /// Its index in [`Program::services`].
    pub index: usize,
    /// The service.
    pub service: &'a Service,
    /// The `cache` or `cacheacl` of its chain.
    pub step: &'a AuthStep,
    /// What stands behind that.
    pub behind: &'a [AuthStep],
    /// What it remembers by.
    pub settings: AuthCache,
}

/// An entry that decides a request which a hit would not ask it about.
#[derive(Clone, Debug)]
pub struct Bypassed<'a> {
    /// The service.
    pub cached: Cached<'a>,
    /// The entry.
    pub entry: &'a Ace,
    /// The request.
    pub witness: Witness,
    /// How many services have the same chain.
    pub services: usize,
}

/// The services whose cache can hit.
pub fn services(program: &Program) -> impl Iterator<Item = Cached<'_>> {
    program.services.iter().enumerate().filter_map(|(index, service)| {
        let (step, behind) = remembering(&service.chain.value)?;
        Some(Cached { index, service, step, behind, settings: service.auth_cache? })
    })
}

impl Cached<'_> {
    /// The types that find out who the client is, once each.
    pub fn real(&self) -> impl Iterator<Item = AuthType> + '_ {
        let first = |at: usize, kind: AuthType| !self.behind.iter().take(at).any(|step| step.kind == kind);
        let real = self.behind.iter().map(|step| step.kind).enumerate().filter(|(_, kind)| kind.is_real());
        real.filter(move |(at, kind)| first(*at, *kind)).map(|(_, kind)| kind)
    }

    /// A request that an entry decides.
    pub fn reaches(&self, policy: &Policy, id: AceId) -> Option<Witness> {
        self.real().find_map(|step| walks::decided_by(policy, self.index, step, id))
    }

    /// The entries of its list from the `from`th on.
    pub fn entries_from<'p>(&self, program: &'p Program, from: u32) -> impl Iterator<Item = AceId> + use<'p> {
        let list = self.service.acl.and_then(|acl| program.acls.lists.get(acl.list.0 as usize));
        let before_last = self.service.acl.map_or(0, |acl| acl.len.saturating_sub(1)) as usize;
        let copied = list.and_then(|list| list.get(from as usize..before_last)).unwrap_or_default();
        copied.iter().copied().chain(self.service.acl.map(|acl| acl.last))
    }
}

/// For each `cacheacl` in the text: the first entry that `wanted` says yes to and that decides a request of a service with it.
///
/// A hit asks no entry. Lists that grow from service to service are searched once.
pub fn bypassed<'a>(
    policy: &'a Policy,
    wanted: impl Fn(&Cached<'a>, &Ace) -> bool,
) -> BTreeMap<Loc, Bypassed<'a>> {
    let program = policy.program();
    let mut found: BTreeMap<Loc, Bypassed<'a>> = BTreeMap::new();
    let mut searched: BTreeMap<(Loc, ListId, ServiceKind), u32> = BTreeMap::new();
    for cached in services(program).filter(|cached| cached.step.kind == AuthType::CacheAcl) {
        let (Some(at), Some(acl)) = (cached.step.at, cached.service.acl) else { continue };
        if let Some(bypassed) = found.get_mut(&at) {
            bypassed.services += 1;
            continue;
        }
        let searched = searched.entry((at, acl.list, cached.service.kind)).or_default();
        let entries = cached.entries_from(program, *searched);
        let wanted = |id: &AceId| program.acls.ace(*id).is_some_and(|ace| wanted(&cached, ace));
        let first =
            entries.filter(wanted).find_map(|id| Some((program.acls.ace(id)?, cached.reaches(policy, id)?)));
        *searched = (*searched).max(acl.len.saturating_sub(1));
        if let Some((entry, witness)) = first {
            found.insert(at, Bypassed { cached, entry, witness, services: 1 });
        }
    }
    found
}
