//! `cacheacl-extip-without-ext`
use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    analysis::cached::{Bypassed, bypassed},
    finding::Finding,
    fix::{Fix, Safety},
    program::{
        acl::{Acls, ParentKind},
        auth::CacheField,
    },
    sources::Loc,
};

rule! {
    /// A request that `cacheacl` remembers leaves from the default address, not from the `extip` of its entry.
    ///
    /// On a hit `cacheacl` does not check the access list, which holds the `extip` line. With `ext` in the `authcache` line the external address
    /// is remembered with the rest.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cacheacl strong
    /// allow alice
    /// parent 1000 extip 192.0.2.1 0
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache user,pass,ext 600
    /// auth cacheacl strong
    /// allow alice
    /// parent 1000 extip 192.0.2.1 0
    /// proxy
    /// ```
    ///
    /// With `cache` the list is asked each time:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cache strong
    /// allow alice
    /// parent 1000 extip 192.0.2.1 0
    /// proxy
    /// ```
    "cacheacl-extip-without-ext",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let Some(policy) = lint.caching_policy() else { return };
    let found = bypassed(policy, |cached, ace| {
        let parents = acls.parents(ace);
        !cached.settings.fields.has(CacheField::Ext)
            && !parents.is_empty()
            && parents.iter().all(|parent| parent.kind == ParentKind::ExternalAddress)
    });
    let findings: Vec<Finding> =
        found.into_iter().map(|(at, bypassed)| finding(acls, at, &bypassed)).collect();
    for finding in findings {
        lint.report(finding);
    }
}

fn finding(acls: &Acls, chain: Loc, bypassed: &Bypassed<'_>) -> Finding {
    let Bypassed { cached, entry, witness, services } = bypassed;
    let at = cached.settings.at.unwrap_or(chain);
    let mut finding = RULE
        .finding(at, "a remembered request leaves from the default address, because `ext` is not in the key")
        .label("remembers no external address")
        .also(chain, "a hit here checks no entry, so it has no `extip`");
    if let Some(parent) = acls.parents(entry).first() {
        finding = finding.also(parent.at, "this address is used for the first request only");
    }
    finding = finding
        .also(cached.service.at, "in this service")
        .note(format!("For example, {witness}: the second time it leaves from the default address."));
    if *services > 1 {
        finding = finding.note(format!("{services} services have this chain."));
    }
    finding = finding.help("add `ext` to the fields of `authcache`, or write `cache` for `cacheacl`");
    match cached.settings.at {
        Some(at) => {
            let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
            finding.fix(Fix::replace("remember the external address", Safety::Safe, end, ",ext"))
        }
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_real_parent_is_the_business_of_another_rule() {
        let rest = "parent 1000 extip 192.0.2.1 0\nparent 1000 socks5 192.0.2.10 1080\nproxy\n";
        let config = format!("users alice:CL:x\nauthcache user\nauth cacheacl strong\nallow alice\n{rest}");
        check("cacheacl-extip-without-ext", &config);
    }
}
