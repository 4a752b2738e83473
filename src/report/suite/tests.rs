//! What the three formats say of the same results.
use std::path::Path;

use compiler::{Compiled, compile, policy::Policy, sources::MemoryFiles, suite::Suite, suite::coverage};
use proptest::prelude::*;
use serde_json::Value;

use super::{Results, SuiteFile, write};
use crate::args::SuiteFormat;
use crate::report::{printable, xml::escape};

const CONFIG: &str = "\
auth iponly
allow * 10.0.0.0/8 * 80
parent 1000 socks5 192.0.2.1 1080 office office-password
deny * * 10.0.0.0/8
deny * * * 25
proxy
socks -i127.0.0.1
";

const TESTS: &str = "\
[defaults]
service = \"proxy\"
from = \"10.0.0.7\"
expect = \"deny\"
[[test]]
name = \"the web\"
to = \"a.test:80\"
entry = 5
parent = \"direct\"
[[test]]
name = \"mail\"
to = \"a.test:25\"
[[test]]
name = \"mail of an address\"
to = \"192.0.2.9:25\"
";

fn compiled() -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("main.cfg", CONFIG);
    compile(Path::new("main.cfg"), &files)
}

fn report(suite: &Suite, path: &str, format: SuiteFormat) -> String {
    let compiled = compiled();
    let policy = Policy::compile(&compiled.program);
    let ran = suite.run(&compiled, &policy, |name| name != "left out").unwrap();
    let coverage = coverage::of(&compiled.program, &ran);
    let files = [SuiteFile { path, tests: suite.tests.len(), ran }];
    let results = Results { compiled: &compiled, files: &files, coverage: Some(&coverage) };
    let mut out = Vec::new();
    write(&mut out, &results, format, false).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn people_are_shown_the_entry_that_decided_and_what_differs() {
    assert_eq!(
        report(&Suite::read(TESTS).unwrap(), "main.toml", SuiteFormat::Text),
        "\
failed: the web
 --> main.cfg:2:1
  |
2 | allow * 10.0.0.0/8 * 80
  | ^^^^^^^^^^^^^^^^^^^^^^^ this entry decides
...
5 | deny * * * 25
  | ------------- this one is expected to
  |
  = note: main.toml:5: `proxy:3128` is asked for `HTTP_GET a.test:80` from 10.0.0.7
expected (-), actual (+):
- expect = \"deny\"
+ expect = \"allow\"
- entry = 5
+ entry = 2
- parent = \"direct\"
+ parent = \"socks5 192.0.2.1 1080\"

failed: mail
 --> main.cfg:4:1
  |
4 | deny * * 10.0.0.0/8
  | ^^^^^^^^^^^^^^^^^^^ perhaps this entry decides
  |
  = note: main.toml:10: `proxy:3128` is asked for `HTTP_CONNECT a.test:25` from 10.0.0.7
left open (?):
? the result depends on `resolve`: add it to the test

coverage: 2 of 6 entries (33.3 %)
  proxy:3128: 2 of 3 entries (66.7 %), 3 tests
    no test reaches main.cfg:4:1: deny * * 10.0.0.0/8
  socks:127.0.0.1:1080: 0 of 3 entries (0.0 %), 0 tests

1 passed, 2 failed
"
    );
}

#[test]
fn many_entries_in_a_row_that_no_test_reaches_are_told_together() {
    let text =
        |lines: std::ops::Range<u32>| lines.map(|port| format!("deny * * * {port}\n")).collect::<String>();
    let config = format!("auth iponly\n{}allow * * * 80\n{}proxy\n", text(1001..1009), text(2001..2010));
    let mut files = MemoryFiles::default();
    files.insert("main.cfg", config);
    let compiled = compile(Path::new("main.cfg"), &files);
    let policy = Policy::compile(&compiled.program);
    let suite = Suite::read("[[test]]\nname = \"web\"\nto = \"a.test:80\"\nexpect = \"allow\"\n").unwrap();
    let ran = suite.run(&compiled, &policy, |_| true).unwrap();
    let coverage = coverage::of(&compiled.program, &ran);
    let files = [SuiteFile { path: "main.toml", tests: 1, ran }];
    let results = Results { compiled: &compiled, files: &files, coverage: Some(&coverage) };
    let mut out = Vec::new();
    write(&mut out, &results, SuiteFormat::Text, false).unwrap();
    let out = String::from_utf8(out).unwrap();
    let told: Vec<&str> = out.lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(told.len(), 10, "{out}");
    assert_eq!(told[7], "    no test reaches main.cfg:9:1: deny * * * 1008");
    assert_eq!(told[8], "    no test reaches main.cfg:11:1: deny * * * 2001");
    assert_eq!(told[9], "    nor the 8 entries below it, up to main.cfg:19:1: deny * * * 2009");
}

#[test]
fn programs_are_told_the_same() {
    let json = report(&Suite::read(TESTS).unwrap(), "main.toml", SuiteFormat::Json);
    assert!(!json.contains("office-password"), "{json}");
    let json: Value = serde_json::from_str(&json).unwrap();
    let [web, mail, last] = json["tests"].as_array().unwrap().as_slice() else { panic!("{json:#}") };
    assert_eq!((&web["path"], &web["line"], &web["passed"]), (&"main.toml".into(), &5.into(), &false.into()));
    assert_eq!(web["got"]["entry"], "2");
    assert_eq!(web["got"]["place"]["start"]["line"], 2);
    assert_eq!(web["got"]["parent"], serde_json::json!(["socks5 192.0.2.1 1080"]));
    assert_eq!(
        web["differences"][0],
        serde_json::json!({"key": "expect", "expected": "deny", "got": "allow"})
    );
    assert_eq!((&mail["missing"], &mail["passed"]), (&serde_json::json!(["resolve"]), &false.into()));
    assert_eq!((&last["passed"], &last["got"]["code"]), (&true.into(), &1.into()));
    assert_eq!(json["coverage"][0]["unreached"][0]["start"]["line"], 4);
    assert_eq!(json["summary"], serde_json::json!({"tests": 3, "passed": 1, "failed": 2, "left_out": 0}));
}

proptest! {
    /// Whatever tests and files are called, it is XML that says so, in which nothing is lost but what XML can't hold.
    #[test]
    fn junit_is_xml_whatever_stands_in_it(
        names in prop::collection::hash_set("[\\PC\\p{Cc}<>&\"'\u{fffe}\u{ffff}]{0,12}", 1..4),
        path in "[a-z<&\"\n\u{1}]{1,8}",
    ) {
        let mut suite = Suite::read(TESTS).unwrap();
        let tests = suite.tests.clone();
        suite.tests = names.iter().zip(tests.iter().cycle()).map(|(name, test)| {
            let mut test = test.clone();
            test.name.clone_from(name);
            test.external = Some(name.clone());
            test
        }).collect();
        let text = report(&suite, &path, SuiteFormat::Junit);
        let xml = roxmltree::Document::parse(&text).unwrap();
        let all = |name: &str| xml.descendants().filter(|node| node.has_tag_name(name)).collect::<Vec<_>>();
        let cases = all("testcase");
        prop_assert_eq!(cases.len(), names.len());
        for (case, test) in cases.iter().zip(&suite.tests) {
            let plain = test.name.chars().map(|char| match char {
                char if "&<>\"'".contains(char) => char.to_string(),
                char => escape(&printable(&char.to_string())).into_owned(),
            });
            prop_assert_eq!(case.attribute("name").unwrap(), plain.collect::<String>());
        }
        let count = |attribute: &str| xml.root_element().attribute(attribute).unwrap().parse::<usize>().unwrap();
        prop_assert_eq!((count("tests"), count("failures")), (cases.len(), all("failure").len()));
        prop_assert_eq!(all("property").len(), 2);
    }
}
