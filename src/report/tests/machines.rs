//! What other programs read: SARIF by its schema, annotations, JUnit.
use serde_json::Value;

use super::{all, compiled};
use crate::args::Format;

/// What the schema of SARIF 2.1.0 says of a value, as far as it is about what is written here.
enum Is {
    Text,
    /// A text that is one of these.
    One(&'static [&'static str]),
    Bool,
    /// A number, at least this.
    Number(u64),
    /// One of each at least.
    Some(&'static Is),
    Any(&'static Is),
    /// Members: name, whether it must be there, what it is. Others are not written.
    Object(&'static [(&'static str, bool, &'static Is)]),
}

use Is::{Any, Bool, Number, Object, One, Some as Several, Text};

const ARTIFACT: Is = Object(&[("uri", true, &Text)]);
const REGION: Is = Object(&[
    ("startLine", true, &Number(1)),
    ("startColumn", true, &Number(1)),
    ("endLine", true, &Number(1)),
    ("endColumn", true, &Number(1)),
]);
const MESSAGE: Is = Object(&[("text", true, &Text)]);
const LOCATION: Is = Object(&[
    ("id", false, &Number(0)),
    ("message", false, &MESSAGE),
    ("physicalLocation", true, &Object(&[("artifactLocation", true, &ARTIFACT), ("region", false, &REGION)])),
]);
const LEVEL: Is = One(&["none", "note", "warning", "error"]);
const RULE: Is = Object(&[
    ("id", true, &Text),
    ("shortDescription", true, &MESSAGE),
    ("help", true, &Object(&[("text", true, &Text), ("markdown", true, &Text)])),
    ("defaultConfiguration", true, &Object(&[("level", true, &LEVEL), ("enabled", true, &Bool)])),
    ("properties", true, &Object(&[("tags", true, &Several(&Text))])),
]);
const FIX: Is = Object(&[
    ("description", true, &MESSAGE),
    (
        "artifactChanges",
        true,
        &Several(&Object(&[
            ("artifactLocation", true, &ARTIFACT),
            (
                "replacements",
                true,
                &Several(&Object(&[("deletedRegion", true, &REGION), ("insertedContent", true, &MESSAGE)])),
            ),
        ])),
    ),
]);
const RESULT: Is = Object(&[
    ("ruleId", true, &Text),
    ("ruleIndex", true, &Number(0)),
    ("level", true, &LEVEL),
    ("message", true, &MESSAGE),
    ("locations", true, &Several(&LOCATION)),
    ("relatedLocations", false, &Several(&LOCATION)),
    ("occurrenceCount", true, &Number(1)),
    ("fixes", false, &Several(&FIX)),
]);
const DRIVER: Is =
    Object(&[("name", true, &Text), ("semanticVersion", true, &Text), ("rules", true, &Any(&RULE))]);
const NOTIFICATION: Is =
    Object(&[("level", true, &LEVEL), ("message", true, &MESSAGE), ("locations", true, &Several(&LOCATION))]);
const RUN: Is = Object(&[
    ("tool", true, &Object(&[("driver", true, &DRIVER)])),
    (
        "invocations",
        true,
        &Several(&Object(&[
            ("executionSuccessful", true, &Bool),
            ("toolExecutionNotifications", false, &Several(&NOTIFICATION)),
        ])),
    ),
    ("columnKind", true, &One(&["utf16CodeUnits", "unicodeCodePoints"])),
    ("results", true, &Any(&RESULT)),
]);
const LOG: Is =
    Object(&[("$schema", true, &Text), ("version", true, &One(&["2.1.0"])), ("runs", true, &Several(&RUN))]);

/// Fails where `value` is not what it should be.
#[track_caller]
fn hold(value: &Value, is: &Is, at: &str) {
    match is {
        Text => assert!(value.is_string(), "{at}: {value}"),
        One(all) => assert!(all.contains(&value.as_str().unwrap_or_default()), "{at}: {value}"),
        Bool => assert!(value.is_boolean(), "{at}: {value}"),
        Number(least) => assert!(value.as_u64().is_some_and(|number| number >= *least), "{at}: {value}"),
        Several(each) | Any(each) => {
            let items = value.as_array().unwrap_or_else(|| panic!("{at}: {value}"));
            assert!(!items.is_empty() || matches!(is, Any(_)), "{at} is empty");
            items.iter().for_each(|item| hold(item, each, at));
        }
        Object(members) => {
            let object = value.as_object().unwrap_or_else(|| panic!("{at}: {value}"));
            for (name, value) in object {
                let member = members.iter().find(|(known, ..)| known == name);
                let (.., is) = member.unwrap_or_else(|| panic!("{at} has no `{name}`"));
                hold(value, is, &format!("{at}.{name}"));
            }
            for (name, is_needed, _) in *members {
                assert!(!is_needed || object.contains_key(*name), "{at} lacks `{name}`");
            }
        }
    }
}

const CONFIG: &str = "internal 127.0.0.1\nauth iponly\ninclude more.cfg\nallow * * * 443-80 * Mon-Fri\nproxy \u{2013}a\nmaxconn 5\n";
const MORE: &str = "  flush\nusers bob:cl:hunter2\n";

#[test]
fn sarif_is_as_its_schema_says() {
    for (config, more) in [(CONFIG, MORE), ("internal 127.0.0.1\nsocks\n", ""), ("x\n", "")] {
        let log: Value = serde_json::from_str(&all(Format::Sarif, &compiled(config, more))).unwrap();
        hold(&log, &LOG, "log");
        let run = &log["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        }
    }
}

#[test]
fn sarif_names_places_and_fixes() {
    let log: Value = serde_json::from_str(&all(Format::Sarif, &compiled(CONFIG, MORE))).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |rule: &str| results.iter().find(|result| result["ruleId"] == rule).unwrap();
    let weekday = of("weekday-not-understood");
    let region = &weekday["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 4, "{weekday}");
    let change = &weekday["fixes"][0]["artifactChanges"][0];
    assert_eq!(change["artifactLocation"]["uri"], "main.cfg");
    assert_eq!(change["replacements"][0]["insertedContent"]["text"], "1-5");
    let indented = of("indented-directive");
    let place = &indented["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(place, "more.cfg");
    // The en dash is one character.
    let option = &of("unknown-option")["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&option["startColumn"], &option["endColumn"]), (&7.into(), &9.into()));
}

#[test]
fn annotations_are_one_line_each() {
    let text = all(Format::Github, &compiled(CONFIG, MORE));
    let annotations: Vec<&str> = text.lines().filter(|line| line.starts_with("::")).collect();
    assert_eq!(annotations.len() + 1, text.lines().count(), "{text}");
    let weekday = annotations.iter().find(|line| line.contains("weekday-not-understood")).unwrap();
    assert!(
        weekday.starts_with(
            "::error file=main.cfg,line=4,endLine=4,col=22,endColumn=29,title=cfgc%3A weekday-not-understood::"
        ),
        "{weekday}"
    );
    assert!(annotations.iter().any(|line| line.starts_with("::warning file=more.cfg,line=1,")), "{text}");
}

#[test]
fn junit_has_a_suite_for_each_configuration() {
    let text = all(Format::Junit, &compiled(CONFIG, MORE));
    let document = roxmltree::Document::parse(&text).unwrap();
    let suites: Vec<_> = document.root_element().children().filter(roxmltree::Node::is_element).collect();
    assert_eq!(suites.len(), 1);
    let cases: Vec<_> = suites[0].children().filter(roxmltree::Node::is_element).collect();
    let count = |name| suites[0].descendants().filter(|node| node.has_tag_name(name)).count().to_string();
    assert_eq!(suites[0].attribute("tests").unwrap(), cases.len().to_string());
    assert_eq!(suites[0].attribute("failures").unwrap(), count("failure"));
    assert!(cases.iter().any(|case| case.attribute("file") == Some("more.cfg")), "{text}");
    let clean = all(Format::Junit, &compiled("internal 127.0.0.1\nsocks\n", ""));
    assert!(
        clean.contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\"")
            && clean.contains("nothing found")
    );
}
