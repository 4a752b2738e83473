//! `auth-cache-after-real-type`
use std::collections::BTreeSet;

use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    fix::{Edit, Fix, Safety},
    program::auth::{AuthStep, AuthType, remembering},
    sources::Loc,
};

rule! {
    /// A cache stands behind the type whose answers it should remember, so it never remembers any.
    ///
    /// The types of a chain are tried in order, and only what succeeds *behind* a `cache` or `cacheacl` is remembered. In
    /// `auth strong cache` the cache is asked for those whom `strong` refused, and has never heard of them.
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
    /// A type that takes any name stays before the cache, which would make that name a checked one:
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
    /// A type before the cache is fine if another stands behind it:
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
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let chain = &service.chain.value;
        let cache = chain.iter().find(|step| step.kind.is_cache());
        let (Some(real), Some(cache), None) = (worth(chain), cache, remembering(chain)) else { continue };
        let (Some(real_at), Some(at)) = (real.at, cache.at) else { continue };
        if !told.insert(at) {
            continue;
        }
        let (name, behind) = (cache.kind.name(), real.kind.name());
        let finding = RULE
            .finding(at, format!("`{name}` remembers nothing: it stands behind `{behind}`"))
            .label("asked only for those who were refused")
            .also(real_at, "its successes are not remembered")
            .also(service.at, "so this service authenticates every request anew")
            .help(format!("write `{name}` before `{behind}`"));
        lint.report(match fix(chain) {
            Some(fix) => finding.fix(fix),
            None => finding,
        });
    }
}

/// The type whose successes are worth remembering: the first that checks who the client is. Before one that takes any name the
/// cache would make that name a checked one.
fn worth(chain: &[AuthStep]) -> Option<&AuthStep> {
    let checks =
        |step: &&AuthStep| matches!(step.kind, AuthType::Strong | AuthType::Radius | AuthType::DnsName);
    chain.iter().find(checks).or_else(|| chain.iter().find(|step| step.kind.is_real()))
}

/// Moves the cache before the type whose successes are worth remembering.
fn fix(chain: &[AuthStep]) -> Option<Fix> {
    let real = worth(chain)?;
    let cache = chain.iter().position(|step| step.kind.is_cache())?;
    let (before, cache) = (chain.get(cache.checked_sub(1)?)?.at?, chain.get(cache)?);
    let (to, from, name) = (real.at?, cache.at?, cache.kind.name());
    (to.file == from.file && before.file == from.file && before.span.end <= from.span.start).then(|| Fix {
        title: format!("write `{name}` before `{}`", real.kind.name()),
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

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn none_is_not_a_type_that_could_be_remembered() {
        check("auth-cache-after-real-type", "authcache user\nauth cache none\nproxy\n");
        check("auth-cache-after-real-type", "authcache user\nauth none cache\nproxy\n");
        check(
            "auth-cache-after-real-type",
            "authcache user\nauth strong cacheacl none\n#           ^ behind `strong`\nproxy\n",
        );
    }
}
