//! `cache-key-password-alone`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{analysis::cached::services, program::auth::CacheField};

rule! {
    /// With the password alone in the key, a user is whoever has that password.
    ///
    /// The name is not compared: a client that gives the password of a remembered user counts as that user, under any name. Two users with one
    /// password are one, and a guessed password needs no name.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    "cache-key-password-alone",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    for cached in services(program) {
        let has = |field| cached.settings.fields.has(field);
        let password = cached.behind.iter().find(|step| step.kind.asks_password());
        let (Some(at), Some(password)) = (cached.settings.at, password) else { continue };
        // An address that the entry is bound to is refused when it is another one.
        let bound = has(CacheField::Ip) || has(CacheField::User);
        if !has(CacheField::Pass) || bound || !told.insert(at) {
            continue;
        }
        let mut finding = RULE
            .finding(at, "while a client is remembered, its password makes anybody that user, under any name")
            .label("has no `user`");
        if let Some(step) = cached.step.at {
            finding = finding.also(step, "a hit here compares no name");
        }
        if let Some(at) = password.at {
            finding = finding.also(at, "knows the name the first time only");
        }
        lint.report(finding.also(cached.service.at, "in this service").help("write `user,pass`"));
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn what_keeps_users_apart_is_right() {
        check(
            "cache-key-password-alone",
            r"
users alice:CL:x
authcache pass,acl
#         ^ under any name
auth cache strong
proxy
authcache ip,pass
socks
authcache pass
auth cache useronly
socks -p1081
auth strong cache
proxy -p3129
",
        );
    }
}
