//! Caches of authentication: what clients are remembered by, and whether they are at all.
use grammar::Span;

use super::Rule;
use crate::{
    analysis::cached::{Cached, services},
    finding::Finding,
    fix::{Fix, Safety},
    program::{
        Program,
        auth::{AuthStep, AuthType, CacheField, remembering},
    },
    sources::{Loc, Sources},
};

/// Puts `pass` behind the fields. `None`: quotes or a `$file` hide where they end.
pub(super) fn add_pass(sources: &Sources, fields: Loc) -> Option<Fix> {
    let end = Loc { file: fields.file, span: Span::new(fields.span.end, fields.span.end) };
    let plain = !sources.text(fields).iter().any(|byte| matches!(byte, b'"' | b'$'));
    plain.then(|| Fix::replace("remember the password", Safety::Safe, end, ",pass"))
}

/// The type and the cache that stands behind it in vain.
pub(super) fn never_fills(chain: &[AuthStep]) -> Option<(&AuthStep, &AuthStep)> {
    let cache = chain.iter().find(|step| step.kind.is_cache())?;
    worth(chain).filter(|_| remembering(chain).is_none()).map(|real| (real, cache))
}

/// The type whose successes are worth remembering: the first that checks who the client is. Before one that takes any name the
/// cache would make that name a checked one.
pub(super) fn worth(chain: &[AuthStep]) -> Option<&AuthStep> {
    let checks =
        |step: &&AuthStep| matches!(step.kind, AuthType::Strong | AuthType::Radius | AuthType::DnsName);
    chain.iter().find(checks).or_else(|| chain.iter().find(|step| step.kind.is_real()))
}

/// A cache that remembers clients by a key without the password.
pub(super) struct Unchecked<'a> {
    pub(super) cached: Cached<'a>,
    /// Where the fields stand.
    pub(super) at: Loc,
    /// The type that checks a password before it is remembered who the client is.
    pub(super) password: Option<&'a AuthStep>,
}

/// All such caches.
pub(super) fn without_password(program: &Program) -> impl Iterator<Item = Unchecked<'_>> {
    let known = |cached: &Cached<'_>| cached.settings.fields.has(CacheField::Pass);
    services(program).filter(move |cached| !known(cached)).filter_map(|cached| {
        let password = cached.behind.iter().find(|step| step.kind.asks_password());
        Some(Unchecked { at: cached.settings.at?, password, cached })
    })
}

impl Unchecked<'_> {
    pub(super) fn has(&self, field: CacheField) -> bool {
        self.cached.settings.fields.has(field)
    }

    /// What `rule` finds in it: the key lacks the fields `missing`.
    pub(super) fn finding(&self, rule: &Rule, message: &str, missing: &str) -> Finding {
        let mut finding = rule.finding(self.at, message.to_owned()).label(format!("has no `{missing}`"));
        if let Some(step) = self.cached.step.at {
            finding = finding.also(step, "a hit here checks no password");
        }
        if let Some(at) = self.password.and_then(|step| step.at) {
            finding = finding.also(at, "checks it the first time only");
        }
        finding.also(self.cached.service.at, "in this service")
    }
}
