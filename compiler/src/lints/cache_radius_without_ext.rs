//! `cache-radius-without-ext`
use std::collections::BTreeSet;

use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    analysis::cached::services,
    fix::{Fix, Safety},
    program::auth::{AuthType, CacheField},
    sources::Loc,
};

rule! {
    /// A remembered client leaves from the default address, even if the RADIUS server gave it another one.
    ///
    /// An answer of a RADIUS server may name the address that the user goes out from (Framed-IP-Address). Without `ext` it is not
    /// remembered, so that it counts for the first request only.
    ///
    /// ```3proxy,fires
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// authcache user,pass 600
    /// auth cache radius
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// authcache user,pass,ext 600
    /// auth cache radius
    /// proxy
    /// ```
    ///
    /// Other types give no address:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// proxy
    /// ```
    "cache-radius-without-ext",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = BTreeSet::new();
    for cached in services(program) {
        let radius = cached.behind.iter().find(|step| step.kind == AuthType::Radius);
        let (Some(at), Some(radius)) = (cached.settings.at, radius) else { continue };
        if cached.settings.fields.has(CacheField::Ext) || !told.insert(at) {
            continue;
        }
        let mut finding = RULE
            .finding(at, "an address that the RADIUS server gives a user is not remembered")
            .label("has no `ext`");
        if let Some(at) = radius.at {
            finding = finding.also(at, "its answer may name the address to go out from");
        }
        let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
        let plain = !lint.sources.text(at).iter().any(|byte| matches!(byte, b'"' | b'$'));
        lint.report(
            finding
                .also(cached.service.at, "in this service")
                .help("add `ext` to the fields")
                .fix(plain.then(|| Fix::replace("remember the external address", Safety::Safe, end, ",ext"))),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn only_what_a_cache_remembers_counts() {
        check(
            "cache-radius-without-ext",
            "radius s 192.0.2.5\nauthcache ip\n#         ^ not remembered\nauth cache strong radius\nproxy\nsocks\nauthcache user\nauth radius cache\nproxy -p2\nauth radius\nproxy -p3\n",
        );
    }
}
