//! Services whose authentication cache can hit, and what they would do without it.
use std::collections::BTreeMap;

use super::{decided, lists::Once, witness::Witness};
use crate::{
    policy::Policy,
    program::{
        Program,
        acl::{Ace, AceId},
        auth::{AuthCache, AuthStep, AuthType, remembering},
        service::{Service, ServiceKind},
    },
    sources::Loc,
};

/// A service whose authentication cache can hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cached<'a> {
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
pub(crate) struct Bypassed<'a> {
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
pub(crate) fn services(program: &Program) -> impl Iterator<Item = Cached<'_>> {
    program.services.iter().enumerate().filter_map(|(index, service)| {
        let (step, behind) = remembering(&service.chain.value)?;
        Some(Cached { index, service, step, behind, settings: service.auth_cache? })
    })
}

impl Cached<'_> {
    /// The types that find out who the client is, once each.
    pub(crate) fn real(&self) -> impl Iterator<Item = AuthType> + '_ {
        let first = |at: usize, kind: AuthType| !self.behind.iter().take(at).any(|step| step.kind == kind);
        let real = self.behind.iter().map(|step| step.kind).enumerate().filter(|(_, kind)| kind.is_real());
        real.filter(move |(at, kind)| first(*at, *kind)).map(|(_, kind)| kind)
    }

    /// A request that an entry decides.
    pub(crate) fn reaches(&self, policy: &Policy, id: AceId) -> Option<Witness> {
        self.real().find_map(|step| decided::by_step(policy, self.index, step, id))
    }
}

/// For each `cacheacl` in the text: the first entry that `wanted` says yes to and that decides a request of a service with it.
///
/// A hit asks no entry. Lists that grow from service to service are searched once.
pub(crate) fn bypassed<'a>(
    policy: &'a Policy,
    wanted: impl Fn(&Cached<'a>, &Ace) -> bool,
) -> BTreeMap<Loc, Bypassed<'a>> {
    let program = policy.program();
    let mut found: BTreeMap<Loc, Bypassed<'a>> = BTreeMap::new();
    let mut once: BTreeMap<(Loc, ServiceKind), Once> = BTreeMap::new();
    for cached in services(program).filter(|cached| cached.step.kind == AuthType::CacheAcl) {
        let (Some(at), Some(acl)) = (cached.step.at, cached.service.asked_list()) else { continue };
        if let Some(bypassed) = found.get_mut(&at) {
            bypassed.services += 1;
            continue;
        }
        let once = once.entry((at, cached.service.kind)).or_default();
        let mut entries = once.fresh_and_last(&program.acls, acl).filter(|(_, ace)| wanted(&cached, ace));
        if let Some((entry, witness)) = entries.find_map(|(id, ace)| Some((ace, cached.reaches(policy, id)?)))
        {
            found.insert(at, Bypassed { cached, entry, witness, services: 1 });
        }
    }
    found
}
