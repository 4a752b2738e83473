//! What the formats say of the same findings.
mod machines;

use std::path::Path;

use clap::ValueEnum;
use compiler::{Compiled, compile, sources::MemoryFiles};
use serde_json::Value;

use super::{Report, Summary};
use crate::args::Format;

/// Compiles `main.cfg`, which may include `more.cfg`.
fn compiled(main: impl Into<Vec<u8>>, more: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("main.cfg", main);
    files.insert("more.cfg", more);
    compile(Path::new("main.cfg"), &files)
}

/// The report on the findings of one rule.
fn report(format: Format, rule: &str, mut compiled: Compiled) -> String {
    compiled.findings.retain(|finding| finding.rule == rule);
    all(format, &compiled)
}

fn all(format: Format, compiled: &Compiled) -> String {
    let mut out = Vec::new();
    let mut report = Report::new(format, false, false);
    let mut summary = Summary::default();
    summary.configurations = 1;
    summary.read(&compiled.sources, &MemoryFiles::default());
    compiled.findings.iter().for_each(|finding| summary.count(finding));
    report.findings(&mut out, &compiled.sources, &compiled.findings).unwrap();
    report.finish(&mut out, &summary, false).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_finding_in_an_include_is_shown_with_the_way_to_it() {
    let compiled = compiled("internal 127.0.0.1\ninclude more.cfg\n", "auth iponly\n  maxconn 100\n");
    assert_eq!(
        report(Format::Text, "indented-directive", compiled),
        "\
warn[indented-directive]: 3proxy skips this line because it starts with white space
 --> more.cfg:2:3
  |
2 |   maxconn 100
  | --^^^^^^^ read as a comment
  | |
  | this white space
  |
  = note: `more.cfg` is included at main.cfg:2:1
  = help: remove the white space, or start the line with `#` if it is meant as a comment
fix: remove the white space (this changes what the configuration does)
2 -   maxconn 100
2 + maxconn 100

0 denied, 1 warned in 1 configuration of 2 files
"
    );
}

#[test]
fn places_are_in_bytes_whatever_is_shown() {
    for (line, column) in [
        (&b"  x\xe9\xff maxconn"[..], 3),
        ("\u{e000} x\tmaxconn".as_bytes(), 1),
        (b"\t\tmaxconn 1", 3),
        (b"frobnicate", 1),
    ] {
        let compiled = compiled([b"maxconn 5\n", line, b"\n"].concat(), "");
        let place = format!("main.cfg:2:{column}");
        assert!(
            all(Format::Text, &compiled).contains(&format!("--> {place}\n")),
            "{}",
            all(Format::Text, &compiled)
        );
        assert!(
            all(Format::Short, &compiled).lines().any(|found| found.starts_with(&format!("{place}: "))),
            "{}",
            all(Format::Short, &compiled)
        );
    }
}

#[test]
fn of_a_long_line_a_window_is_shown() {
    let hosts = "10.0.0.1,".repeat(5_000);
    let compiled = compiled(format!("internal 127.0.0.1\nallow * {hosts}oops,{hosts}10.0.0.2\n"), "");
    let text = all(Format::Text, &compiled);
    assert!(text.contains("oops") && text.lines().all(|line| line.chars().count() < 250), "{text}");
}

#[test]
fn no_secret_is_in_any_report() {
    let secret = "hunter2";
    let lines = [
        "  users bob:CL:hunter2",
        "users bob:CL:\"hunter2",
        "users bob:cl:hunter2 al:CR:$1$hunter2$hunter2",
        "users bob: CL: hunter2",
        "usrs bob:CL:hunter2",
        "radius hunter2",
        " radius hunter2 127.0.0.1",
        "deny *\nparent 1000 socks5 127.0.0.1 1080 bob hunter2",
        "parent 2000 nope 127.0.0.1 x bob \"hunter2\"",
        "users $more.cfg \n  users x:hunter2",
    ];
    for line in lines {
        let compiled = compiled(format!("internal 127.0.0.1\n{line}\n"), "bob:cl:hunter2 al:hunter2");
        assert!(!compiled.findings.is_empty(), "{line}");
        for format in Format::value_variants().iter().copied() {
            let report = all(format, &compiled);
            assert!(!report.contains(secret), "{report}");
        }
    }
}

#[test]
fn nothing_steers_the_terminal() {
    let compiled =
        compiled(b"allow \x1b[2J\x07\xc2\x9b31m\nfrob\x1b]0;x\x07nicate\n proxy \x1b[1m\n".to_vec(), "");
    for format in [Format::Text, Format::Short, Format::Github, Format::Junit] {
        let report = all(format, &compiled);
        assert!(
            !report.is_empty() && !report.contains(|char: char| char.is_control() && char != '\n'),
            "{report:?}"
        );
    }
}

#[test]
fn the_json_is_as_documented() {
    let documented =
        include_str!("../../docs/json.md").split("```").nth(1).unwrap().strip_prefix("json").unwrap();
    let documented: Value = serde_json::from_str(documented).unwrap();
    let compiled = compiled("auth iponly\nflush\n  maxconn 100\n", "");
    let written: Value = serde_json::from_str(&report(Format::Json, "indented-directive", compiled)).unwrap();
    let members = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(members(&written), members(&documented));
    let (written, documented) = (&written["findings"][0], &documented["findings"][0]);
    assert_eq!(members(written), members(documented));
    for same in ["rule", "level", "refused", "message", "label", "notes", "help", "included_from", "count"] {
        assert_eq!(written[same], documented[same], "{same}");
    }
    assert_eq!(members(&written["place"]), members(&documented["place"]));
    assert_eq!(written["place"]["start"]["line"], 3);
    assert_eq!(members(&written["fix"]), members(&documented["fix"]));
    assert_eq!(members(&written["fix"]["edits"][0]), members(&documented["fix"]["edits"][0]));
}
