//! `cache-without-password`
use std::collections::BTreeSet;

use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    policy::cached::{Cached, services},
    program::auth::{AuthStep, CacheField},
    sources::{Loc, Sources},
};

rule! {
    /// While a client's address is remembered, everyone behind that address is let in without the right password.
    ///
    /// Behind one address there may be an office, a provider's translation or an attacker in the same network. With `ip` alone all of them
    /// are the one who logged in first; with `ip,user` a name is enough. If that is meant, to save work, allow this finding.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// With the password in the key it is checked, and still asked for only once:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 600
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    "cache-without-password",
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
        let (Some(at), Some(password)) = (cached.settings.at, checks(&cached)) else { continue };
        if !has(CacheField::Ip) || has(CacheField::Pass) || !told.insert(at) {
            continue;
        }
        let (message, missing) = if has(CacheField::User) {
            ("while a client is remembered, any password will do for the same name from its address", "pass")
        } else {
            ("while a client is remembered, everyone behind its address is taken for that user", "user,pass")
        };
        let mut finding = RULE.finding(at, message).label(format!("has no `{missing}`"));
        if let Some(step) = cached.step.at {
            finding = finding.also(step, "a hit here checks no password");
        }
        if let Some(at) = password.at {
            finding = finding.also(at, "checks it the first time only");
        }
        lint.report(
            finding
                .also(cached.service.at, "in this service")
                .help(format!("add `{missing}` to the fields, or allow this if it is meant")),
        );
    }
}

/// The type that checks a password before it is remembered who the client is.
pub(super) fn checks<'a>(cached: &Cached<'a>) -> Option<&'a AuthStep> {
    cached.behind.iter().find(|step| step.kind.asks_password())
}

/// Puts `pass` behind the fields of an `authcache` line.
pub(super) fn add_pass(sources: &Sources, fields: Loc) -> Option<Fix> {
    let end = Loc { file: fields.file, span: Span::new(fields.span.end, fields.span.end) };
    let plain = !sources.text(fields).iter().any(|byte| matches!(byte, b'"' | b'$'));
    plain.then(|| Fix::replace("remember the password", Safety::Safe, end, ",pass"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

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
}
