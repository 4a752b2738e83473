//! Caches that take an address for a password.
use std::collections::BTreeSet;

use super::{
    caches::without_password,
    rule::{Lint, rule},
};
use crate::program::auth::CacheField;

rule! {
    /// While a client is remembered by its address, others behind the same address are admitted without a password.
    ///
    /// A hit in the authentication cache checks no password: every client with the same key counts as the remembered user. Behind one address there
    /// may be an office, a provider's translation or an attacker in the same network. With `ip` alone all of them count as the one that logged in
    /// first; with `ip,user` a name is enough.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// With the password in the key it is compared, and still checked only once:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// It may be meant, to save work: then allow it. A key without the address is another matter: see `cache-any-password` and
    /// `cache-key-without-client`.
    "cache-without-password",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    for cache in without_password(program).filter(|cache| cache.has(CacheField::Ip)) {
        // Without a password to be known there is nothing to miss.
        if cache.password.is_none() || !told.insert(cache.at) {
            continue;
        }
        let (message, missing) = if cache.has(CacheField::User) {
            ("while a client is remembered, any password will do for the same name from its address", "pass")
        } else {
            ("while a client is remembered, everyone behind its address is taken for that user", "user,pass")
        };
        lint.report(
            cache
                .finding(&RULE, message, missing)
                .help(format!("add `{missing}` to the fields, or allow this rule if it is intended")),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn what_a_name_adds_is_told_apart() {
        check(
            "cache-without-password",
            r"
users alice:CL:x
authcache ip,limit
#         ^ everyone behind its address
auth cache strong
proxy
authcache ip,user,limit
#         ^ for the same name
socks
authcache ip
auth cache iponly
socks -p1081
auth strong
proxy -p3129
",
        );
    }

    /// Who allows one of the three has not allowed the others.
    #[test]
    fn each_key_has_one_rule() {
        let rules = ["cache-without-password", "cache-any-password", "cache-key-without-client"];
        for (fields, expected) in [("ip", 0), ("ip,user", 0), ("user", 1), ("user,dstport", 1), ("acl", 2)] {
            for allowed in rules {
                let text = format!(
                    "users alice:CL:x\n# cfgc: allow({allowed}) meant\nauthcache {fields}\nauth cache strong\nproxy\n"
                );
                for (place, rule) in rules.iter().enumerate() {
                    let found = usize::from(place == expected && *rule != allowed);
                    assert_eq!(findings(rule, &text).len(), found, "{rule}: {text}");
                }
            }
        }
    }
}
