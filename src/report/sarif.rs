//! Findings as SARIF 2.1.0: <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>.
use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
};

use compiler::{
    finding::{Finding, Level},
    fix::{Edit, Fix},
    lints,
    sources::{Loc, Sources},
};
use serde_json::{Value, json};

use super::{further, json::repeats_secret, location::Location, relative, uri};

/// A fix of more edits is left out: nobody applies it from a web page.
const MOST_EDITS: usize = 100;

/// The results so far.
#[derive(Default)]
pub(crate) struct Log {
    results: Vec<Value>,
    /// Each rule that has a result, and its index.
    rules: BTreeMap<&'static str, usize>,
    /// Descriptions of those rules, by index.
    descriptions: Vec<Value>,
    failures: Vec<Value>,
}

impl Log {
    pub(super) fn push(&mut self, sources: &Sources, finding: &Finding) {
        let descriptions = &mut self.descriptions;
        let index = *self.rules.entry(finding.rule).or_insert_with(|| {
            descriptions.push(description(finding.rule));
            descriptions.len() - 1
        });
        let related: Vec<Value> = (1..)
            .zip(&finding.labels)
            .map(|(id, label)| {
                let mut location = location(sources, label.at);
                set(&mut location, "id", json!(id));
                set(&mut location, "message", json!({ "text": label.text }));
                location
            })
            .collect();
        let mut place = location(sources, finding.at);
        if !finding.label.is_empty() {
            set(&mut place, "message", json!({ "text": finding.label }));
        }
        let mut result = json!({
            "ruleId": finding.rule,
            "ruleIndex": index,
            "level": level(finding.level),
            "message": { "text": text(sources, finding) },
            "locations": [place],
            "occurrenceCount": finding.count,
        });
        if !related.is_empty() {
            set(&mut result, "relatedLocations", json!(related));
        }
        if let Some(fix) = finding.fix.as_ref().and_then(|fix| fix_of(sources, fix)) {
            set(&mut result, "fixes", json!([fix]));
        }
        self.results.push(result);
    }

    pub(super) fn failed(&mut self, path: &Path, why: &str) {
        self.failures.push(json!({
            "level": "error",
            "message": { "text": why },
            "locations": [{ "physicalLocation": { "artifactLocation": artifact(&relative(path)) } }],
        }));
    }

    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let mut invocation = json!({ "executionSuccessful": self.failures.is_empty() });
        if !self.failures.is_empty() {
            set(&mut invocation, "toolExecutionNotifications", json!(self.failures));
        }
        let log = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": {
                    "name": "cfgc",
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": self.descriptions,
                } },
                "invocations": [invocation],
                "columnKind": "unicodeCodePoints",
                "results": self.results,
            }],
        });
        super::write_json(out, &log)
    }
}

/// Adds a member to an object.
fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
}

/// What a rule is.
fn description(name: &str) -> Value {
    let Some(rule) = lints::find(name) else { return json!({ "id": name }) };
    let markdown = rule.markdown();
    json!({
        "id": name,
        "shortDescription": { "text": rule.summary() },
        "help": { "text": markdown, "markdown": markdown },
        "defaultConfiguration": { "level": level(rule.level), "enabled": rule.level != Level::Allow },
        "properties": { "tags": [rule.group.name()] },
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Deny => "error",
        Level::Warn => "warning",
        Level::Allow => "note",
    }
}

/// The message with what to do.
fn text(sources: &Sources, finding: &Finding) -> String {
    let mut text = finding.message.to_string();
    if let Some(further) = further(sources, finding, false) {
        text += &format!(" ({further})");
    }
    for note in &finding.notes {
        text += &format!("\n{note}");
    }
    if let Some(help) = &finding.help {
        text += &format!("\nHelp: {help}");
    }
    text
}

fn artifact(path: &str) -> Value {
    json!({ "uri": uri(Path::new(path)) })
}

fn location(sources: &Sources, at: Loc) -> Value {
    let place = Location::of(sources, at);
    json!({ "physicalLocation": {
        "artifactLocation": artifact(&place.path),
        "region": region(&place),
    } })
}

fn region(place: &Location) -> Value {
    json!({
        "startLine": place.start.0,
        "startColumn": place.start.1,
        "endLine": place.end.0,
        "endColumn": place.end.1,
    })
}

/// `None`: it would repeat a secret, or is too long.
fn fix_of(sources: &Sources, fix: &Fix) -> Option<Value> {
    if fix.edits.len() > MOST_EDITS || fix.edits.iter().any(|edit| repeats_secret(sources, edit)) {
        return None;
    }
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for Edit { at, text } in &fix.edits {
        let place = Location::of(sources, *at);
        let replacement = json!({ "deletedRegion": region(&place), "insertedContent": { "text": text } });
        files.entry(place.path).or_default().push(replacement);
    }
    let changes: Vec<Value> = files
        .into_iter()
        .map(|(path, replacements)| json!({ "artifactLocation": artifact(&path), "replacements": replacements }))
        .collect();
    Some(json!({ "description": { "text": fix.title }, "artifactChanges": changes }))
}
