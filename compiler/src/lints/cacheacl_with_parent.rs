//! `cacheacl-with-parent`
use super::rule::{Lint, rule};
use crate::{
    analysis::cached::{Bypassed, bypassed},
    finding::Finding,
    fix::{Fix, Safety},
    program::acl::{Acls, ParentKind},
};

rule! {
    /// A request that `cacheacl` remembers goes direct, past the parent that its entry names.
    ///
    /// On a hit `cacheacl` does not look at the access list, and the list is what names the parent. So the first request goes through
    /// the parent and every later one goes direct, from the address of this machine. `cache` remembers who the client is and looks at
    /// the list each time.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cacheacl strong
    /// allow alice
    /// parent 1000 socks5 192.0.2.10 1080
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
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// A parent that no remembered request reaches does no harm:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cacheacl strong
    /// allow alice
    /// proxy
    /// flush
    /// auth strong
    /// allow alice
    /// parent 1000 socks5 192.0.2.10 1080
    /// socks
    /// ```
    "cacheacl-with-parent",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Everything,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let Some(policy) = lint.caching_policy() else { return };
    let found = bypassed(policy, |_, ace| {
        acls.parents(ace).iter().any(|parent| parent.kind != ParentKind::ExternalAddress)
    });
    let findings: Vec<Finding> =
        found.into_iter().map(|(at, bypassed)| finding(acls, at, &bypassed)).collect();
    for finding in findings {
        lint.report(finding);
    }
}

fn finding(acls: &Acls, at: crate::sources::Loc, bypassed: &Bypassed<'_>) -> Finding {
    let Bypassed { cached, entry, witness, services } = bypassed;
    let mut finding = RULE
        .finding(at, "a remembered request goes direct: `cacheacl` does not look for its parent")
        .label("a hit here checks no entry, so it uses no parent");
    let parents = acls.parents(entry);
    if let Some(parent) = parents.iter().find(|parent| parent.kind != ParentKind::ExternalAddress) {
        finding = finding.also(parent.at, "this parent sees the first request only");
    }
    finding = finding
        .also(entry.at, "the entry that names it")
        .also(cached.service.at, "in this service")
        .note(format!(
            "For example, {witness}: the first time it goes through the parent, the second time direct."
        ));
    if *services > 1 {
        finding = finding.note(format!("{services} services have this chain."));
    }
    finding
        .help("write `cache`, which remembers the client's identity and checks the access list each time")
        .fix(Fix::replace("write `cache` for `cacheacl`", Safety::Safe, at, "cache"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_a_chain_and_none_for_what_is_not_reached() {
        check(
            "cacheacl-with-parent",
            r"
users alice:CL:wonderland bob:CL:builder
authcache user,pass
auth cacheacl strong
#    ^ goes direct
allow bob
proxy
allow alice
parent 1000 http 192.0.2.10 3128
socks
proxy -p3129
allow *
parent 1000 socks5 192.0.2.10 1080
proxy -p3130
flush
auth cacheacl strong
allow *
allow *
parent 1000 http 192.0.2.10 3128
socks -p1081
",
        );
    }

    #[test]
    fn a_cache_that_never_hits_bypasses_nothing() {
        let rest = "allow alice\nparent 1000 http 192.0.2.10 3128\nproxy\n";
        for chain in
            ["auth cacheacl strong", "authcache user\nauth strong cacheacl", "authcache user\nauth cacheacl"]
        {
            check("cacheacl-with-parent", &format!("users alice:CL:x\n{chain}\n{rest}"));
        }
    }

    #[test]
    fn a_user_whom_nobody_can_be_reaches_nothing() {
        check(
            "cacheacl-with-parent",
            "users alice:CL:x\nauthcache user,pass\nauth cacheacl strong\nallow carol\nparent 1000 http 192.0.2.10 3128\nproxy\n",
        );
    }
}
