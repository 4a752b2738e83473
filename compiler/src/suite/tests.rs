//! Test files as they are read, run and counted.
use std::{collections::BTreeSet, path::Path};

use proptest::prelude::*;

use super::{Difference, Suite, SuiteError, coverage};
use crate::{
    Compiled, compile,
    policy::Policy,
    sources::MemoryFiles,
    table::{Table, oracle::Walk},
};

const CONFIG: &str = "\
users bob:CL:x
auth strong
allow bob * *.example.com 80,443
parent 500 socks5 192.0.2.1 1080
parent 500 socks5+ 192.0.2.2 1080
include more.cfg
deny * * 10.0.0.0/8
allow bob * * 25
parent 1000 extip 203.0.113.9 0
proxy -p3128
flush
auth none
external 203.0.113.8
tcppm 8443 192.0.2.80 443
";

fn compiled(config: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("dir/3proxy.cfg", config);
    files.insert("more.cfg", "# more\nallow bob * * 22\n");
    compile(Path::new("dir/3proxy.cfg"), &files)
}

/// What differs, test by test: `key: expected → got`, or what is missing.
fn run(config: &str, tests: &str) -> Result<Vec<Vec<String>>, Vec<SuiteError>> {
    let compiled = compiled(config);
    let policy = Policy::compile(&compiled.program);
    let suite = Suite::read(tests)?;
    let said = |difference: &Difference| match difference {
        Difference::Value { key, expected, got } => format!("{key}: {expected} → {got}"),
        Difference::Missing(parts) => {
            format!("missing: {:?}", parts.iter().map(|part| part.name()).collect::<Vec<_>>())
        }
    };
    let ran = suite.run(&compiled, &policy, |_| true)?;
    Ok(ran.iter().map(|ran| ran.differences.iter().map(said).collect()).collect())
}

/// Errors as `line:column: message (help)`.
fn errors(config: &str, tests: &str) -> Vec<String> {
    let errors = run(config, tests).unwrap_err();
    let help = |error: &SuiteError| error.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    errors
        .iter()
        .map(|error| format!("{}:{}: {}{}", error.at.line, error.at.column, error.message, help(error)))
        .collect()
}

#[test]
fn what_differs_is_told_by_the_keys_of_the_test() {
    let by = "service = \"proxy\"\nuser = \"bob\"\nto = \"www.example.com:80\"\n";
    let mail = "service = \"proxy\"\nuser = \"bob\"\nto = \"mail.test:25\"\nresolve = \"192.0.2.25\"\n";
    for (request, expectation, expected) in [
        (by, "expect = \"allow\"", &[][..]),
        (by, "expect = \"allow\"\nentry = 3", &[]),
        (by, "expect = \"allow\"\nentry = \"3proxy.cfg:3\"", &[]),
        (by, "expect = \"allow\"\nentry = \"proxy.cfg:3\"", &["entry: proxy.cfg:3 → 3"]),
        (by, "expect = \"deny\"\nentry = 7", &["expect: deny → allow", "entry: 7 → 3"]),
        (by, "expect = \"allow\"\nentry = \"end\"", &["entry: end → 3"]),
        (by, "expect = \"allow\"\nparent = [\"socks5+  192.0.2.2 1080\", \"socks5 192.0.2.1 1080\"]", &[]),
        (
            by,
            "expect = \"allow\"\nparent = \"direct\"",
            &["parent: direct → socks5 192.0.2.1 1080, socks5+ 192.0.2.2 1080"],
        ),
        (by, "expect = \"allow\"\nexternal = \"any\"", &[]),
        (mail, "expect = \"allow\"\nentry = 8\nparent = \"direct\"\nexternal = \"203.0.113.9\"", &[]),
        (mail, "expect = \"allow\"\nexternal = \"::ffff:203.0.113.9\"", &[]),
        (mail, "expect = \"allow\"\nexternal = \"203.0.113.7\"", &["external: 203.0.113.7 → 203.0.113.9"]),
        (
            "service = \"proxy\"\nuser = \"bob\"\nto = \"a.test:22\"\n",
            "expect = \"allow\"\nentry = \"more.cfg:2\"",
            &[],
        ),
        (
            "service = \"proxy\"\nuser = \"bob\"\nto = \"a.test:22\"\n",
            "expect = \"allow\"\nentry = 2",
            &["entry: 2 → more.cfg:2"],
        ),
        (
            "service = \"proxy\"\nuser = \"bob\"\nto = \"mail.test:25\"\n",
            "expect = \"allow\"",
            &["missing: [\"resolve\"]"],
        ),
        (
            "service = \"proxy\"\nuser = \"bob\"\nto = \"mail.test:26\"\nresolve = \"192.0.2.25\"\n",
            "expect = \"deny\"\nentry = \"end\"",
            &[],
        ),
        (
            "service = \"proxy\"\nto = \"a.test:22\"\n",
            "expect = \"allow\"\nentry = \"none\"\nparent = \"direct\"",
            &["expect: allow → auth-required", "parent: direct → none: it is refused"],
        ),
        (
            "service = \"tcppm\"\n",
            "expect = \"allow\"\nentry = \"none\"\nparent = \"direct\"\nexternal = \"203.0.113.8\"",
            &[],
        ),
    ] {
        let found = run(CONFIG, &format!("[[test]]\nname = \"x\"\n{request}{expectation}\n")).unwrap();
        assert_eq!(found, [expected.to_vec()], "{request}{expectation}");
    }
}

