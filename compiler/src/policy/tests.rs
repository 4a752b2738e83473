//! What a policy says of requests, by configuration text: the manual's rules one by one, users, limits, shared lists.
use std::path::Path;

use super::{LimitList, Policy};
use crate::{
    program::{acl::Operation, auth::Password},
    sources::MemoryFiles,
    table::{Decision, Fields, Request, Verdict, WeekTime},
};

fn policy(text: &str) -> Policy {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", format!("{text}\n"));
    let compiled = crate::compile(Path::new("3proxy.cfg"), &files);
    let refused: Vec<_> = compiled.findings.iter().filter(|finding| finding.refused).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    Policy::compile(&compiled.program)
}

/// A request from 10.0.0.1 to 192.0.2.80:80 by HTTP GET, on Monday at noon.
fn request() -> Request<'static> {
    Request {
        user: None,
        source: [10, 0, 0, 1].into(),
        host: None,
        address: Some([192, 0, 2, 80].into()),
        port: 80,
        operation: Operation::HttpGet,
        time: WeekTime { day: 1, second: 43_200 },
        weight: 0,
        redirected: false,
    }
}

#[test]
fn each_field_compares_as_the_manual_says() {
    let ask = request();
    let named = Request { host: Some(b"WWW.Example.com."), ..ask };
    let bob = Request { user: Some(b"bob"), ..ask };
    let mapped = Request { source: "::ffff:10.0.0.1".parse().unwrap(), ..ask };
    let in_v6_form = Request { address: "::ffff:192.0.2.80".parse().ok(), ..ask };
    let nowhere = Request { address: None, port: 0, ..ask };
    let bind = Request { operation: Operation::Bind, ..nowhere };
    for (entry, request, matches) in [
        ("*", ask, true),
        ("bob", bob, true),
        ("Bob", bob, false),
        ("bob", ask, false),
        ("-", ask, true),
        ("-", bob, false),
        ("* 10.0.0.0/8", ask, true),
        ("* 10.0.0.0/8", mapped, true),
        ("* ::ffff:10.0.0.0/104", ask, true),
        ("* ::/0", ask, false),
        ("* 10.0.0.2-10.0.0.9", ask, false),
        ("* * 192.0.2.0/24", ask, true),
        ("* * ::ffff:192.0.2.0/120", ask, false),
        ("* * ::ffff:192.0.2.0/120", in_v6_form, false),
        ("* * 192.0.2.0/24", in_v6_form, true),
        ("* * 192.0.2.0/24", nowhere, true),
        ("* * 192.0.2.0/24", bind, false),
        ("* * 192.0.3.0/24,www.example.com", named, true),
        ("* * *.example.com", named, true),
        ("* * *ww.example.com", named, true),
        ("* * *www.example.com", named, false),
        ("* * www.*", named, true),
        ("* * *exam*", named, true),
        ("* * example.com", named, false),
        ("* * example.com", nowhere, true),
        ("* * * 79-81", ask, true),
        ("* * * 443", ask, false),
        ("* * * 443", nowhere, true),
        ("* * * 443", bind, false),
        ("* * * * HTTP", ask, true),
        ("* * * * HTTPS,CONNECT", ask, false),
        ("* * * * * 1-5", ask, true),
        ("* * * * * 0,2-6", ask, false),
        ("* * * * * * 12:00:00-12:00:01", ask, true),
        ("* * * * * * 11:00:00-12:00:00", ask, false),
    ] {
        let policy = policy(&format!("deny {entry}\nallow *\nproxy"));
        let wanted = if matches { Decision::Deny } else { Decision::Allow };
        assert_eq!(policy.decide(0, &request).decision, wanted, "{entry}: {request:?}");
    }
    // With `-6` 3proxy has the IPv4 targets of SOCKS in IPv6 form.
    for (services, matches) in [("socks -6", true), ("proxy\nsocks -6", true), ("proxy -6\nsocks", false)] {
        let policy = policy(&format!("deny * * ::ffff:192.0.2.0/120\nallow *\n{services}"));
        assert_eq!(policy.decide(0, &request()).decision == Decision::Deny, matches, "{services}");
    }
}

#[test]
fn an_empty_list_allows_and_the_end_of_any_other_denies() {
    let policy = policy("proxy\ndeny bob\nsocks");
    assert_eq!(policy.decide(0, &request()), Verdict { entry: None, decision: Decision::Allow });
    assert_eq!(policy.decide(1, &request()), Verdict::END);
    assert_eq!(policy.decide(2, &request()), Verdict::END, "there is no such service");
}

#[test]
fn each_service_has_the_list_as_it_stood() {
    let policy = policy(
        "allow * 172.16.0.0/12\nproxy -p1\nallow *\nproxy -p2\nparent 1000 socks5 192.0.2.1 1080\nproxy -p3\ndeny *\nproxy -p4\nflush\ndeny *\nproxy -p5",
    );
    let decisions = [0, 1, 2, 3, 4].map(|service| policy.decide(service, &request()).decision);
    let wanted = [Decision::End, Decision::Allow, Decision::Redirect, Decision::Redirect, Decision::Deny];
    assert_eq!(decisions, wanted);
    assert_eq!(policy.parents(policy.decide(1, &request())), []);
    assert_eq!(policy.parents(policy.decide(2, &request())).len(), 1);
}

