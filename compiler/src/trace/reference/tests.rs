//! Each reason, in a configuration where it matters, and in one where it does not. tests/it/reference.rs compares with what 3proxy
//! was seen to do.
use std::path::Path;

use super::{Ends, When};
use crate::{
    compile,
    policy::Policy,
    query::{Query, Resolution, Words},
    sources::MemoryFiles,
    trace::{Case, explain},
};

/// What is told of a request: `WHEN REASONS CODE LINE`, `-` where there is none.
fn told(config: &str, words: &Words<'_>, password: Option<&str>, change: impl Fn(&mut Query)) -> Vec<String> {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    let compiled = compile(Path::new("3proxy.cfg"), &files);
    let mut query = Query::read(&compiled.sources, &compiled.program, words).unwrap();
    query.password = password.map(|password| grammar::Secret::from(password.as_bytes()));
    change(&mut query);
    let trace = explain(&Policy::compile(&compiled.program), &query);
    let [Case { otherwise, .. }] = trace.cases.as_slice() else { panic!("{:?}", trace.cases) };
    let line = |ends: Ends| {
        let ace = compiled.program.acls.ace(ends.verdict?.entry?)?;
        Some(compiled.sources.line_column(ace.at).line)
    };
    let shown = |number: Option<u32>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
    let rows = otherwise.iter().map(|otherwise| {
        let reasons: Vec<_> = otherwise.reasons.iter().map(super::Reason::name).collect();
        let code = shown(otherwise.ends.map(|ends| ends.code.number().into()));
        let line = shown(otherwise.ends.and_then(line));
        format!("{} {} {code} {line}", otherwise.when.name(), reasons.join("+"))
    });
    rows.collect()
}

fn asked(config: &str, from: &str, to: &str) -> Vec<String> {
    let words = Words { from: Some(from), to: Some(to), at: Some("Mon 10:00"), ..Words::default() };
    told(config, &words, None, |_| {})
}

#[test]
fn an_ipv4_client_of_an_ipv6_listener_is_in_no_ipv4_network() {
    let config = |listen: &str| format!("auth iponly\ndeny * 10.0.0.0/8\nallow *\nproxy -i{listen}\n");
    for (listen, from, expected) in [
        ("::", "10.0.0.1", &["always client-in-ipv6-form 0 3"][..]),
        ("::ffff:127.0.0.1", "10.0.0.1", &["always client-in-ipv6-form 0 3"]),
        ("::", "192.0.2.1", &[]),
        ("::", "2001:db8::1", &[]),
        ("127.0.0.1", "10.0.0.1", &[]),
    ] {
        assert_eq!(asked(&config(listen), from, "203.0.113.1:80"), expected, "{listen} {from}");
    }
    let mapped = "auth iponly\ndeny * ::ffff:10.0.0.0/104\nallow *\nproxy -i::\n";
    assert_eq!(asked(mapped, "10.0.0.1", "203.0.113.1:80"), [""; 0]);
}

#[test]
fn an_ipv4_target_in_ipv6_form_is_in_no_ipv4_network() {
    let config = |service: &str| format!("auth iponly\ndeny * * 127.0.0.0/8,0.0.0.0\nallow *\n{service}\n");
    let passes = &["always target-in-ipv6-form 0 3"][..];
    for (service, to, expected) in [
        ("socks", "[::ffff:127.0.0.1]:80", passes),
        ("socks", "[::ffff:0.0.0.0]:80", passes),
        ("socks", "[::ffff:192.0.2.1]:80", &[]),
        ("socks", "127.0.0.1:80", &[]),
        ("socks -6", "127.0.0.1:80", passes),
        ("proxy -46", "[::ffff:127.0.0.1]:80", passes),
        ("proxy -46", "127.0.0.1:80", &[]),
    ] {
        assert_eq!(asked(&config(service), "10.0.0.1", to), expected, "{service} {to}");
    }
    let mapped = |service: &str| format!("auth iponly\ndeny * * ::ffff:0:0/96\nallow *\n{service}\n");
    for (service, to, expected) in [
        ("socks", "[::ffff:192.0.2.1]:80", &["always target-in-ipv6-form 1 2"][..]),
        ("socks", "192.0.2.1:80", &[]),
        ("socks -6", "192.0.2.1:80", &[]),
    ] {
        assert_eq!(asked(&mapped(service), "10.0.0.1", to), expected, "{service} {to}");
    }
}