#[test]
fn defaults_are_for_every_test_that_says_nothing_else() {
    let tests = "[defaults]\nservice = \"proxy:3128\"\nuser = \"bob\"\nto = \"a.test:22\"\nexpect = \"allow\"\nentry = \"more.cfg:2\"\n\
                 [[test]]\nname = \"a\"\n[[test]]\nname = \"b\"\nentry = \"\"\nto = \"www.example.com:443\"\n\
                 [[test]]\nname = \"c\"\nuser = \"\"\nentry = \"none\"\nexpect = \"auth-required\"\n";
    assert_eq!(run(CONFIG, tests).unwrap(), [&[][..], &[], &[]] as [&[String]; 3]);
}

#[test]
fn what_can_t_be_run_is_told_where_it_stands() {
    let head = "[[test]]\nname = \"x\"\nservice = \"proxy\"\nto = \"a.test:22\"\n";
    let say = |text: &str| text.to_owned();
    for (tests, expected) in [
        (say(""), "1:1: there is no test in the file (write `[[test]]`)"),
        (say("[[test]\n"), "1:8: unclosed array table, expected `]`"),
        (format!("{head}expect = allow\n"), "5:10: string values must be quoted, expected literal string"),
        (format!("{head}expect = \"alow\"\n"), "5:10: `alow` is no outcome (did you mean `allow`?)"),
        (
            format!("{head}expect = \"zzz\"\n"),
            "5:10: `zzz` is no outcome (write one of `allow`, `deny`, `auth-required`, `unresolved`)",
        ),
        (
            format!("{head}expect = \"allow\"\nparnet = \"x\"\n"),
            "6:1: there is no key `parnet` here (did you mean `parent`?)",
        ),
        (say("[[tests]]\n"), "1:3: there is no key `tests` here (did you mean `test`?)"),
        (
            say("[test]\nname = \"x\"\n"),
            "1:1: `test` is a TOML table, but should be an array of tables: write `[[test]]`",
        ),
        (
            format!("{head}expect = \"allow\"\nuser = 7\n"),
            "6:8: `user` is a TOML integer, but should be a string",
        ),
        (head.to_owned(), "1:1: this test expects nothing (write `expect = \"allow\"`)"),
        (
            say("[[test]]\nexpect = \"allow\"\n"),
            "1:1: this test has no name (write `name = \"…\"`: what it is about)",
        ),
        (
            format!("{head}expect = \"allow\"\nentry = 0\n"),
            "6:9: `entry` is no line (write a line, as `12` or `\"included.cfg:12\"`, or `\"end\"`, or `\"none\"`)",
        ),
        (
            format!("{head}expect = \"allow\"\nparent = \"socks5\"\n"),
            "6:10: `parent` names no parent (write `\"TYPE HOST PORT\"`, `\"direct\"`, or an array of these)",
        ),
        (
            format!("{head}expect = \"allow\"\n{head}expect = \"deny\"\n"),
            "6:1: there is a test `x` already, in line 1",
        ),
        (
            say("[defaults]\nname = \"x\"\nexpect = \"allow\"\n[[test]]\nname = \"y\"\n"),
            "2:8: each test has a name of its own (write it into the tests)",
        ),
        (
            say(
                "[defaults]\nservice = \"sock\"\nexpect = \"allow\"\n[[test]]\nname = \"x\"\n[[test]]\nname = \"y\"\n",
            ),
            "2:11: there is no kind of service `sock` (did you mean `socks`?)",
        ),
        (
            say("[[test]]\nname = \"x\"\nexpect = \"allow\"\n"),
            "1:1: the configuration has several services (write one of `proxy:3128`, `tcppm:8443`)",
        ),
        (
            format!("{head}expect = \"allow\"\nat = 09:30:00\n"),
            "6:6: `at` is a TOML datetime, but should be a string",
        ),
    ] {
        assert_eq!(errors(CONFIG, &tests), [expected], "{tests}");
    }
}