#[test]
fn entries_with_parents_are_passed_over_where_they_can_not_redirect() {
    let policy = policy(
        "allow *\nparent 1000 http 0.0.0.0 0\nweight 7\nallow * * * * * * * 5\nallow *\nparent 1000 socks5 192.0.2.1 1080\ndeny *\nsocks",
    );
    let line = |request: &Request<'_>| policy.decide(0, request).entry.map(|entry| entry.0);
    let ask = Request { operation: Operation::Connect, ..request() };
    assert_eq!(line(&ask), Some(0));
    // The first is passed over, and its weight is above the second's.
    let redirected = Request { redirected: true, ..ask };
    let first = line(&redirected).unwrap();
    assert_eq!(policy.decide(0, &redirected).decision, Decision::Redirect);
    assert!(first > 0);
    assert_eq!(policy.decide(0, &Request { operation: Operation::Bind, ..ask }).decision, Decision::Deny);
}

#[test]
fn of_users_with_one_name_the_last_counts() {
    let policy = policy("users bob:CL:old alice:CL:x\nproxy\nusers bob:CL:new");
    let clear = |name: &[u8]| match policy.user(name) {
        Some(Password::Clear(secret)) => Some(secret.expose().to_vec()),
        _ => None,
    };
    assert_eq!(clear(b"bob").as_deref(), Some(&b"new"[..]));
    assert_eq!((clear(b"Bob"), clear(b"")), (None, None));
}

#[test]
fn every_limit_applies_up_to_the_first_that_ends_the_walk() {
    let policy = policy(
        "bandlimin 1000 bob\nbandlimin 2000 * 10.0.0.0/8\nbandlimin 3000 *\nnobandlimin * 10.0.0.1\nbandlimin 4000 *\n\
         connlim 5 60 *\nproxy",
    );
    assert_eq!(policy.limits(LimitList::BandwidthIn, &request()), [1, 2]);
    let elsewhere = Request { source: [192, 0, 2, 1].into(), ..request() };
    assert_eq!(policy.limits(LimitList::BandwidthIn, &elsewhere), [2, 4]);
    assert_eq!(policy.limits(LimitList::BandwidthOut, &request()), [0_usize; 0]);
    assert_eq!(policy.limits(LimitList::Connections, &request()), [0]);
}

#[test]
fn a_limit_needs_the_weight_of_the_entry_that_let_the_request_pass() {
    let policy =
        policy("allow * * 192.0.2.80\nweight 10\nallow *\nweight 100\nconnlim 1 60 * * * * * * * 50\nproxy");
    for (last, limits) in [(80, &[0][..]), (81, &[])] {
        let ask = Request { address: Some([192, 0, 2, last].into()), ..request() };
        let weight = policy.weight(policy.decide(0, &ask));
        assert_eq!(policy.limits(LimitList::Connections, &Request { weight, ..ask }), limits);
    }
}

#[test]
fn quotas_walk_by_direction() {
    let policy = policy(
        "counter /tmp/counter\ncountin 1 D 10 *\ncountout 2 D 10 *\nnocountin *\ncountall 3 D 10 *\nproxy",
    );
    assert_eq!(policy.limits(LimitList::TrafficIn, &request()), [0]);
    assert_eq!(policy.limits(LimitList::TrafficOut, &request()), [1, 3]);
}

#[test]
fn lists_of_equal_content_share_a_table() {
    let list: String = (0..200).map(|at| format!("allow user{at} 10.{at}.0.0/16\n")).collect();
    let once = policy(&format!("{list}proxy"));
    let twice = policy(&format!("{list}proxy\nflush\n{list}socks"));
    assert!(once.table_bytes() > 0);
    assert_eq!(once.table_bytes(), twice.table_bytes());
    let ask = Request { user: Some(b"user7"), source: [10, 7, 0, 1].into(), ..request() };
    let (one, other) = (twice.decide(0, &ask), twice.decide(1, &ask));
    assert_ne!(one.entry, other.entry, "each names its own line");
    assert_eq!(one.decision, other.decision);
}

#[test]
fn a_verdict_depends_on_no_field_that_could_not_change_it() {
    let policy = policy(
        "deny bob * * 25\nallow * 10.0.0.0/8 *.example.com\nallow * * 192.0.2.0/24 80\nproxy\ndeny *\nsocks",
    );
    let named = Request { host: Some(b"www.example.com"), ..request() };
    let of = |request: &Request<'_>| policy.depends_on(0, request).names().collect::<Vec<_>>();
    assert_eq!(of(&named), ["source", "host", "port"]);
    let other = Request { source: [172, 16, 0, 1].into(), host: Some(b"x"), ..request() };
    assert_eq!(of(&other), ["host", "address", "port"]);
    assert_eq!(policy.depends_on(2, &named), Fields::NONE);
}

#[test]
fn nothing_compiled_prints_a_secret() {
    let text = "users bob:CL:hunter2 amy:CR:$1$hunter2$x\nradius hunter2 192.0.2.9\nlog &base,me,hunter2\n\
                allow *\nparent 1000 socks5 192.0.2.1 1080 me hunter2\nproxy\n";
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    let compiled = crate::compile(Path::new("3proxy.cfg"), &files);
    let policy = Policy::compile(&compiled.program);
    let printed = format!("{policy:?}{compiled:?}{files:?}");
    assert!(printed.contains("bob") && printed.contains("***"), "{printed}");
    // Bytes print as numbers where nobody sees to it.
    let numbers = format!("{:?}", b"hunter2");
    assert!(!printed.contains("hunter2") && !printed.contains(numbers.trim_matches(['[', ']'])), "{printed}");
}
