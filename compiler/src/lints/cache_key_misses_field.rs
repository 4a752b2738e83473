//! `cache-key-misses-field`
use std::collections::{BTreeMap, BTreeSet};

use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    analysis::{
        cached::{Cached, services},
        lists::Once,
        witness::{Space, Witness},
    },
    finding::Finding,
    fix::{Fix, Safety},
    policy::Policy,
    program::{
        acl::{AceId, ListId},
        auth::{AuthType, CacheField, CacheFields},
    },
    sources::Loc,
    table::{Fields, oracle},
};

rule! {
    /// `cacheacl` applies a verdict to requests that the access list would decide differently.
    ///
    /// A hit asks no entry: it repeats the verdict of the request that was remembered under the same key. So every field that an
    /// entry of the list compares must be part of the key: `user` for users, `ip` for sources, `dstaddr` and `dsthost` for targets,
    /// `dstport` for ports, `dstoper` for operations. `cache` instead of `cacheacl` needs none of them.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 600
    /// auth cacheacl strong
    /// allow alice * * 80,443
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache user,pass,dstport 600
    /// auth cacheacl strong
    /// allow alice * * 80,443
    /// proxy
    /// ```
    ///
    /// A field that is compared, but never makes a difference, may be missing. Nobody but `alice` gets as far as the list:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache ip,dstport 600
    /// auth cacheacl strong
    /// allow alice * * 80,443
    /// proxy
    /// ```
    "cache-key-misses-field",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Everything,
    of_3proxy: true,
    check: check,
}

/// What an entry compares, and what the key has for it. A name stands for its address.
const KEYS: [(Fields, &[CacheField]); 6] = [
    (Fields::USER, &[CacheField::User]),
    (Fields::SOURCE, &[CacheField::Ip]),
    (Fields::ADDRESS, &[CacheField::DstAddr, CacheField::DstHost]),
    (Fields::HOST, &[CacheField::DstHost]),
    (Fields::PORT, &[CacheField::DstPort]),
    (Fields::OPERATION, &[CacheField::DstOper]),
];

/// At most this many requests are tried for each entry, and at most this many for each field of a key.
const BASES: usize = 12;
const BUDGET: usize = 40_000;

/// Two requests with one key and two verdicts.
struct Pair {
    passes: Witness,
    refused: Witness,
    entry: AceId,
}

/// A key that services share: the `authcache` fields' word, and the `cacheacl` word.
type Key = (Loc, Loc);

/// What is still to be found of a key's missing field.
struct Search<'a> {
    missing: Fields,
    budget: usize,
    /// The service of each list that has most of it: asked again for all entries at the end.
    longest: BTreeMap<ListId, Cached<'a>>,
}

