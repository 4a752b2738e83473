//! Queries as they are written, and their answers.
use std::{path::Path, sync::Arc};

use proptest::prelude::*;

use super::{Query, QueryError, Words, decide, moment, moment_name};
use crate::{
    Compiled, compile,
    policy::Policy,
    sources::MemoryFiles,
    table::{Fields, Request, Table, WeekTime, oracle::Walk},
};

fn compiled(config: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    compile(Path::new("3proxy.cfg"), &files)
}

/// Words as `key=value`, at blanks; `_` in a time is a blank.
fn words(text: &str) -> Vec<(&str, String)> {
    text.split_whitespace()
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, value)| (key, if key == "at" { value.replace('_', " ") } else { value.to_owned() }))
        .collect()
}

fn read(compiled: &Compiled, text: &str) -> Result<Query, QueryError> {
    let words = words(text);
    let get = |key| words.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str());
    let words = Words {
        service: get("service"),
        user: get("user"),
        from: get("from"),
        to: get("to"),
        op: get("op"),
        at: get("at"),
        resolve: get("resolve"),
    };
    Query::read(&compiled.sources, &compiled.program, &words)
}

/// Outcome, code, the deciding entry's line, and what is missing.
fn answer(config: &str, text: &str) -> (&'static str, u16, Option<u32>, Vec<&'static str>) {
    let compiled = compiled(config);
    let policy = Policy::compile(&compiled.program);
    let query = read(&compiled, text).unwrap_or_else(|error| panic!("{text}: {error} {:?}", error.help));
    let answer = decide(&policy, &query);
    let entry = answer.verdict().and_then(|verdict| verdict.entry);
    let line =
        entry.map(|entry| compiled.sources.line_column(compiled.program.acls.ace(entry).unwrap().at).line);
    (answer.outcome.name(), answer.code.number(), line, answer.needs.names().collect())
}

