//! Caches that let a name in with any password.
use std::collections::BTreeSet;

use super::{
    caches::{add_pass, without_password},
    rule::{Lint, rule},
};
use crate::program::auth::CacheField;

rule! {
    /// While a user is remembered, any password will do for that name, from anywhere.
    ///
    /// A hit in the authentication cache checks no password: every client with the same key counts as the remembered user. With the name and not
    /// the client in the key, a name is all that is needed, as soon as its owner has logged in once.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// With the password in the key it is compared, and still checked only once:
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
    let named = without_password(program).filter(|cache| cache.has(CacheField::User));
    for cache in named.filter(|cache| !cache.has(CacheField::Ip) && cache.password.is_some()) {
        if told.insert(cache.at) {
            let message = "while a user is remembered, any password will do for that name";
            lint.report(
                cache
                    .finding(&RULE, message, "pass")
                    .help("add `pass` to the fields")
                    .fix(add_pass(lint.sources, cache.at)),
            );
        }
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
#         ^ any password will do for that name
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