fn check(lint: &mut Lint<'_>) {
    let Some(policy) = lint.caching_policy() else { return };
    let program = lint.program;
    let mut searches: BTreeMap<(Key, usize), Search<'_>> = BTreeMap::new();
    let mut once: BTreeMap<Key, Once> = BTreeMap::new();
    let mut findings = Vec::new();
    let mut done: BTreeSet<(Key, usize)> = BTreeSet::new();
    let mut look = |key: Key, field: usize, search: &mut Search<'_>, cached: &Cached<'_>, ids: &[AceId]| {
        let pair = ids.iter().find_map(|id| pair(policy, cached, *id, search));
        if let Some(pair) = pair.filter(|_| done.insert((key, field))) {
            findings.push(finding(policy, cached, key, field, &pair));
        }
    };
    for cached in services(program).filter(|cached| cached.step.kind == AuthType::CacheAcl) {
        let (Some(cache), Some(step), Some(acl)) =
            (cached.settings.at, cached.step.at, cached.service.asked_list())
        else {
            continue;
        };
        let key = (cache, step);
        let entries = once.entry(key).or_default().fresh_and_last(&program.acls, acl);
        let ids: Vec<AceId> = entries.map(|(id, _)| id).collect();
        for (field, (compared, _)) in missing(cached.settings.fields) {
            let search = searches.entry((key, field)).or_insert(Search {
                missing: compared,
                budget: BUDGET,
                longest: BTreeMap::new(),
            });
            search.longest.insert(acl.list, cached);
            look(key, field, search, &cached, &ids);
        }
    }
    for ((key, field), mut search) in searches {
        for cached in std::mem::take(&mut search.longest).into_values() {
            let entries = cached.service.acl.into_iter().flat_map(|acl| program.acls.entries(acl));
            let ids: Vec<AceId> = entries.map(|(id, _)| id).collect();
            look(key, field, &mut search, &cached, &ids);
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// The fields that a key has nothing for.
fn missing(key: CacheFields) -> impl Iterator<Item = (usize, (Fields, &'static [CacheField]))> {
    let has = move |fields: &[CacheField]| fields.iter().any(|field| key.has(*field));
    KEYS.into_iter().enumerate().filter(move |(_, (_, fields))| !has(fields))
}

/// Two requests that differ in the missing field alone, of which one passes and the other does not.
fn pair(policy: &Policy, cached: &Cached<'_>, id: AceId, search: &mut Search<'_>) -> Option<Pair> {
    let ace = policy.program().acls.ace(id)?;
    // That an entry with parents is passed over for BIND is nothing that its line says.
    let by_parents = search.missing == Fields::OPERATION && ace.matcher.operations.is_none();
    if search.budget == 0 || by_parents || !oracle::compares(ace).has(search.missing) {
        return None;
    }
    let passes = |witness: &Witness| policy.decide(cached.index, &witness.request()).passes();
    for step in cached.real() {
        let space = Space::accepted(&ace.matcher, cached.service, step, policy);
        for base in space.requests(BASES) {
            let others = base.varied(search.missing, cached.service, step, policy);
            search.budget = search.budget.saturating_sub(others.len() + 1);
            let first = passes(&base);
            let Some(other) = others.into_iter().find(|other| passes(other) != first) else { continue };
            let (passes, refused) = if first { (base, other) } else { (other, base) };
            return Some(Pair { passes, refused, entry: id });
        }
    }
    None
}

fn finding(policy: &Policy, cached: &Cached<'_>, key: Key, field: usize, pair: &Pair) -> Finding {
    let name = KEYS.get(field).and_then(|(_, fields)| fields.first()).map_or("", |field| field.name());
    let (at, chain) = key;
    let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
    let Pair { passes, refused, entry } = pair;
    let mut finding = RULE
        .finding(
            at,
            format!(
                "`cacheacl` repeats a verdict for requests that differ in `{name}`: it is not in the key"
            ),
        )
        .label(format!("has no `{name}`"))
        .also(chain, "a hit here asks no entry");
    if let Some(ace) = policy.program().acls.ace(*entry) {
        finding = finding.also(ace.at, "this entry tells them apart");
    }
    finding
        .also(cached.service.at, "in this service")
        .note(format!(
            "For example, {passes} passes; after that, {refused} passes too, although the list refuses it."
        ))
        .help(format!("add `{name}` to the fields of `authcache`, or write `cache` for `cacheacl`"))
        .fix(Fix::replace(format!("remember `{name}`"), Safety::Safe, end, format!(",{name}")))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    const USERS: &str = "users alice:CL:x bob:CL:y\n";

    #[track_caller]
    fn finds(key: &str, acl: &str, service: &str, fields: &[&str]) {
        let marks: String = fields.iter().map(|field| format!("#         ^ differ in `{field}`\n")).collect();
        check(
            "cache-key-misses-field",
            &format!("{USERS}authcache {key}\n{marks}auth cacheacl strong\n{acl}\n{service}\n"),
        );
    }

    #[test]
    fn each_field_that_makes_a_difference_must_be_in_the_key() {
        for (key, acl, service, fields) in [
            ("user,pass", "allow alice 10.0.0.0/8", "proxy", &["ip"][..]),
            ("user,pass,ip", "allow alice 10.0.0.0/8", "proxy", &[]),
            ("ip", "deny bob\nallow *", "socks", &["user"]),
            ("ip,pass", "allow alice,bob", "socks", &[]),
            ("user", "deny * * 10.0.0.0/8,192.168.0.1-192.168.0.9\nallow *", "socks", &["dstaddr"]),
            ("user,dsthost", "deny * * 10.0.0.0/8\nallow *", "socks", &[]),
            ("user,dstaddr", "deny * * *.example.com\nallow *", "socks", &["dsthost"]),
            ("user,dsthost", "allow * * * 80-88\ndeny *", "proxy", &["dstport"]),
            ("user", "allow * * * * HTTP\n", "proxy", &["dstoper"]),
            ("user", "allow * * * * HTTP,HTTPS,FTP\n", "proxy", &[]),
            ("user,ext", "allow *\nparent 1000 extip 192.0.2.1 0", "socks", &[]),
            ("user", "allow * * * * CONNECT\n", "tcppm 2525 mail.example.com 25", &[]),
            ("user", "allow bob * 10.0.0.1 25", "socks", &["dstaddr", "dstport"]),
        ] {
            finds(key, acl, service, fields);
        }
    }

    #[test]
    fn a_service_between_two_may_be_the_one_that_goes_wrong() {
        finds("pass", "deny bob\nsocks\nallow *\nsocks -p2\ndeny *", "socks -p3", &["user"]);
    }
}