#[test]
fn every_error_is_told() {
    let tests = "[[test]]\nnaem = \"x\"\nto = 3\n[[test]]\nname = \"y\"\nexpect = \"alow\"\n";
    assert_eq!(errors(CONFIG, tests).len(), 5, "{:?}", errors(CONFIG, tests));
}

/// A configuration of three services, of which two have parts of one list, and requests.
fn case() -> impl Strategy<Value = (String, Vec<(usize, String, String, String)>)> {
    let entry = (
        prop::sample::select(&["allow", "deny"][..]),
        prop::sample::select(&["*", "bob", "eve"][..]),
        prop::sample::select(&["*", "10.0.0.1", "10.0.0.2"][..]),
        prop::sample::select(&["*", "1", "2"][..]),
    )
        .prop_map(|(action, user, source, port)| format!("{action} {user} {source} * {port}\n"));
    let entries = move || prop::collection::vec(entry.clone(), 0..4).prop_map(|entries| entries.concat());
    let chains = prop::sample::select(&["useronly", "iponly", "iponly useronly", "none"][..]);
    let config = (chains, entries(), entries(), entries()).prop_map(|(chain, a, b, c)| {
        format!("auth {chain}\n{a}socks -p1\n{b}socks -p2\nflush\n{c}socks -p3\n")
    });
    let text = |values: &'static [&'static str]| prop::sample::select(values).prop_map(str::to_owned);
    let request = (
        0_usize..3,
        text(&["", "bob", "eve"]),
        text(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]),
        text(&["1", "2"]),
    );
    (config, prop::collection::vec(request, 1..8))
}

proptest! {
    /// Coverage is what walking every list for every request by hand gives.
    #[test]
    fn coverage_is_what_a_plain_count_gives((config, requests) in case()) {
        let compiled = compiled(&config);
        let policy = Policy::compile(&compiled.program);
        let mut tests = String::new();
        for (at, (service, user, from, port)) in requests.iter().enumerate() {
            tests += &format!(
                "[[test]]\nname = \"{at}\"\nservice = \"socks:{}\"\nuser = \"{user}\"\nfrom = \"{from}\"\n\
                 to = \"192.0.2.1:{port}\"\nexpect = \"allow\"\n",
                service + 1
            );
        }
        let suite = Suite::read(&tests).unwrap();
        let ran = suite.run(&compiled, &policy, |_| true).unwrap();
        let counted = coverage::of(&compiled.program, &ran);
        prop_assert_eq!(counted.len(), 3);
        for (at, counted) in counted.iter().enumerate() {
            let list = compiled.program.services[at].acl;
            let all: BTreeSet<_> = list.into_iter().flat_map(|list| compiled.program.acls.entries(list)).map(|(id, _)| id).collect();
            let mut reached = BTreeSet::new();
            for ran in ran.iter().filter(|ran| ran.query.service == at) {
                for step in &ran.answer.steps {
                    let Ok(identity) = &step.found else { continue };
                    let host = ran.query.host();
                    let request = ran.query.request(&compiled.program, identity.user(), host.as_deref());
                    if *identity != crate::chain::Identity::Unchecked {
                        reached.extend(Walk { acls: &compiled.program.acls, list }.decide(&request).entry);
                    }
                }
            }
            prop_assert!(reached.is_subset(&all));
            prop_assert_eq!((counted.entries, counted.reached), (all.len(), reached.len()));
            let unreached: Vec<_> = all.difference(&reached).copied().collect();
            let is_asked = requests.iter().any(|(service, ..)| *service == at);
            prop_assert_eq!(&counted.unreached, if is_asked { &unreached[..] } else { &[] });
            prop_assert_eq!(counted.tests, requests.iter().filter(|(service, ..)| *service == at).count());
        }
    }

    /// Whatever stands in a file, it is read or refused.
    #[test]
    fn no_file_makes_it_panic(text in "(\\[\\[test\\]\\]|\\[defaults\\]|[a-z]{2,8} ?= ?|\"[a-z:0-9.]*\"|\\[|\\]|[0-9]{1,3}|\n|\\PC){0,30}") {
        let _ = run(CONFIG, &text);
    }
}
