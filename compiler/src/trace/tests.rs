//! What is explained is what is decided, and no way to end is missing.
use std::{collections::HashSet, net::IpAddr, path::Path};

use proptest::prelude::*;

use super::{Trace, Why, explain, key::Miss};
use crate::{
    Compiled, compile,
    policy::Policy,
    query::{Query, Resolution, Words, decide},
    sources::MemoryFiles,
    table::{Fields, Request, WeekTime},
};

fn compiled(config: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    compile(Path::new("3proxy.cfg"), &files)
}

/// A query of `bob` at 10.0.0.1, to `a.test:1`.
fn query(compiled: &Compiled, op: &str, resolve: Option<&str>, at: Option<&str>) -> Query {
    let words = Words {
        user: Some("bob"),
        from: Some("10.0.0.1"),
        to: Some("a.test:1"),
        op: Some(op),
        resolve,
        at,
        ..Words::default()
    };
    Query::read(&compiled.sources, &compiled.program, &words).unwrap()
}

fn explained(config: &str) -> (Compiled, Trace) {
    let compiled = compiled(config);
    let query = query(&compiled, "CONNECT", Some("192.0.2.1"), Some("Mon 10:00"));
    let trace = explain(&Policy::compile(&compiled.program), &query);
    (compiled, trace)
}

#[test]
fn the_nearest_entries_are_told_in_order_and_why_they_do_not_decide() {
    let (compiled, trace) = explained(
        "auth useronly\n\
         deny eve\n\
         deny eve * * 2 BIND\n\
         deny * 10.0.0.2\n\
         deny * * 10.1.0.0/16,b.test\n\
         deny * * * * * 2\n\
         allow bob\n\
         deny *\n\
         socks\n",
    );
    let line = |at| compiled.sources.line_column(at).line;
    let near = trace.cases[0]
        .near
        .iter()
        .map(|near| (line(compiled.program.acls.ace(near.entry).unwrap().at), near.why));
    assert_eq!(
        near.collect::<Vec<_>>(),
        [
            (4, Why::Differs(Fields::SOURCE)),
            (5, Why::Differs(Fields::TARGET)),
            (6, Why::Differs(Fields::TIME))
        ]
    );
}

#[test]
fn a_key_is_told_unless_nothing_can_be_found_by_it() {
    for (lines, parts, misses) in [
        ("authcache user,ip,dstport 60\nauth cache strong", "ip=10.0.0.1 user=bob dstport=1", None),
        ("authcache user,pass 60\nauth cacheacl strong", "user=bob pass=***", None),
        ("authcache ip,limit 60\nauth cache strong", "", None),
        ("auth cache strong", "", Some(Miss::NoCache)),
        ("authcache acl 60\nauth cache strong", "", Some(Miss::NoClient)),
        ("authcache user 60\nauth strong cache", "user=bob", Some(Miss::NothingRemembered)),
    ] {
        let (_, trace) = explained(&format!("users bob:CL:secret\n{lines}\nallow *\nsocks\n"));
        let key = trace.cases[0].cache.clone().unwrap();
        let told: Vec<_> =
            key.parts.iter().map(|(field, value)| format!("{}={value}", field.name())).collect();
        assert_eq!((told.join(" ").as_str(), key.misses), (parts, misses), "{lines}");
    }
}

#[test]
fn limits_are_told_once_or_what_they_need() {
    let limits = "bandlimin 1000 bob\nnobandlimin bob\nbandlimin 2000 *\nconnlim 1 0 eve\ncountall 1 D 1 *\n";
    let (_, trace) = explained(&format!("auth useronly\n{limits}allow *\nsocks\n"));
    assert_eq!(trace.cases[0].limits.iter().map(|limit| limit.at).collect::<Vec<_>>(), [0, 0]);
    let compiled = compiled("auth useronly\nconnlim 1 0 * * 10.0.0.0/8\nallow *\nsocks\n");
    let trace = explain(&Policy::compile(&compiled.program), &query(&compiled, "CONNECT", None, None));
    assert_eq!((trace.cases.len(), trace.cases[0].limits_need), (1, Fields::ADDRESS));
}

fn entry() -> impl Strategy<Value = String> {
    let field = |values: &'static [&'static str]| prop::sample::select(values);
    (
        field(&["allow", "deny"]),
        field(&["*", "bob", "-"]),
        field(&["*", "*", "10.0.0.1", "10.0.0.2"]),
        field(&["*", "10.1.0.1", "10.1.0.0-10.1.0.2", "0.0.0.0/1", "a.test,10.1.0.2", "b.test,10.1.0.4"]),
        field(&["*", "*", "BIND", "CONNECT"]),
        field(&["* *", "* *", "1 *", "2-5 *", "* 00:00:00-10:00:00", "1 09:00:00-11:00:00"]),
        field(&["", "", "\nweight 2", "\nparent 1000 socks5 192.0.2.1 1"]),
    )
        .prop_map(|(action, user, source, target, op, time, more)| {
            let more = if action == "deny" { "" } else { more };
            format!("{action} {user} {source} {target} * {op} {time}{more}\n")
        })
}

proptest! {
    /// Whatever the name resolves to and whatever the time is: how it ends then is one of the cases. And each case is what the
    /// policy decides for its query.
    #[test]
    fn no_way_to_end_is_missing(
        chain in prop::sample::select(&["iponly", "useronly", "iponly useronly"][..]),
        entries in prop::collection::vec(entry(), 1..6),
        op in prop::sample::select(&["CONNECT", "BIND"][..]),
        resolve in prop::sample::select(&[None, None, Some("10.1.0.1")][..]),
        at in prop::sample::select(&[None, None, Some("Mon 09:30")][..]),
    ) {
        let compiled = compiled(&format!("auth {chain}\n{}socks\n", entries.concat()));
        let policy = Policy::compile(&compiled.program);
        let asked = query(&compiled, op, resolve, at);
        let trace = explain(&policy, &asked);
        prop_assert!(trace.is_whole);
        let mut told = HashSet::new();
        for case in &trace.cases {
            told.insert((case.answer.code, case.entry()));
            prop_assert!(case.answer.needs.is_empty());
            let (host, user) = (case.query.host(), case.answer.user().map(<[u8]>::to_vec));
            let request: Request<'_> = case.query.request(&compiled.program, user.as_deref(), host.as_deref());
            prop_assert_eq!(Some(policy.decide(0, &request)), case.answer.verdict());
        }
        let addresses = ["10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4", "127.0.0.1", "200.0.0.1"];
        let seconds = [0, 32_399, 32_400, 36_000, 39_600, 86_399];
        for address in addresses.map(|address| address.parse::<IpAddr>().unwrap()) {
            for (day, second) in (0..7).flat_map(|day| seconds.map(|second| (day, second))) {
                let mut query = asked.clone();
                if resolve.is_none() {
                    query.resolved = Resolution::Address(address);
                }
                query.at = query.at.or(Some(WeekTime { day, second }));
                let answer = decide(&policy, &query);
                let entry = answer.verdict().and_then(|verdict| verdict.entry);
                prop_assert!(told.contains(&(answer.code, entry)), "{:?} {:?}", query, told);
            }
        }
    }
}
