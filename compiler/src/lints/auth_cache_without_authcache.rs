//! `auth-cache-without-authcache`
use std::collections::BTreeSet;

use super::{
    caches::never_fills,
    rule::{Lint, rule},
};

rule! {
    /// An `auth` chain asks the authentication cache, but no `authcache` line tells what to remember.
    ///
    /// Without `authcache` before the service nothing is ever remembered: `cache` and `cacheacl` never succeed, and every
    /// request is authenticated anew.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// An `authcache` line after the service comes too late:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth cache strong
    /// allow alice
    /// proxy
    /// authcache ip,user,pass 60
    /// ```
    "auth-cache-without-authcache",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    let later = lint.program.auth_cache_size.at;
    for service in lint.program.services.iter().filter(|service| service.auth_cache.is_none()) {
        let cache = service.chain.value.iter().find(|step| step.kind.is_cache());
        let Some((step, at)) = cache.and_then(|step| Some((step, step.at?))) else { continue };
        // Behind the type that finds out who it is, no `authcache` would help either.
        if never_fills(&service.chain.value).is_some() || !told.insert(at) {
            continue;
        }
        let name = step.kind.name();
        let finding = RULE
            .finding(at, format!("`{name}` never finds anything: there is no `authcache` before the service"))
            .label(format!("`{name}` asks a cache that is never filled"))
            .also(service.at, "this service remembers nothing")
            .help(format!(
                "write `authcache ip,user,pass 60` above the service, or remove `{name}` from the chain"
            ));
        lint.report(match later {
            Some(at) => finding.also(at, "this comes too late for it"),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_a_chain_however_many_services_copied_it() {
        check(
            "auth-cache-without-authcache",
            r"
users alice:CL:wonderland
auth cacheacl strong
#    ^ `cacheacl` never finds anything
proxy
socks
authcache user,pass
proxy -p3129
",
        );
    }

    #[test]
    fn a_cache_that_no_authcache_would_help_is_told_by_another_rule() {
        check(
            "auth-cache-without-authcache",
            "users alice:CL:wonderland\nauth strong cache\nallow alice\nproxy\n",
        );
    }
}
