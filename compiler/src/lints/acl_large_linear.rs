//! A long access list, walked at each request.
use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use super::rule::{Lint, rule};
use crate::program::{Program, acl::ListId, auth::AuthType, service::Service};

rule! {
    /// 3proxy walks the access list from its start at each request, value by value.
    ///
    /// With thousands of names or entries that is most of what a request costs. Where the list has no parents, `cacheacl` remembers the
    /// verdict, with everything in the key that the list looks at; where it has, `cache` at least remembers the password. cfgc looks up
    /// an index, and needs neither.
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
    of_3proxy: true,
    check: check,
}

/// So many values cost more than a cache lookup, a password hash aside.
const LONG: usize = 1_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // How many values a list's first entries have: of how many, and the sum. Services share lists, and copy them as they grow.
    let mut sums: HashMap<ListId, (u32, usize)> = HashMap::new();
    let mut told: HashSet<ListId> = HashSet::new();
    for service in &program.services {
        let Some(acl) = service.acl else { continue };
        let cached = service.chain.value.iter().any(|step| step.kind == AuthType::CacheAcl);
        let walked = service.chain.value.iter().any(|step| step.kind != AuthType::None);
        if cached || !walked || told.contains(&acl.list) {
            continue;
        }
        let (known, sum) = sums.entry(acl.list).or_default();
        *sum += values(program, acl.list, *known..acl.len);
        *known = acl.len.max(*known);
        if *sum >= LONG {
            told.insert(acl.list);
            lint.report(found(program, service, *sum));
        }
    }
}

/// The values of some of a list's entries.
fn values(program: &Program, list: ListId, entries: Range<u32>) -> usize {
    let ids = program.acls.lists.get(list.0 as usize).map_or(&[][..], Vec::as_slice);
    let ids = ids.get(entries.start as usize..entries.end as usize).unwrap_or_default();
    ids.iter().map(|id| program.acls.ace(*id).map_or(0, |ace| ace.matcher.values().max(1))).sum()
}

fn found(program: &Program, service: &Service, values: usize) -> crate::finding::Finding {
    let finding = RULE.finding(
        service.at,
        format!("3proxy compares up to {values} values at each request to this service"),
    );
    if program.acls.parents.is_empty() {
        finding.help("remember verdicts: `authcache` with all that the list looks at, and `cacheacl` before the other types in `auth`")
    } else {
        finding.help("put the entries that most requests match first; `cacheacl` would lose the parents")
    }
}
