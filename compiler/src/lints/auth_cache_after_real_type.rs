//! A cache behind the type whose answers it should remember.
use std::collections::BTreeSet;

use grammar::Span;

use super::{
    caches::{add_pass, never_fills, worth},
    rule::{Lint, rule},
};
use crate::{
    fix::{Edit, Fix, Safety},
    program::{
        auth::{AuthStep, CacheField},
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// A cache comes after the type whose answers it should remember, so it never remembers any.
    ///
    /// The types of a chain are tried in order, and only what succeeds *after* a `cache` or `cacheacl` is remembered. In `auth
    /// strong cache` the cache is asked only about clients that `strong` refused, and it has no entries for them. So it does no
    /// harm, but it saves nothing.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth strong cache
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// A type that accepts any name stays before the cache; after it, its names would be remembered as checked ones:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth iponly strong cache
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth iponly cache strong
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Written first, a cache admits every client whose key it knows, so the key must contain the password:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache ip,user 60
    /// auth strong cache
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth cache strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// A type before the cache is fine if another comes after it:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,user,pass 60
    /// auth iponly cache strong
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    "auth-cache-after-real-type",
    level: Warn,
    group: Performance,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let chain = &service.chain.value;
        let Some((real, cache)) = never_fills(chain) else { continue };
        let (Some(real_at), Some(at)) = (real.at, cache.at) else { continue };
        if !told.insert(at) {
            continue;
        }
        let (name, behind) = (cache.kind.name(), real.kind.name());
        let finding = RULE
            .finding(at, format!("`{name}` remembers nothing, because it comes after `{behind}`"))
            .label("asked only for clients that were already refused")
            .also(real_at, "its successes are not remembered")
            .also(service.at, "so this service authenticates every request again")
            .help(format!("remove `{name}`, or write it before `{behind}` with a key that contains `pass`"));
        lint.report(match fix(lint, service, real) {
            Some(fix) => finding.fix(fix),
            None => finding,
        });
    }
}

/// Has the cache asked first, by a key that holds what `real` checks; without `authcache` there is none, and the cache goes.
fn fix(lint: &Lint<'_>, service: &Service, real: &AuthStep) -> Option<Fix> {
    // What stands in the `authcache` line, if there is one, is not labelled.
    if lint.program.unknown.lines || lint.program.unknown.values {
        return None;
    }
    let chain = &service.chain.value;
    let Some(cache) = service.auth_cache else { return without(chain) };
    let holds = |field| cache.fields.has(field);
    if !real.kind.asks_password() {
        return to_the_front(chain).filter(|_| holds(CacheField::Ip));
    }
    let mut fix = to_the_front(chain).filter(|_| holds(CacheField::User))?;
    if !holds(CacheField::Pass) {
        let key = add_pass(lint.sources, cache.at?)?;
        fix.title = format!("{}, and add `pass` to its key", fix.title).into();
        fix.edits.extend(key.edits);
    }
    Some(fix)
}

/// Moves the cache before the type whose successes are worth remembering.
fn to_the_front(chain: &[AuthStep]) -> Option<Fix> {
    let real = worth(chain)?;
    let cache = chain.iter().position(|step| step.kind.is_cache())?;
    let (before, cache) = (chain.get(cache.checked_sub(1)?)?.at?, chain.get(cache)?);
    let (to, from, name) = (real.at?, cache.at?, cache.kind.name());
    (to.file == from.file && before.file == from.file && before.span.end <= from.span.start).then(|| Fix {
        title: format!("write `{name}` before `{}`", real.kind.name()).into(),
        safety: Safety::Unsafe,
        edits: vec![
            Edit {
                at: Loc { file: to.file, span: Span::new(to.span.start, to.span.start) },
                text: format!("{name} "),
            },
            Edit {
                at: Loc { file: from.file, span: Span::new(before.span.end, from.span.end) },
                text: String::new(),
            },
        ],
    })
}

/// Removes the cache.
fn without(chain: &[AuthStep]) -> Option<Fix> {
    let at = chain.iter().position(|step| step.kind.is_cache())?;
    let (before, cache) = (chain.get(at.checked_sub(1)?)?.at?, chain.get(at)?.at?);
    let span = Span::new(before.span.end, cache.span.end);
    (before.file == cache.file && before.span.end <= cache.span.start)
        .then(|| Fix::replace("remove it", Safety::Unsafe, Loc { file: cache.file, span }, ""))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn what_the_fix_leads_to_depends_on_the_key() {
        let first = "write `cache` before `strong`";
        let with_pass = "write `cache` before `strong`, and add `pass` to its key";
        for (fields, title) in [
            ("authcache ip,user,pass 60\n", Some(first)),
            ("authcache user,pass 60\n", Some(first)),
            ("authcache ip,user 60\n", Some(with_pass)),
            ("authcache user\n", Some(with_pass)),
            // Whose password it is, this key would not say.
            ("authcache ip 60\n", None),
            ("authcache ip,pass 60\n", None),
            ("", Some("remove it")),
        ] {
            let found = findings(
                "auth-cache-after-real-type",
                &format!("users a:CL:x\n{fields}auth strong cache\nproxy\n"),
            );
            let titles: Vec<_> =
                found.iter().map(|finding| finding.fix.as_ref().map(|fix| &*fix.title)).collect();
            assert_eq!(titles, [title], "{fields}");
        }
    }

    #[test]
    fn none_is_not_a_type_that_could_be_remembered() {
        check("auth-cache-after-real-type", "authcache user\nauth cache none\nproxy\n");
        check("auth-cache-after-real-type", "authcache user\nauth none cache\nproxy\n");
        check(
            "auth-cache-after-real-type",
            "authcache user\nauth strong cacheacl none\n#           ^ after `strong`\nproxy\n",
        );
    }
}