#[test]
fn requests_are_answered_the_way_of_the_chain() {
    let users = "users bob:CL:x\nauth strong\n";
    for (config, query, expected) in [
        ("allow * 10.0.0.0/8\nsocks\n", "from=10.1.2.3 to=a.test:1", ("allow", 0, Some(1))),
        ("allow * 10.0.0.0/8\nsocks\n", "from=11.1.2.3 to=a.test:1", ("deny", 3, None)),
        ("auth none\ndeny *\nsocks\n", "to=a.test:1", ("allow", 0, None)),
        ("auth iponly\ndeny *\nsocks\n", "to=a.test:1", ("deny", 1, Some(2))),
        (&format!("{users}allow bob\nsocks\n"), "to=a.test:1", ("auth-required", 4, None)),
        (&format!("{users}allow bob\nsocks\n"), "to=a.test:1 user=bob", ("allow", 0, Some(3))),
        (&format!("{users}allow eve\nsocks\n"), "to=a.test:1 user=bob", ("deny", 3, None)),
        (&format!("{users}allow eve\nsocks\n"), "to=a.test:1 user=eve", ("auth-required", 5, None)),
        // `-u` asks for no name, `-u2` for nothing without one.
        (&format!("{users}allow bob\nsocks -u\n"), "to=a.test:1 user=bob", ("auth-required", 4, None)),
        ("auth iponly\nallow *\nproxy -u2\n", "to=a.test:1", ("auth-required", 4, None)),
        ("auth iponly\nallow *\nproxy -u2\n", "to=a.test:1 user=x", ("allow", 0, Some(2))),
        // The worst failure is told, and its step decides.
        ("auth iponly strong\ndeny *\nproxy\n", "to=a.test:1", ("auth-required", 4, None)),
        (
            "auth cache strong\nusers bob:CL:x\nallow *\nproxy\n",
            "to=a.test:1 user=bob",
            ("allow", 0, Some(3)),
        ),
        // Without a target there is no way through a parent.
        ("allow *\nparent 1000 extip 127.0.0.2 0\nadmin\n", "user=x", ("unresolved", 100, Some(1))),
        ("allow *\nparent 1000 socks5 10.0.0.9 1080\ndnspr\n", "to=a.test", ("unresolved", 100, Some(1))),
        // Names and addresses.
        ("deny * * 10.0.0.0/8\nallow *\nproxy\n", "to=a.test:1 resolve=10.0.0.1", ("deny", 1, Some(1))),
        ("deny * * 10.0.0.0/8\nallow *\nproxy\n", "to=a.test:1 resolve=none", ("unresolved", 100, Some(1))),
        ("deny * * b.test\nallow *\nproxy\n", "to=a.test:1 resolve=none", ("unresolved", 100, Some(2))),
        ("deny * * a.test,10.0.0.0/8\nallow *\nproxy\n", "to=a.test:1 resolve=none", ("deny", 1, Some(1))),
        ("deny * * a.test,10.0.0.0/8\nallow *\nproxy\n", "to=A.test.:1", ("deny", 1, Some(1))),
        (
            "nserver 10.0.0.9\nnscache 999\nnsrecord A.test 10.0.0.1\ndeny * * 10.0.0.1\nproxy\n",
            "to=a.test:1",
            ("deny", 1, Some(4)),
        ),
        ("fakeresolve\ndeny * * 127.0.0.2\nproxy\n", "to=a.test:1", ("deny", 1, Some(2))),
        // Operations, ports, times.
        ("allow * * * 80 HTTP_GET\nproxy\n", "to=a.test:80", ("allow", 0, Some(1))),
        ("allow * * * 443 HTTPS\nproxy\n", "to=a.test:443", ("allow", 0, Some(1))),
        ("allow * * * * CONNECT 1-5\nsocks\n", "to=a.test:443 at=Fri_23:59:59", ("allow", 0, Some(1))),
        ("allow * * * * CONNECT 1-5\nsocks\n", "to=a.test:443 at=sat_00:00", ("deny", 3, None)),
        ("allow * * 192.0.2.1\ntcppm 1 192.0.2.1 2\n", "from=10.0.0.1", ("allow", 0, Some(1))),
        ("allow *\nparent 1000 socks5 192.0.2.1 1\nsocks\n", "to=a.test:1 op=BIND", ("deny", 3, None)),
        ("allow *\nadmin\n", "user=x", ("allow", 0, Some(1))),
        // A name that `dnspr` is asked for: first without it, then with it.
        ("allow * * *.test 53\ndeny *\ndnspr\n", "to=a.test", ("allow", 0, Some(1))),
        ("allow * * *.test 53\ndeny *\ndnspr\n", "to=a.example", ("deny", 1, Some(2))),
        ("allow * * *.test\ndnspr\n", "to=a.example", ("deny", 3, None)),
        ("allow * * *.test 80\ndeny *\ndnspr\n", "to=a.test", ("deny", 1, Some(2))),
        ("deny * * a.test\nallow *\ndnspr\n", "to=a.example", ("deny", 1, Some(1))),
        ("allow 127.0.0.2\ndeny * * a.test\ndnspr\n", "to=a.test", ("deny", 1, Some(2))),
        ("auth none\ndeny *\ndnspr\n", "to=a.test", ("allow", 0, None)),
    ] {
        let (outcome, code, line, needs) = answer(config, query);
        assert_eq!((outcome, code, line), expected, "{config}{query}");
        assert!(needs.is_empty(), "{config}{query}: {needs:?}");
    }
}

#[test]
fn what_is_left_out_and_matters_is_told() {
    for (config, query, expected) in [
        ("allow * 10.0.0.0/8\nsocks\n", "to=a.test:1", &["source"][..]),
        ("allow *\nsocks\n", "to=a.test:1", &[]),
        ("deny * * 10.0.0.0/8\nallow *\nsocks\n", "to=a.test:1", &["address"]),
        ("deny * * 10.0.0.0/8\nallow *\nsocks\n", "to=10.1.1.1:1", &[]),
        ("deny bob * 10.0.0.0/8\nallow *\nsocks\n", "to=a.test:1", &[]),
        ("allow * * a.test\ndeny * * 10.0.0.0/8\nallow *\nsocks\n", "to=a.test:1", &[]),
        ("deny * * a.test,10.0.0.0/8\nallow *\nsocks\n", "to=a.test:1", &[]),
        ("deny * * b.test,10.0.0.0/8\nallow *\nsocks\n", "to=a.test:1", &["address"]),
        ("deny * * 10.0.0.0/8 * * 1\nallow *\nsocks\n", "to=a.test:1", &["address", "time"]),
        ("deny * 10.0.0.0/8 * * * 1\nallow *\nsocks\n", "from=11.0.0.1 to=a.test:1", &[]),
        ("auth none\ndeny * 10.0.0.0/8\nsocks\n", "to=a.test:1", &[]),
    ] {
        let (.., needs) = answer(config, query);
        assert_eq!(needs, expected, "{config}{query}");
    }
}

