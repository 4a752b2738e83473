//! A long access list, walked at each request.
use super::rule::{Lint, rule};
use crate::program::{
    Program,
    acl::{Ace, AclRef},
    auth::AuthType,
    service::Service,
};

rule! {
    /// 3proxy walks the access list from its start at each request, value by value.
    ///
    /// With thousands of names or entries that is most of what a request costs. Where the list has no parents, `cacheacl`
    /// remembers the verdict, with everything in the key that the list looks at; where it has, `cache` at least remembers the
    /// password. `cfgc run` uses an index and needs neither.
    ///
    /// ```3proxy,file=domains
    /// {REP:bad.example,:2000}
    /// ```
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * $domains
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * bad.example,worse.example
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "acl-large-linear",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    parts: ["cacheacl-worthwhile"],
    of_3proxy: true,
    check: check,
}

/// This many values cost more than a cache lookup, a password hash aside.
const LONG: usize = 1_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let Some(place) = place(program, list.acl) else { continue };
        let cached =
            |service: &Service| service.chain.value.iter().any(|step| step.kind == AuthType::CacheAcl);
        let slow = list.asking(program, place).filter(|service| !cached(service));
        if let Some(service) = slow.min_by_key(|service| service.at) {
            let entries = service.acl.into_iter().flat_map(|acl| program.acls.entries(acl));
            lint.report(found(program, service, entries.map(|(_, ace)| values(ace)).sum()));
        }
    }
}

/// The entry with which a list has enough values to be long.
fn place(program: &Program, list: AclRef) -> Option<usize> {
    let mut sum = 0;
    program.acls.entries(list).position(|(_, ace)| {
        sum += values(ace);
        sum >= LONG
    })
}

fn values(ace: &Ace) -> usize {
    ace.matcher.values().max(1)
}

fn found(program: &Program, service: &Service, values: usize) -> crate::finding::Finding {
    let finding = RULE.finding(
        service.at,
        format!("3proxy compares up to {values} values for each request to this service"),
    );
    if program.acls.parents.is_empty() {
        finding.part("cacheacl-worthwhile").help("cache verdicts: write `authcache` with all fields that the list compares, and `cacheacl` before the other types in `auth`")
    } else {
        finding.help("put the entries that most requests match first; `cacheacl` would lose the parents")
    }
}
