//! What 3proxy refuses, cfgc refuses at the same line, and nothing else: the recorded configurations, compiled only.
use std::path::Path;

use compiler::{Compiled, compile, finding::Level, sources::MemoryFiles};
use serde_json::Value;

use crate::support::recorded;

/// What 3proxy finds out from the host, so that `check` can't: names, folders, accounts, libraries, files that it opens.
const BY_THE_HOST: [&str; 7] = [
    "config-errors-034",
    "config-errors-050",
    "config-errors-051",
    "config-errors-052",
    "counter-015",
    "parent-types-036",
    "resolver-014",
];

/// Where the oracle's authors would refuse the configuration, and `check` denies nothing: a name to listen on, which may well
/// resolve (`cfgc run` refuses it), and indented lines, which warn.
const NOT_DENIED: [&str; 3] = ["config-errors-036", "config-syntax-002", "config-syntax-003"];

/// The folder of a case.
pub(crate) const DIR: &str = "/case";

/// A recorded case, as far as it concerns loading.
struct Case {
    id: String,
    compiled: Compiled,
    /// The line where 3proxy gives up; `None`: it loads the file.
    refused_at: Option<u64>,
    /// The authors of the oracle would refuse it.
    dangerous: bool,
}

fn cases() -> Vec<Case> {
    recorded::golden().iter().map(case).collect()
}

fn case(json: &Value) -> Case {
    let mut files = MemoryFiles::default();
    for (name, text) in json["files"].as_object().into_iter().flatten() {
        let text = expanded(text.as_str().unwrap());
        files.insert(name.as_str(), text.clone());
        files.insert(format!("{DIR}/{name}"), text);
    }
    files.insert("3proxy.cfg", expanded(json["config"].as_str().unwrap()));
    let loads = json["expect"]["loads"].as_bool().unwrap();
    Case {
        id: json["id"].as_str().unwrap().to_owned(),
        compiled: compile(Path::new("3proxy.cfg"), &files),
        refused_at: (!loads).then(|| json["expect"]["line"].as_u64().unwrap_or_default()),
        dangerous: json["safe_expect"]["loads"] == Value::Bool(false),
    }
}

/// The text with its placeholders filled in, each character one byte.
pub(crate) fn expanded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        bytes.extend(before.chars().map(|c| u8::try_from(c).unwrap()));
        match after.split_once('}').and_then(|(name, behind)| Some((placeholder(name)?, behind))) {
            Some((value, behind)) => {
                bytes.extend(value.into_bytes());
                rest = behind;
            }
            None => {
                bytes.push(b'{');
                rest = after;
            }
        }
    }
    bytes.extend(rest.chars().map(|c| u8::try_from(c).unwrap()));
    bytes
}

/// What stands for `{NAME}`; `None`: it is no placeholder.
fn placeholder(name: &str) -> Option<String> {
    if let Some(repeated) = name.strip_prefix("REP:") {
        let (text, times) = repeated.rsplit_once(':')?;
        return Some(text.repeat(times.parse().ok()?));
    }
    let (name, shift) = match name.find(['+', '-']) {
        Some(at) => name.split_at_checked(at)?,
        None => (name, "0"),
    };
    let port = match name.split_once(':').map_or(name, |(kind, _)| kind) {
        "DIR" => return Some(DIR.to_owned()),
        "HOSTNAME" => return Some("host.test".to_owned()),
        "HEX" => return Some("7a69".to_owned()),
        "ORIGIN" => 20_003,
        "ORIGIN2" => 20_004,
        "ECHO" => 20_010,
        "UDPECHO" => 20_011,
        "DNS" => 20_012,
        "CLOSED" => 20_013,
        "PORT" => 21_000 + i64::from(name.bytes().map(u16::from).sum::<u16>()),
        "PARENT" => 22_000 + name.strip_prefix("PARENT:")?.parse::<i64>().ok()?,
        _ => return None,
    };
    Some((port + shift.parse::<i64>().ok()?).to_string())
}

/// The lines of findings that say that 3proxy refuses the file, as 3proxy would count them.
fn refused_lines(compiled: &Compiled) -> Vec<u64> {
    let refused = compiled.findings.iter().filter(|finding| finding.refused);
    // What is cut off a line is a line of its own to 3proxy.
    let line = |finding: &compiler::finding::Finding| {
        u64::from(compiled.sources.line_column(finding.at).line) + u64::from(finding.rule == "line-too-long")
    };
    refused.map(line).collect()
}

#[test]
fn what_3proxy_refuses_is_refused_at_its_line_and_nothing_else() {
    let mut wrong = Vec::new();
    for case in cases() {
        let lines = refused_lines(&case.compiled);
        let agrees = match case.refused_at {
            None => lines.is_empty(),
            Some(_) if BY_THE_HOST.contains(&case.id.as_str()) => lines.is_empty(),
            Some(line) => lines.contains(&line),
        };
        if !agrees {
            wrong.push(format!("{}: 3proxy {:?}, cfgc {lines:?}", case.id, case.refused_at));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_dangerous_is_denied() {
    let denied = |case: &Case| case.compiled.findings.iter().any(|finding| finding.level == Level::Deny);
    let silent: Vec<String> =
        cases().into_iter().filter(|case| case.dangerous && !denied(case)).map(|case| case.id).collect();
    assert_eq!(silent, NOT_DENIED);
}
