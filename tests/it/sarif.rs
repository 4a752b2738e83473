//! What `cfgc check --format sarif` prints is SARIF 2.1.0, by its schema.
//!
//! The schema is the one that the package `serde-sarif` holds: it is depended on for that alone, and never built. What the schema says is
//! judged here: of JSON Schema, the words that it uses, and any other one is a fault.
use std::{path::PathBuf, process::Command};

use serde_json::{Map, Value};

use crate::support::{cfgc, repo};

/// The schema of SARIF 2.1.0.
fn schema() -> Value {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    // Not only what this machine builds: then it would not be there.
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let output = Command::new(cargo).args(arguments).current_dir(repo::root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let package = packages.find(|package| package["name"] == "serde-sarif").unwrap();
    let manifest = PathBuf::from(package["manifest_path"].as_str().unwrap());
    let text = std::fs::read_to_string(manifest.with_file_name("src").join("schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(schema["$id"].as_str().unwrap().ends_with("/sarif-schema-2.1.0.json"), "{}", schema["$id"]);
    schema
}

/// Judges values by a schema.
struct Judge<'a> {
    whole: &'a Value,
    faults: Vec<String>,
}

impl<'a> Judge<'a> {
    /// What is wrong with a document.
    fn faults(whole: &'a Value, document: &Value) -> Vec<String> {
        let mut judge = Self { whole, faults: Vec::new() };
        judge.value(whole, document, "");
        judge.faults
    }

    fn value(&mut self, schema: &'a Value, value: &Value, at: &str) {
        let schema = schema.as_object().unwrap();
        for (word, rule) in schema {
            match word.as_str() {
                "$schema" | "$id" | "title" | "description" | "default" | "definitions" => {}
                // Addresses and times are written by libraries that know them.
                "format" => self.hold(value.is_string(), at, "is no text"),
                "$ref" => {
                    let whole = self.whole;
                    let name = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    self.value(whole.pointer(name).unwrap(), value, at);
                }
                "type" => self.hold(is_of(rule, value), at, &format!("is no {rule}")),
                "enum" => self.hold(rule.as_array().unwrap().contains(value), at, "is none of the words"),
                "pattern" => self.hold(fits(rule.as_str().unwrap(), value), at, "does not fit its pattern"),
                "minimum" => self.hold(value.as_f64() >= rule.as_f64(), at, "is too small"),
                "maximum" => self.hold(value.as_f64() <= rule.as_f64(), at, "is too large"),
                "minItems" => {
                    let few = |items: &Vec<Value>| (items.len() as u64) < rule.as_u64().unwrap();
                    self.hold(!value.as_array().is_some_and(few), at, "has too few elements");
                }
                "uniqueItems" => {
                    let twice = |items: &Vec<Value>| {
                        items.iter().enumerate().any(|(number, item)| items[..number].contains(item))
                    };
                    self.hold(
                        rule != true || !value.as_array().is_some_and(twice),
                        at,
                        "has one element twice",
                    );
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.value(rule, item, &format!("{at}[{number}]"));
                    }
                }
                "required" => {
                    for name in rule.as_array().unwrap() {
                        let has = value.get(name.as_str().unwrap()).is_some();
                        self.hold(has, at, &format!("lacks {name}"));
                    }
                }
                "properties" => self.members(rule.as_object().unwrap(), value, at),
                "additionalProperties" => self.further(schema, rule, value, at),
                "anyOf" => self.hold(self.fitting(rule, value) > 0, at, "fits none of the alternatives"),
                "oneOf" => self.hold(self.fitting(rule, value) == 1, at, "does not fit one alternative"),
                word => panic!("`{word}` is not judged"),
            }
        }
    }

    fn members(&mut self, known: &'a Map<String, Value>, value: &Value, at: &str) {
        for (name, value) in value.as_object().into_iter().flatten() {
            if let Some(rule) = known.get(name) {
                self.value(rule, value, &format!("{at}.{name}"));
            }
        }
    }

    /// Members that are not listed.
    fn further(&mut self, schema: &Map<String, Value>, rule: &'a Value, value: &Value, at: &str) {
        for (name, value) in value.as_object().into_iter().flatten() {
            let is_known = schema.get("properties").is_some_and(|known| known.get(name).is_some());
            match rule {
                _ if is_known => {}
                Value::Bool(may) => self.hold(*may, at, &format!("may not have `{name}`")),
                rule => self.value(rule, value, &format!("{at}.{name}")),
            }
        }
    }

    fn fitting(&self, alternatives: &'a Value, value: &Value) -> usize {
        let fits = |rule: &&Value| {
            let mut judge = Self { whole: self.whole, faults: Vec::new() };
            judge.value(rule, value, "");
            judge.faults.is_empty()
        };
        alternatives.as_array().unwrap().iter().filter(fits).count()
    }

    fn hold(&mut self, is_so: bool, at: &str, otherwise: &str) {
        if !is_so {
            self.faults.push(format!("`{at}` {otherwise}"));
        }
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        kind => panic!("the type `{kind}` is not judged"),
    }
}

/// Whether a text has what a pattern wants. We write texts for one of the schema's patterns alone; another one is a fault.
fn fits(pattern: &str, value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    match pattern {
        "[^/]+/.+" => text.split_once('/').is_some_and(|(kind, rest)| !kind.is_empty() && !rest.is_empty()),
        _ => panic!("a text for the pattern `{pattern}`: {text}"),
    }
}

/// What `cfgc check --format sarif` prints of a configuration.
fn printed(config: &str) -> Value {
    let output = cfgc::output(&["check", "--format", "sarif", "--warn", "all"], config);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn all_that_is_printed_is_by_the_schema() {
    let schema = schema();
    let mut results = 0;
    let cases = ["operators", "measured"].map(|folder| repo::root().join("tests/cases").join(folder));
    let mut texts: Vec<String> =
        Vec::from([String::new(), "internal 127.0.0.1\nallow *\nproxy\n".to_owned()]);
    for case in cases.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()) {
        texts.push(std::fs::read_to_string(case.unwrap().path()).unwrap().replace('@', ""));
    }
    // All in one: many findings of many rules, fixes and further places.
    texts.push(texts.concat());
    for text in &texts {
        let document = printed(text);
        let faults = Judge::faults(&schema, &document);
        assert!(faults.is_empty(), "{faults:#?}\nof\n{text}");
        results += document["runs"][0]["results"].as_array().unwrap().len();
    }
    assert!(texts.len() > 150 && results > 400, "{} texts, {results} results", texts.len());
}

#[test]
fn what_is_not_by_the_schema_is_found() {
    let schema = schema();
    let right = printed("internal 127.0.0.1\nallow *\n deny *\nproxy\n");
    assert_eq!(Judge::faults(&schema, &right), [""; 0]);
    let result = "/runs/0/results/0";
    type Change = fn(&mut Map<String, Value>);
    let changes: [(&str, Change, &str); 8] = [
        ("", |log| drop(log.remove("version")), "lacks \"version\""),
        ("", |log| drop(log.insert("version".into(), "2.0.0".into())), "is none of the words"),
        ("", |log| drop(log.insert("extra".into(), 1.into())), "may not have `extra`"),
        (result, |result| drop(result.insert("level".into(), "deny".into())), "is none of the words"),
        (result, |result| drop(result.insert("level".into(), 1.into())), "is none of the words"),
        (result, |result| drop(result.insert("ruleIndex".into(), (-2).into())), "is too small"),
        (result, |result| drop(result.remove("message")), "lacks \"message\""),
        (
            result,
            |result| drop(result.insert("message".into(), serde_json::json!({}))),
            "none of the alternatives",
        ),
    ];
    for (at, change, fault) in changes {
        let mut wrong = right.clone();
        change(wrong.pointer_mut(at).unwrap().as_object_mut().unwrap());
        let faults = Judge::faults(&schema, &wrong);
        assert!(faults.iter().any(|found| found.contains(fault)), "{fault}: {faults:?}");
    }
}
