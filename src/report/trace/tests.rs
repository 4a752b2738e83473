//! What is told to programs.
use std::path::Path;

use compiler::{
    compile,
    policy::Policy,
    query::{Query, Words},
    sources::MemoryFiles,
    trace,
};
use serde_json::Value;

use super::Subject;

const CONFIG: &str = "\
internal 127.0.0.1
external 127.0.0.9
users bob:CL:hunter2
bandlimin 1000000 bob
authcache ip,user,pass 60
auth cache strong
deny bob * 192.0.2.0/24
allow bob
parent 500 socks5 192.0.2.1 1080 user swordfish
proxy -p3128
";

/// The JSON and the text of a request to `to`.
fn told(config: &str, to: &str) -> (Value, String) {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", config);
    let compiled = compile(Path::new("3proxy.cfg"), &files);
    let policy = Policy::compile(&compiled.program);
    let words = Words { user: Some("bob"), from: Some("10.0.0.7"), to: Some(to), ..Words::default() };
    let query = Query::read(&compiled.sources, &compiled.program, &words).unwrap();
    let trace = trace::explain(&policy, &query);
    let subject = Subject { sources: &compiled.sources, policy: &policy, query: &query, trace: &trace };
    let (mut json, mut text) = (Vec::new(), Vec::new());
    subject.json(&mut json).unwrap();
    subject.text(&mut text, false).unwrap();
    (serde_json::from_slice(&json).unwrap(), String::from_utf8(text).unwrap())
}

/// Every member's path, those of list elements once.
fn members(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                // A place is documented once.
                let path = format!("{path}.{name}");
                found.push(path.clone());
                if name != "place" {
                    members(value, &path, found);
                }
            }
        }
        Value::Array(array) => array.iter().for_each(|value| members(value, &format!("{path}[]"), found)),
        _ => {}
    }
}

#[test]
fn the_json_is_as_documented() {
    let docs = include_str!("../../../docs/json.md").split("# The JSON of `cfgc trace").nth(1).unwrap();
    let documented = docs.split("```").nth(1).unwrap().strip_prefix("json").unwrap();
    let documented: Value = serde_json::from_str(documented).unwrap();
    let (written, _) = told(CONFIG, "example.com:443");
    let sorted = |value| {
        let mut found = Vec::new();
        members(value, "", &mut found);
        found.sort();
        found.dedup();
        found
    };
    assert_eq!(sorted(&written), sorted(&documented));
    let (written, documented) = (&written["cases"][0], &documented["cases"][0]);
    for same in ["request", "assumed", "outcome", "code", "reply", "limits_need"] {
        assert_eq!(written[same], documented[same], "{same}");
    }
    assert_eq!(written["way"]["direct"], 0.5);
    assert_eq!(written["entry"]["place"]["start"]["line"], 8);
}

#[test]
fn no_secret_is_told() {
    for to in ["example.com:443", "192.0.2.9:1", "203.0.113.1:80"] {
        let (json, text) = told(CONFIG, to);
        for told in [json.to_string(), text] {
            assert!(!told.contains("hunter2") && !told.contains("swordfish"), "{told}");
        }
    }
}

#[test]
fn text_of_the_configuration_can_t_steer_a_terminal() {
    let (_, text) = told("auth useronly\nallow bob,\u{1b}[31m\nproxy -p1\n", "192.0.2.1:80");
    assert!(!text.contains('\u{1b}'), "{text:?}");
}