#[test]
fn dnspr_is_asked_for_a_name_and_nothing_else() {
    let name = "write the name that is asked for, as `www.example.com`";
    for (query, message, help) in [
        ("from=10.0.0.1", "the name is missing", name),
        ("to=a.test:53", "`a.test:53` is no name, and `dnspr` is asked for names", name),
        ("to=10.0.0.1", "`10.0.0.1` is no name, and `dnspr` is asked for names", name),
        ("to=a.test resolve=10.0.0.1", "the list is not told an address of the name", "leave it out"),
    ] {
        let error = read(&compiled("dnspr\n"), query).unwrap_err();
        assert_eq!((error.message.as_str(), error.help.as_deref()), (message, Some(help)), "{query}");
    }
}

#[test]
fn what_is_no_query_is_refused_with_what_to_write() {
    let several = "proxy -p1\nsocks -i127.0.0.1 -p2\nsocks -i127.0.0.2 -p2\nsocks -p3\nsocks -p3\n";
    let of_several =
        "write one of `proxy:1`, `socks:127.0.0.1:2`, `socks:127.0.0.2:2`, `socks:3@4`, `socks:3@5`";
    for (config, query, message, help) in [
        ("log\n", "to=a:1", "the configuration has no service", ""),
        (several, "to=a:1", "the configuration has several services", of_several),
        (several, "service=socks:4 to=a:1", "there is no service `socks:4`", of_several),
        (several, "service=sock to=a:1", "there is no kind of service `sock`", "did you mean `socks`?"),
        (
            several,
            "service=socks:3 to=a:1",
            "`socks:3` names several services",
            "write one of `socks:3@4`, `socks:3@5`",
        ),
        (
            "proxy\n",
            "to=a",
            "`a` has no port",
            "write `HOST:PORT`, as `example.com:443` or `[2001:db8::1]:443`",
        ),
        ("proxy\n", "", "the target is missing", "write `HOST:PORT`, as `example.com:443`"),
        (
            "proxy\n",
            "to=10.0.0.300:1",
            "`10.0.0.300` is neither a host name nor an address",
            "write `HOST:PORT`, as `example.com:443` or `[2001:db8::1]:443`",
        ),
        (
            "proxy\n",
            "to=[::1]:1",
            "this service does not use IPv6, so it refuses `::1`",
            "give the service `-46`, or ask for an IPv4 address",
        ),
        ("proxy\n", "to=a:1 from=x", "`x` is not an address", "write an address, as `192.0.2.7`"),
        ("proxy\n", "to=a:1 resolve=x", "`x` is not an address", "write an address, or `none`"),
        (
            "proxy\n",
            "to=10.0.0.1:1 resolve=10.0.0.2",
            "the target is no name, so there is nothing to resolve",
            "leave it out",
        ),
        (
            "socks\n",
            "to=a:1 op=HTTP_GET",
            "clients of `socks` can't ask for `HTTP_GET`",
            "write one of `CONNECT`, `UDPASSOC`, `BIND`",
        ),
        ("socks\n", "to=a:1 op=CONECT", "`CONECT` is not an operation", "did you mean `CONNECT`?"),
        (
            "proxy\n",
            "to=a:1 op=FTP",
            "`FTP` is several operations",
            "write one of `FTP_GET`, `FTP_PUT`, `FTP_LIST`, `FTP_DATA`",
        ),
        (
            "proxy\n",
            "to=a:1 at=Mon",
            "`Mon` is no time of the week",
            "write a day and a time, as `Mon 09:30` or `Sun 23:59:59`",
        ),
        ("tcppm 1 a.test 2\n", "user=x", "clients of `tcppm` have no user name", "leave it out"),
        (
            "tcppm 1 a.test 2\n",
            "to=b.test:2",
            "this service leads to `a.test:2` and nowhere else",
            "leave it out",
        ),
    ] {
        let error = read(&compiled(config), query).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.help.unwrap_or_default().as_str()),
            (message, help),
            "{query}"
        );
    }
}

