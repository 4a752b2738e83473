//! Requests that an entry decides at a service: the proof that it does something there.
use super::witness::{Space, Witness};
use crate::{
    policy::Policy,
    program::{acl::AceId, auth::AuthType},
};

/// At most this many requests are tried to reach an entry.
const TRIED: usize = 64;

/// A request that an entry decides at a service, when `step` of its chain walks the list.
pub(crate) fn by_step(policy: &Policy, service: usize, step: AuthType, id: AceId) -> Option<Witness> {
    request(policy, (service, step), id, TRIED, Some)
}

/// A request that an entry decides at a service, when any type of its chain walks the list.
pub(crate) fn by_any(policy: &Policy, service: usize, id: AceId) -> Option<Witness> {
    by_any_as(policy, service, id, TRIED, Some)
}

/// The same; `changed` makes of each of the `tried` requests the one that is put to the list, or leaves it out.
pub(crate) fn by_any_as(
    policy: &Policy,
    service: usize,
    id: AceId,
    tried: usize,
    changed: impl Fn(Witness) -> Option<Witness>,
) -> Option<Witness> {
    let steps = &policy.program().services.get(service)?.chain.value;
    steps.iter().find_map(|step| request(policy, (service, step.kind), id, tried, &changed))
}

fn request(
    policy: &Policy,
    (service, step): (usize, AuthType),
    id: AceId,
    tried: usize,
    changed: impl Fn(Witness) -> Option<Witness>,
) -> Option<Witness> {
    let program = policy.program();
    let (ace, at) = (program.acls.ace(id)?, program.services.get(service)?);
    let space = Space::accepted(&ace.matcher, at, step, policy);
    let mut requests = space.requests(tried).filter_map(changed);
    requests.find(|witness| policy.decide(service, &witness.request()).entry == Some(id))
}
