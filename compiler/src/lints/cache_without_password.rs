//! Caches that let clients in who do not know the password.
use std::collections::BTreeSet;

use super::{
    cache_fields::add_pass,
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    policy::cached::{Cached, services},
    program::auth::{AuthStep, CacheField},
    sources::{Loc, Sources},
};

rule! {
    /// While a user is remembered, clients are let in without the right password.
    ///
    /// A hit in the authentication cache checks no password: who has the same key is the user who was remembered. With the name alone in
    /// the key, any password will do for that name, from anywhere, as soon as its owner has logged in once.
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
    /// Behind one address there may be an office, a provider's translation or an attacker in the same network. With `ip` alone all of them
    /// are the one who logged in first; with `ip,user` a name is enough. That may be meant, to save work, and is a warning:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// A key without `ip`, `user` and `pass` takes every client for the first one: `limit` and `ext` are remembered, but are no key.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache acl 60
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
    "cache-without-password",
    level: Deny,
    group: Security,
    since: "0.1.0",
    aliases: ["cache-any-password", "cache-key-without-client"],
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    for cached in services(program) {
        let Some(finding) = cached.settings.at.and_then(|at| found(lint.sources, &cached, at)) else {
            continue;
        };
        if told.insert(finding.at) {
            lint.report(finding);
        }
    }
}

/// What the key of a cache, whose fields stand at `at`, lets happen.
fn found(sources: &Sources, cached: &Cached<'_>, at: Loc) -> Option<Finding> {
    let has = |field| cached.settings.fields.has(field);
    if has(CacheField::Pass) {
        return None;
    }
    let password = checks(cached);
    let (message, missing) = match (has(CacheField::Ip), has(CacheField::User)) {
        (false, false) => ("after one login every client is taken for that user", "user,pass"),
        // Without a password to be known there is nothing to miss.
        _ if password.is_none() => return None,
        (false, true) => ("while a user is remembered, any password will do for that name", "pass"),
        (true, true) => {
            ("while a client is remembered, any password will do for the same name from its address", "pass")
        }
        (true, false) => {
            ("while a client is remembered, everyone behind its address is taken for that user", "user,pass")
        }
    };
    let mut finding = RULE.finding(at, message).label(format!("has no `{missing}`"));
    if let Some(step) = cached.step.at {
        finding = finding.also(step, "a hit here checks no password");
    }
    if let Some(at) = password.and_then(|step| step.at) {
        finding = finding.also(at, "checks it the first time only");
    }
    finding = finding.also(cached.service.at, "in this service");
    if has(CacheField::Ip) {
        finding.level = Level::Warn;
        return Some(finding.help(format!("add `{missing}` to the fields, or allow this if it is meant")));
    }
    finding = finding.help(format!("add `{missing}` to the fields"));
    Some(if has(CacheField::User) { finding.fix(add_pass(sources, at)) } else { finding })
}

/// The type that checks a password before it is remembered who the client is.
fn checks<'a>(cached: &Cached<'a>) -> Option<&'a AuthStep> {
    cached.behind.iter().find(|step| step.kind.asks_password())
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn one_finding_for_a_line_that_some_chain_uses() {
        check(
            "cache-without-password",
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

    #[test]
    fn an_address_in_the_key_may_be_meant() {
        for (fields, level) in
            [("user", Level::Deny), ("acl", Level::Deny), ("ip", Level::Warn), ("ip,user", Level::Warn)]
        {
            let text = format!("users alice:CL:x\nauthcache {fields}\nauth cache strong\nproxy\n");
            let found = findings("cache-without-password", &text);
            assert_eq!(found.iter().map(|finding| finding.level).collect::<Vec<_>>(), [level], "{fields}");
        }
    }
}