#[test]
fn a_reason_that_changes_nothing_is_not_named() {
    let config = "auth iponly\ndeny * 10.0.0.0/8\ndeny * * 127.0.0.0/8\nallow *\nsocks -6 -i::\n";
    let both = "always client-in-ipv6-form+target-in-ipv6-form 0 4";
    assert_eq!(asked(config, "10.0.0.1", "127.0.0.1:80"), [both]);
    assert_eq!(asked(config, "10.0.0.1", "192.0.2.1:80"), ["always client-in-ipv6-form 0 4"]);
}

#[test]
fn a_dot_is_kept_on_short_names() {
    let config = "nscache 65536\nnserver 127.0.0.1\nnsrecord b.cc 192.0.2.1\nnsrecord b.cccc 192.0.2.1\nauth iponly\ndeny * * b.cc,b.cccc\nallow *\nproxy\n";
    assert_eq!(asked(config, "10.0.0.1", "b.cc.:80"), ["always dot-kept 0 7"]);
    for to in ["b.cc:80", "B.CC:80", "b.cccc.:80"] {
        let told = asked(config, "10.0.0.1", to);
        assert!(!told.iter().any(|row| row.contains("dot-kept")), "{to}: {told:?}");
    }
}

#[test]
fn a_record_is_found_by_its_capitals() {
    let config =
        "nserver 127.0.0.1\nnscache 65536\nnsrecord Upper.Test 192.0.2.1\nauth iponly\nallow *\nproxy\n";
    assert_eq!(asked(config, "10.0.0.1", "upper.test:80"), ["always record-in-other-case - -"]);
    assert_eq!(asked(config, "10.0.0.1", "Upper.Test:80"), [""; 0]);
}

#[test]
fn a_name_is_looked_up_first() {
    let config = "auth strong\nusers bob:CL:secret\nallow bob\nproxy\n";
    let words = Words { from: Some("10.0.0.1"), to: Some("no.test:80"), ..Words::default() };
    let nothing = |query: &mut Query| query.resolved = Resolution::Nothing;
    assert_eq!(told(config, &words, None, nothing), ["always looked-up-first 100 -"]);
    let bob = Words { user: Some("bob"), ..words };
    assert_eq!(told(config, &bob, None, nothing), [""; 0]);
}

#[test]
fn the_weight_of_a_deny_stays_for_the_next_type() {
    let config = "users bob:CL:x\nauth iponly strong\ndeny - * 127.0.0.1\nweight 200\ndeny bob * 127.0.0.1\nweight 100\nallow bob\nproxy\n";
    let words =
        Words { user: Some("bob"), from: Some("10.0.0.1"), to: Some("127.0.0.1:80"), ..Words::default() };
    assert_eq!(told(config, &words, None, |_| {}), ["always weight-kept 0 7"]);
    assert_eq!(told(&config.replace("weight 200", "weight 100"), &words, None, |_| {}), [""; 0]);
}

#[test]
fn what_is_remembered_of_another_request_counts() {
    let config = |key: &str, chain: &str, entries: &str| {
        format!("users bob:CL:right\nauthcache {key} 60\nauth {chain} strong\n{entries}\nproxy\n")
    };
    let hit = |code_and_line: &str| Vec::from([format!("remembered found-in-cache {code_and_line}")]);
    let parent = "allow *\nparent 1000 socks5 192.0.2.1 1080";
    let extip = "allow *\nparent 1000 extip 127.0.0.1 0";
    let only = "allow bob * 127.0.0.1";
    for (key, chain, entries, to, password, expected) in [
        ("user,pass", "cacheacl", parent, "127.0.0.1:80", "right", hit("0 -")),
        ("user,pass", "cacheacl", extip, "127.0.0.1:80", "right", hit("0 -")),
        ("user,pass,ext", "cacheacl", extip, "127.0.0.1:80", "right", Vec::new()),
        ("user,pass", "cacheacl", only, "127.0.0.1:80", "right", Vec::new()),
        ("user,pass", "cacheacl", only, "127.0.0.2:80", "right", hit("0 -")),
        ("user,pass,dstaddr", "cacheacl", only, "127.0.0.2:80", "right", Vec::new()),
        ("user,pass", "cache", only, "127.0.0.2:80", "right", Vec::new()),
        ("user", "cache", only, "127.0.0.1:80", "wrong", hit("0 4")),
        ("user,pass", "cache", only, "127.0.0.1:80", "wrong", Vec::new()),
        ("ip", "cache", only, "127.0.0.1:80", "wrong", Vec::new()),
        ("limit", "cache", only, "127.0.0.1:80", "right", hit("- -")),
        ("user,pass", "cache", parent, "127.0.0.1:80", "right", Vec::new()),
    ] {
        let words = Words { user: Some("bob"), from: Some("10.0.0.1"), to: Some(to), ..Words::default() };
        let told = told(&config(key, chain, entries), &words, Some(password), |_| {});
        assert_eq!(told, expected, "{key} {chain} {entries} {to} {password}");
    }
}