#[test]
fn each_service_is_found_by_what_it_is_called() {
    let config = "proxy -p1\nsocks -i127.0.0.1 -p2\nsocks -i127.0.0.2 -p2\nsocks -p3\nsocks -p3\n\
                  proxy -i::1 -p4\nproxy -i/run/a -p5\nadmin -p1\n";
    let compiled = compiled(config);
    for at in 0..compiled.program.services.len() {
        let name = super::describe(&compiled.sources, &compiled.program, at);
        let selector = super::ServiceSelector::parse(&name).unwrap();
        assert_eq!(selector.matching(&compiled.sources, &compiled.program), [at], "{name}");
    }
    for (selector, expected) in [
        ("socks", &[1, 2, 3, 4][..]),
        ("1", &[0, 7]),
        (":1", &[0, 7]),
        ("@5", &[4]),
        ("socks:127.0.0.2", &[2]),
    ] {
        let selector = super::ServiceSelector::parse(selector).unwrap();
        assert_eq!(selector.matching(&compiled.sources, &compiled.program), expected, "{selector:?}");
    }
    for wrong in ["", "@", "socks:", "99999", "socks:99999", "@99999999999"] {
        assert!(super::ServiceSelector::parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn moments_are_written_as_they_are_read() {
    for day in 0..7 {
        for second in [0, 59, 60, 3600, 86_399] {
            let time = WeekTime { day, second };
            assert_eq!(moment(&moment_name(time)), Ok(time));
        }
    }
    for wrong in
        ["", "Mon", "Mo 09:30", "Mon 24:00", "Mon 9:60", "Mon 9:30:60", "Mon 9:30:10:1", "Mon +9:30", "Mon 9"]
    {
        assert!(moment(wrong).is_err(), "{wrong}");
    }
}

fn entry() -> impl Strategy<Value = String> {
    let field = |values: &'static [&'static str]| prop::sample::select(values);
    (
        field(&["allow", "deny"]),
        field(&["*", "bob", "-"]),
        field(&["*", "10.0.0.1", "10.0.0.2"]),
        field(&["*", "10.1.0.1", "a.test", "a.test,10.1.0.2"]),
        field(&["*", "1"]),
        field(&["*", "*", "BIND", "CONNECT"]),
        field(&["*", "*", "1", "2"]),
        field(&["", "", "\nweight 2", "\nparent 1000 socks5 192.0.2.1 1"]),
    )
        .prop_map(|(action, user, source, target, port, op, day, more)| {
            format!(
                "{action} {user} {source} {target} {port} {op} {day}{}\n",
                if action == "deny" { "" } else { more }
            )
        })
}

proptest! {
    /// What is left out and not needed can be anything: the same entry decides.
    #[test]
    fn what_is_not_needed_does_not_matter(
        entries in prop::collection::vec(entry(), 1..6),
        from in prop::sample::select(&["", "from=10.0.0.1", "from=10.0.0.2"][..]),
        resolve in prop::sample::select(&["", "resolve=10.1.0.1", "resolve=10.1.0.2"][..]),
        at in prop::sample::select(&["", "at=Mon_10:00", "at=Tue_10:00"][..]),
        op in prop::sample::select(&["CONNECT", "BIND"][..]),
    ) {
        let compiled = compiled(&format!("auth useronly\n{}socks\n", entries.concat()));
        let policy = Policy::compile(&compiled.program);
        let query = read(&compiled, &format!("user=bob to=a.test:1 op={op} {from} {resolve} {at}")).unwrap();
        let needs = decide(&policy, &query).needs;
        let unknown = query.unknown(&compiled.program);
        prop_assert!(unknown.has(needs), "{needs:?} are given");
        let list = compiled.program.services[0].acl;
        let walk = Walk { acls: &compiled.program.acls, list };
        let host = query.host();
        let base = query.request(&compiled.program, Some(b"bob"), host.as_deref());
        let mut entries = std::collections::HashSet::new();
        for source in ["10.0.0.1", "10.0.0.2", "10.0.0.3"] {
            for address in ["10.1.0.1", "10.1.0.2", "10.1.0.3"] {
                for day in [1, 2, 3] {
                    let mut request: Request<'_> = base;
                    if unknown.has(Fields::SOURCE) && !needs.has(Fields::SOURCE) {
                        request.source = source.parse().unwrap();
                    }
                    if unknown.has(Fields::ADDRESS) && !needs.has(Fields::ADDRESS) {
                        request.address = Some(address.parse().unwrap());
                    }
                    if unknown.has(Fields::TIME) && !needs.has(Fields::TIME) {
                        request.time = WeekTime { day, second: 0 };
                    }
                    entries.insert(walk.decide(&request).entry);
                }
            }
        }
        if needs.is_empty() {
            prop_assert_eq!(entries.len(), 1);
            let decided = decide(&policy, &query).verdict().and_then(|verdict| verdict.entry);
            prop_assert!(entries.contains(&decided));
        }
    }
}

/// Programs are shared by services and policies.
#[test]
fn a_query_about_a_service_that_there_is_not_is_refused() {
    let one = compiled("auth none\nsocks\n");
    let mut query = read(&one, "to=a.test:1").unwrap();
    query.service = 7;
    let answer = decide(&Policy::compile(&Arc::clone(&one.program)), &query);
    assert_eq!((answer.outcome.name(), answer.deciding()), ("deny", None));
}
