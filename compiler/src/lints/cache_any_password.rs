//! `cache-any-password`
use std::collections::BTreeSet;

use super::{
    cache_without_password::{add_pass, checks},
    rule::{Lint, rule},
};
use crate::{policy::cached::services, program::auth::CacheField};

rule! {
    /// While a user is remembered, any password will do for that name, from anywhere.
    ///
    /// The key of the cache has the user name, and neither the password nor the client's address. So who knows or guesses a name gets in
    /// as soon as its owner has logged in once.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Where no password is asked for, none need be in the key:
    ///
    /// ```3proxy,clean
    /// authcache user 600
    /// auth cache useronly
    /// allow alice 10.0.0.0/8
    /// proxy
    /// ```
    "cache-any-password",
    level: Deny,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    for cached in services(program) {
        let has = |field| cached.settings.fields.has(field);
        let (Some(at), Some(password)) = (cached.settings.at, checks(&cached)) else { continue };
        if !has(CacheField::User) || has(CacheField::Pass) || has(CacheField::Ip) || !told.insert(at) {
            continue;
        }
        let mut finding = RULE
            .finding(at, "while a user is remembered, any password will do for that name")
            .label("has no `pass`");
        if let Some(step) = cached.step.at {
            finding = finding.also(step, "a hit here checks no password");
        }
        if let Some(at) = password.at {
            finding = finding.also(at, "checks it the first time only");
        }
        let fix = add_pass(lint.sources, at);
        lint.report(
            finding.also(cached.service.at, "in this service").help("add `pass` to the fields").fix(fix),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_a_line_that_some_chain_uses() {
        check(
            "cache-any-password",
            r"
users alice:CL:x
authcache user,dstport
#         ^ any password will do
auth cacheacl strong
proxy
socks
authcache user
auth strong
proxy -p3129
",
        );
    }
}
