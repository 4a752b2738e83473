//! What 3proxy does with a request that its authentication cache knows.
//!
//! The cache holds no verdict that would be given now, but one that was given then: to another request, perhaps by another service.
//! `cacheacl` asks no list, so the request goes direct; `cache` asks it, but believes in the user.
use super::{Ends, Otherwise, Reason, When};
use crate::{
    code::Code,
    policy::Policy,
    program::{
        Program,
        auth::{AuthCache, AuthStep, AuthType, CacheField, remembering},
        service::Service,
    },
    query::{Outcome, Query},
    table::Fields,
    trace::Case,
};

/// What it does if it holds a request with the same key, where that is something else than `ends` and can be.
pub(super) fn of(policy: &Policy, case: &Case, ends: &Ends) -> Option<Otherwise> {
    let program = policy.program();
    let service = program.services.get(case.query.service)?;
    let (step, _) = remembering(&service.chain.value)?;
    let settings = service.auth_cache?;
    let asked = Asked { program, service, settings, query: &case.query };
    // What stands before the cache is asked first, and may have decided.
    let reached = case.answer.steps.iter().any(|asked| asked.at == step.at && asked.kind == step.kind);
    if !reached || !asked.has_key() {
        return None;
    }
    let otherwise = |ends| Otherwise {
        reasons: Vec::from([Reason::FoundInCache(step.at)]),
        when: When::Remembered,
        ends,
    };
    let found = match step.kind {
        AuthType::CacheAcl => Ends { outcome: Outcome::Allow, code: Code::PASSED, verdict: None },
        // Everybody is whoever logged in first; nothing here remembers by such a key.
        _ if asked.is_anybody() => return Some(otherwise(None)),
        _ => by_list(policy, &asked)?,
    };
    let differs = !found.is_same(ends) && !asked.goes_same_way(policy, ends, step);
    (differs && asked.can_be_remembered(policy, case, ends)).then(|| otherwise(Some(found)))
}

/// A request that looks itself up.
struct Asked<'a> {
    program: &'a Program,
    service: &'a Service,
    settings: AuthCache,
    query: &'a Query,
}

impl Asked<'_> {
    fn has(&self, field: CacheField) -> bool {
        self.settings.fields.has(field)
    }

    /// Whether it has what the key is made of.
    fn has_key(&self) -> bool {
        !(self.has(CacheField::User) || self.has(CacheField::Pass)) || self.query.user.is_some()
    }

    /// Whether the key says nothing of the client.
    fn is_anybody(&self) -> bool {
        !(self.has(CacheField::User) || self.has(CacheField::Pass) || self.has(CacheField::Ip))
    }

    /// `extip` alone, restored from the cache: the request goes the same way.
    fn goes_same_way(&self, policy: &Policy, ends: &Ends, step: &AuthStep) -> bool {
        let parents = ends.verdict.map(|verdict| policy.parents(verdict)).unwrap_or_default();
        let only_external = parents.iter().all(|parent| !crate::way::is_hop(parent));
        let passes = ends.code.passes() && step.kind == AuthType::CacheAcl;
        passes && only_external && (parents.is_empty() || self.has(CacheField::Ext))
    }

    /// Whether a request with this key can have passed: this one, or another.
    fn can_be_remembered(&self, policy: &Policy, case: &Case, ends: &Ends) -> bool {
        if ends.code.passes() {
            // Only who gave a name is remembered.
            return self.query.user.is_some() || !self.has(CacheField::User);
        }
        // The code may be that of the cache, which was asked before the list.
        let by_list = case.answer.steps.iter().rfind(|step| step.verdict.is_some());
        let by_itself = match by_list.and_then(|step| step.found.as_ref().ok()) {
            Some(identity) => {
                let host = self.query.host();
                let request = self.query.request(self.program, identity.user(), host.as_deref());
                let fixed_by = policy.depends_on(self.query.service, &request);
                fixed_by.each().any(|field| !self.keyed(field))
            }
            // Of a user that there is, another request may have brought the right password.
            None => !self.has(CacheField::Pass) && ends.code.is_wrong_password(),
        };
        by_itself || self.is_shared()
    }

    /// Whether requests with one key have this in common.
    fn keyed(&self, field: Fields) -> bool {
        let keyed = match field {
            Fields::USER => CacheField::User,
            Fields::SOURCE => CacheField::Ip,
            Fields::HOST => CacheField::DstHost,
            Fields::ADDRESS => CacheField::DstAddr,
            Fields::PORT => CacheField::DstPort,
            Fields::OPERATION => CacheField::DstOper,
            _ => return false,
        };
        self.has(keyed)
    }

    /// Whether another service with another chain or list makes the same keys.
    fn is_shared(&self) -> bool {
        let apart = [CacheField::Acl, CacheField::SrvAddr, CacheField::SrvPort];
        let kinds = |service: &Service| -> Vec<AuthType> {
            service.chain.value.iter().map(|step| step.kind).collect()
        };
        let differs = |other: &Service| other.acl != self.service.acl || kinds(other) != kinds(self.service);
        let same_key = |other: &Service| {
            other.auth_cache.is_some_and(|other| other.fields == self.settings.fields)
                && remembering(&other.chain.value).is_some()
        };
        !apart.iter().any(|field| self.has(*field))
            && self.program.services.iter().any(|other| same_key(other) && differs(other))
    }
}

/// What the list says to the user that it names, who is taken for who it is.
fn by_list(policy: &Policy, asked: &Asked<'_>) -> Option<Ends> {
    // Without the name in the key it is whoever was remembered.
    let user = asked.query.user.as_ref().filter(|_| asked.has(CacheField::User))?;
    let host = asked.query.host();
    let request = asked.query.request(asked.program, Some(user.as_bytes()), host.as_deref());
    let verdict = policy.decide(asked.query.service, &request);
    let code = Code::of(verdict.decision);
    Some(Ends { outcome: Outcome::of(code), code, verdict: Some(verdict) })
}
