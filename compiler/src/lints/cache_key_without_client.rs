//! A cache key that says nothing of the client.
use super::rule::{Lint, rule};
use crate::program::auth::{AuthType, CacheField};

rule! {
    /// A cache whose key holds neither address nor user nor password takes every client for the first one.
    ///
    /// After one good login everybody is that user, without a password: `limit` and `ext` are remembered, but are no key.
    ///
    /// ```3proxy,fires
    /// authcache acl 60
    /// auth cache strong
    /// users alice:CL:rabbit
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// authcache user,pass,acl 60
    /// auth cache strong
    /// users alice:CL:rabbit
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "cache-key-without-client",
    level: Deny,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = None;
    for service in &lint.program.services {
        let Some(cache) = service.auth_cache else { continue };
        let cached =
            service.chain.value.iter().any(|step| matches!(step.kind, AuthType::Cache | AuthType::CacheAcl));
        let client = [CacheField::Ip, CacheField::User, CacheField::Pass]
            .into_iter()
            .any(|field| cache.fields.has(field));
        if !cached || client || cache.at == told {
            continue;
        }
        told = cache.at;
        lint.report(
            RULE.finding(
                cache.at.unwrap_or(service.at),
                "after one login every client is taken for that user",
            )
            .label("says nothing of the client")
            .also(service.at, "by this service")
            .help("add `user,pass`"),
        );
    }
}