#[test]
fn a_cache_before_the_list_alone_remembers_who_gave_a_name() {
    let config = "authcache ip 60\nauth cacheacl iponly\nallow * * 127.0.0.1\nproxy\n";
    assert_eq!(asked(config, "10.0.0.1", "127.0.0.2:80"), ["remembered found-in-cache 0 -"]);
    assert_eq!(asked(config, "10.0.0.1", "127.0.0.1:80"), [""; 0]);
}

#[test]
fn who_does_not_exist_is_not_remembered() {
    let config = "users bob:CL:right\nauthcache user 60\nauth cache strong\nallow *\nproxy\n";
    let eve =
        Words { user: Some("eve"), from: Some("10.0.0.1"), to: Some("127.0.0.1:80"), ..Words::default() };
    assert_eq!(told(config, &eve, Some("x"), |_| {}), [""; 0]);
    let shared =
        format!("authcache user 60\nauth cache useronly\nsocks\n{config}").replace("proxy", "proxy -p3128");
    let words = Words { service: Some("proxy"), ..eve };
    assert_eq!(told(&shared, &words, Some("x"), |_| {}), ["remembered found-in-cache 0 7"]);
}

#[test]
fn passwords_are_taken_for_right_or_cut() {
    let words =
        Words { user: Some("bob"), from: Some("10.0.0.1"), to: Some("127.0.0.1:80"), ..Words::default() };
    let empty = "users bob:CR:\nauth strong\nallow *\nproxy\n";
    assert_eq!(told(empty, &words, Some("x"), |_| {}), ["always empty-hash 0 3"]);
    let long = "q".repeat(252);
    let config = format!("users bob:CL:{long}\nauth strong\nallow *\nproxy\n");
    assert_eq!(told(&config, &words, Some(&long), |_| {}), ["always credentials-cut 6 -"]);
    let (short, _) = long.split_at(251);
    assert_eq!(told(&config.replace(&long, short), &words, Some(short), |_| {}), [""; 0]);
}

#[test]
fn parents_are_others() {
    let star = "auth iponly\nallow *\nparent 1000 socks5 192.0.2.1 1080 *x pw\nproxy\n";
    assert_eq!(asked(star, "10.0.0.1", "127.0.0.1:80"), ["always read-as-star 4 2"]);
    let name = "fakeresolve\nauth iponly\nallow *\nparent 1000 socks5+ p.example.com 1080\nproxy\n";
    assert_eq!(asked(name, "10.0.0.1", "127.0.0.1:80"), ["always parent-faked - -"]);
    assert_eq!(asked(&name.replace("p.example.com", "192.0.2.1"), "10.0.0.1", "127.0.0.1:80"), [""; 0]);
}

#[test]
fn entries_with_times_are_void_in_the_first_second() {
    let config = "auth iponly\ndeny * * * * * 0-6\nallow *\nproxy\n";
    assert_eq!(asked(config, "10.0.0.1", "127.0.0.1:80"), ["first-second times-void 0 3"]);
    assert_eq!(asked(&config.replace("deny", "allow"), "10.0.0.1", "127.0.0.1:80").len(), 1);
    assert_eq!(When::FirstSecond.name(), "first-second");
}

#[test]
fn a_list_does_not_hear_which_name_is_asked_for() {
    let asked = |config: &str, name| {
        let words = Words { from: Some("10.0.0.1"), to: Some(name), ..Words::default() };
        told(config, &words, None, |_| {})
    };
    let named = "auth iponly\nallow * * *.test\ndeny *\ndnspr\n";
    assert_eq!(asked(named, "a.example"), ["always name-unheard 0 2"]);
    assert_eq!(asked(named, "a.test"), [""; 0]);
    assert_eq!(asked("auth iponly\ndeny * * a.test\nallow *\ndnspr\n", "a.example"), [""; 0]);
}
