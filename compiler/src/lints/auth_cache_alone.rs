//! `auth-cache-alone`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::auth::AuthType;

rule! {
    /// A chain has only a cache, and no type whose answers it could remember.
    ///
    /// A cache admits clients that another type of the same chain admitted before. Without such a type it refuses everybody, unless another service
    /// shares its entries: then it admits the clients that the other service admitted.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    "auth-cache-alone",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // A plugin may bring the type that is remembered.
    if !program.process.plugins.is_empty() {
        return;
    }
    let mut told = BTreeSet::new();
    for service in &program.services {
        let chain = &service.chain.value;
        let cache = chain.iter().find(|step| step.kind.is_cache());
        let Some((cache, at)) = cache.and_then(|cache| Some((cache, cache.at?))) else { continue };
        let alone = !chain.iter().any(|step| step.kind.is_real() || step.kind == AuthType::None);
        if alone && told.insert(at) {
            let name = cache.kind.name();
            lint.report(
                RULE.finding(at, format!("`{name}` alone admits nobody, because it has nothing to remember"))
                    .label("no other type in this chain")
                    .also(service.at, "so this service refuses every client")
                    .help(format!("write the type that checks clients after it: `auth {name} strong`")),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn two_caches_are_alone_too() {
        check(
            "auth-cache-alone",
            "authcache user\nauth cacheacl cache\n#    ^ `cacheacl` alone\nproxy\nsocks\nauth cache none\nproxy -p2\nauth iponly cache\nproxy -p3\n",
        );
        check("auth-cache-alone", "plugin x.so start\nauthcache user\nauth cache my\nproxy\n");
    }
}
