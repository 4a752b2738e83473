//! Caches that take every client for the first one.
use std::collections::BTreeSet;

use super::{
    caches::without_password,
    rule::{Lint, rule},
};
use crate::program::auth::CacheField;

rule! {
    /// After one login every client is taken for that user: nothing of the client is in the key of the cache.
    ///
    /// A hit in the authentication cache asks nothing: who has the same key is the user who was remembered. `acl`, `srvport` or `dsthost`
    /// say nothing of who the client is; `limit` and `ext` are remembered, but are no key.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache acl 60
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache acl,user,pass 60
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    "cache-key-without-client",
    level: Deny,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    let of_client = [CacheField::Ip, CacheField::User];
    let nobody = without_password(program).filter(|cache| !of_client.iter().any(|field| cache.has(*field)));
    for cache in nobody {
        if told.insert(cache.at) {
            lint.report(
                cache
                    .finding(&RULE, "after one login, every client counts as that user", "user,pass")
                    .help("add `user,pass` to the fields"),
            );
        }
    }
}
