//! The forms of a report, and that each is whole.
use serde_json::Value;

use super::Folder;
use crate::support::{cfgc, formats};

/// What a command's help says that an option can be.
fn possible(command: &str) -> Vec<String> {
    let output = cfgc::command().args([command, "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let values = help.split("--format <FORMAT>").nth(1).unwrap().lines();
    let values = values.skip_while(|line| !line.contains("Possible values:")).skip(1);
    let values = values.map_while(|line| line.trim().strip_prefix("- ")?.split_once(':'));
    values.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_form_is_known_to_the_tests_of_all() {
    assert_eq!(possible("check"), formats::FINDINGS);
    assert_eq!(possible("test"), formats::SUITES);
}

#[test]
fn a_report_is_whole_though_a_file_could_not_be_read() {
    let folder = Folder::with(&[("bad.cfg", "frobnicate\n"), ("good.cfg", "internal 127.0.0.1\nsocks\n")]);
    for format in formats::FINDINGS {
        let said = folder.check(&["--format", format, "bad.cfg", "missing.cfg", "good.cfg"]);
        assert_eq!(said.status, Some(2), "{format}");
        assert!(said.err.contains("`missing.cfg` can't be read"), "{format}: {}", said.err);
        assert!(said.out.contains("unknown-directive"), "{format}: {}", said.out);
        match format {
            "json" => {
                let json: Value = serde_json::from_str(&said.out).unwrap();
                assert_eq!(json["failed"][0]["path"], "missing.cfg");
                assert_eq!((&json["summary"]["files"], &json["summary"]["failed"]), (&2.into(), &1.into()));
            }
            "sarif" => {
                let log: Value = serde_json::from_str(&said.out).unwrap();
                let invocation = &log["runs"][0]["invocations"][0];
                assert_eq!(invocation["executionSuccessful"], false);
                let text = &invocation["toolExecutionNotifications"][0]["message"]["text"];
                assert!(text.as_str().unwrap().contains("missing.cfg"));
            }
            "junit" => {
                let document = roxmltree::Document::parse(&said.out).unwrap();
                let root = document.root_element();
                assert_eq!((root.attribute("tests"), root.attribute("errors")), (Some("3"), Some("1")));
            }
            "github" => assert!(said.out.contains("::error file=missing.cfg,title=cfgc::"), "{}", said.out),
            _ => {}
        }
    }
}

#[test]
fn a_clean_file_is_clean_in_every_form() {
    let folder = Folder::with(&[("good.cfg", "internal 127.0.0.1\nsocks\n")]);
    for format in formats::FINDINGS {
        let said = folder.check(&["--format", format, "--deny-warnings", "good.cfg"]);
        assert_eq!((said.status, said.err.as_str()), (Some(0), ""), "{format}");
        assert_eq!(said.out.is_empty(), format == "short", "{format}: {}", said.out);
    }
}

#[test]
fn ten_thousand_equal_findings_are_one() {
    let lines = "  flush\n".repeat(10_000);
    let folder = Folder::with(&[("a.cfg", format!("internal 127.0.0.1\n{lines}socks\n").as_str())]);
    let text = folder.check(&["a.cfg"]).out;
    assert!(text.contains("= note: and 9,999 more, up to line 10001") && text.lines().count() < 40, "{text}");
    assert!(text.ends_with("0 denied, 10000 warned in 1 file; --unsafe-fixes makes 10000 fixes\n"), "{text}");
    let json: Value = serde_json::from_str(&folder.check(&["--format", "json", "a.cfg"]).out).unwrap();
    assert_eq!(json["findings"].as_array().unwrap().len(), 1);
    assert_eq!(json["findings"][0]["count"], 10_000);
    assert_eq!(json["findings"][0]["last"]["start"]["line"], 10_001);
    let log: Value = serde_json::from_str(&folder.check(&["--format", "sarif", "a.cfg"]).out).unwrap();
    assert_eq!(log["runs"][0]["results"][0]["occurrenceCount"], 10_000);
    for format in ["short", "github", "junit"] {
        let said = folder.check(&["--format", format, "a.cfg"]);
        assert!(said.out.len() < 2_000, "{format}: {}", said.out);
    }
}

#[test]
fn statistics_count_rules() {
    let folder = Folder::with(&[(
        "a.cfg",
        "internal 127.0.0.1\nauth iponly\n flush\n flush\nallow * * * 2-1\nsocks\n",
    )]);
    let said = folder.check(&["--statistics", "--format", "short", "a.cfg"]);
    let tail: Vec<&str> = said.out.lines().skip(3).collect();
    assert_eq!(
        tail,
        ["2 warn[indented-directive] (--unsafe-fixes)", "1 deny[port-list-malformed] (--fix)", ""],
        "{}",
        said.out
    );
    let json = folder.check(&["--statistics", "--format", "json", "a.cfg"]).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["statistics"][0]["rule"], "indented-directive");
    assert_eq!(json["statistics"][0]["found"], 2);
    // A format without a place for them says so, and nothing is checked.
    for format in ["sarif", "junit"] {
        let said = folder.check(&["--statistics", "--format", format, "a.cfg"]);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{format}");
        assert!(
            said.err.contains(&format!("`--format {format}` has no place for `--statistics`")),
            "{}",
            said.err
        );
    }
}

#[test]
fn folders_are_searched() {
    let folder = Folder::with(&[
        ("conf/a.cfg", "include conf/users.cfg\ninternal 127.0.0.1\nsocks\n"),
        ("conf/users.cfg", "users bob:CL:x\nfrobnicate\n"),
        ("conf/README.md", "# nothing\n"),
        ("empty/note.txt", "nothing\n"),
    ]);
    let said = folder.check(&["--format", "short", "conf"]);
    // Once: as a part of the file that includes it.
    assert_eq!(said.out.matches("conf/users.cfg:2:1: deny[unknown-directive]").count(), 1, "{}", said.out);
    let none = folder.check(&["empty"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("there is no 3proxy configuration in `empty`"), "{}", none.err);
}

#[test]
fn allowances_hold_in_every_form() {
    let folder = Folder::with(&[(
        "a.cfg",
        "internal 127.0.0.1\n# cfgc: allow(indented-directive) for looks\n  flush\nsocks\n",
    )]);
    for format in formats::FINDINGS {
        let said = folder.check(&["--format", format, "--deny-warnings", "a.cfg"]);
        assert_eq!(said.status, Some(0), "{format}: {}", said.out);
        assert!(!said.out.contains("indented-directive"), "{format}: {}", said.out);
    }
}

/// A reader takes two test cases of one name for one that ran twice.
#[test]
fn test_cases_have_names_of_their_own() {
    let folder = Folder::with(&[
        ("a.cfg", "internal 127.0.0.1\nauth iponly\ninclude b.cfg\nproxy\nflush\ninclude b.cfg\nsocks\n"),
        // Found twice, and twice in one place.
        ("b.cfg", "allow * * * 443-80,70000 * Mon-Fri,Sun 9:00-17:00\n  flush\n"),
    ]);
    let names = |said: &super::Said| {
        let document = roxmltree::Document::parse(&said.out).unwrap();
        let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
        cases.map(|case| case.attribute("name").unwrap().to_owned()).collect::<Vec<String>>()
    };
    let found = names(&folder.check(&["--format", "junit", "a.cfg"]));
    let mut once = found.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), found.len(), "{found:?}");
    assert!(found.iter().any(|name| name.ends_with(" (2)")), "{found:?}");
    assert_eq!(found, names(&folder.check(&["--format", "junit", "a.cfg"])));
}
