//! What an authentication cache would be asked for.
use crate::{
    policy::Policy,
    program::auth::{AuthCache, AuthStep, CacheField, remembering},
    query::{Query, operation_name},
    sources::Loc,
};

/// What a `cache` or `cacheacl` looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey {
    /// The word in the `auth` line.
    pub step: Option<Loc>,
    /// The `authcache` word; `None`: there is no such line, or it leaves the fields to 3proxy.
    pub at: Option<Loc>,
    /// The parts of the key: field and value of this request. A password is not told.
    pub parts: Vec<(CacheField, String)>,
    /// `ip,limit`: the client's address is compared with the one remembered.
    pub is_bound: bool,
    /// How many seconds a success is remembered.
    pub seconds: u32,
    /// Why nothing can be found; `None`: something can.
    pub misses: Option<Miss>,
}

/// Why a cache never finds this request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Miss {
    /// No `authcache` line stands before the service.
    NoCache,
    /// No type behind it finds out who the client is.
    NothingRemembered,
    /// Its fields say nothing of the client.
    NoClient,
    /// The request has no user name.
    NoUser,
}

/// The key of a query, if its service's chain has a cache.
pub(super) fn of(policy: &Policy, query: &Query) -> Option<CacheKey> {
    let service = policy.program().services.get(query.service)?;
    let step = service.chain.value.iter().find(|step| step.kind.is_cache())?;
    let nothing = |misses| CacheKey {
        step: step.at,
        at: None,
        parts: Vec::new(),
        is_bound: false,
        seconds: 0,
        misses: Some(misses),
    };
    let Some(settings) = service.auth_cache else { return Some(nothing(Miss::NoCache)) };
    let mut key = CacheKey { at: settings.at, seconds: settings.seconds, ..nothing(Miss::NoCache) };
    key.is_bound = settings.fields.has(CacheField::Ip) && settings.fields.has(CacheField::Limit);
    key.misses = miss(&settings, &service.chain.value, query);
    if key.misses.is_none_or(|miss| miss == Miss::NothingRemembered) {
        let fields = settings.fields.iter().filter(|field| *field != CacheField::Ip || !key.is_bound);
        key.parts = fields.filter_map(|field| Some((field, value(policy, query, field)?))).collect();
    }
    Some(key)
}

fn miss(settings: &AuthCache, chain: &[AuthStep], query: &Query) -> Option<Miss> {
    let has = |field| settings.fields.has(field);
    if !(has(CacheField::Ip) || has(CacheField::User) || has(CacheField::Pass)) {
        return Some(Miss::NoClient);
    }
    if (has(CacheField::User) || has(CacheField::Pass)) && query.user.is_none() {
        return Some(Miss::NoUser);
    }
    remembering(chain).is_none().then_some(Miss::NothingRemembered)
}

/// What a field is in this request; `None`: it is no part of a key.
fn value(policy: &Policy, query: &Query, field: CacheField) -> Option<String> {
    let program = policy.program();
    let service = program.services.get(query.service)?;
    Some(match field {
        CacheField::Ip => query.from.map_or_else(unknown, |address| address.to_string()),
        CacheField::User => query.user.as_ref()?.to_string(),
        CacheField::Pass => "***".to_owned(),
        CacheField::Limit | CacheField::Ext => return None,
        CacheField::Acl => "the service's access list".to_owned(),
        CacheField::DstAddr => query.address(program).map_or_else(unknown, |address| address.to_string()),
        CacheField::DstPort => query.port.to_string(),
        CacheField::DstHost => query.host().unwrap_or_default(),
        CacheField::DstOper => operation_name(query.operation).to_owned(),
        CacheField::SrvAddr => "the address that the client connected to".to_owned(),
        CacheField::SrvPort => service.listen.port.value.to_string(),
    })
}

fn unknown() -> String {
    "not known".to_owned()
}
