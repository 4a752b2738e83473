//! How what `cfgc doctor` found looks.
use std::{
    borrow::Cow,
    io::{self, Write},
};

use compiler::{
    finding::{self, Level},
    sources::Sources,
};
use serde::Serialize;

use super::{json::Place, printable, text::Text};
use crate::doctor::examination::{Diagnosis, Outcome, Unchecked};

/// Goes up when something in the form is removed or means something else. The form is described in docs/json.md.
const VERSION: u32 = 1;

/// Writes it for people.
pub(crate) fn text(out: &mut dyn Write, sources: &Sources, outcome: &Outcome, color: bool) -> io::Result<()> {
    let text = Text::new(color);
    let findings = outcome.found.iter().map(|diagnosis| diagnosis.finding.clone());
    // Ten thousand addresses that are not here are one finding.
    for finding in finding::group(findings.collect()) {
        writeln!(out, "{}\n", text.finding(sources, &finding))?;
    }
    for Unchecked { check, why } in &outcome.unchecked {
        writeln!(out, "not checked[{check}]: {}", printable(why))?;
    }
    if !outcome.unchecked.is_empty() {
        writeln!(out)?;
    }
    let Totals { denied, warned, unchecked } = Totals::of(outcome);
    let found = if denied + warned == 0 {
        "nothing found on this host".to_owned()
    } else {
        format!("{denied} denied, {warned} warned on this host")
    };
    match unchecked {
        0 => writeln!(out, "{found}"),
        more => writeln!(out, "{found}, {more} not checked"),
    }
}

/// Writes it for programs.
pub(crate) fn json(out: &mut dyn Write, sources: &Sources, outcome: &Outcome) -> io::Result<()> {
    let document = Document {
        version: VERSION,
        findings: outcome.found.iter().map(|diagnosis| Row::new(sources, diagnosis)).collect(),
        unchecked: outcome.unchecked.iter().map(|Unchecked { check, why }| Skipped { check, why }).collect(),
        summary: Totals::of(outcome),
    };
    super::write_json(out, &document)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    findings: Vec<Row<'a>>,
    unchecked: Vec<Skipped<'a>>,
    summary: Totals,
}

#[derive(Serialize)]
struct Row<'a> {
    check: &'static str,
    level: &'static str,
    message: &'a str,
    place: Place,
    label: &'a str,
    labels: Vec<Label<'a>>,
    seen: &'a str,
    needed: &'a str,
    command: Option<&'a str>,
    help: Option<&'a str>,
    notes: &'a [Cow<'static, str>],
}

#[derive(Serialize)]
struct Label<'a> {
    place: Place,
    text: &'a str,
}

#[derive(Serialize)]
struct Skipped<'a> {
    check: &'static str,
    why: &'a str,
}

#[derive(Serialize)]
struct Totals {
    denied: usize,
    warned: usize,
    unchecked: usize,
}

impl Totals {
    fn of(outcome: &Outcome) -> Self {
        let denied = outcome.found.iter().filter(|diagnosis| diagnosis.finding.level == Level::Deny).count();
        Self { denied, warned: outcome.found.len() - denied, unchecked: outcome.unchecked.len() }
    }
}

impl<'a> Row<'a> {
    fn new(sources: &Sources, diagnosis: &'a Diagnosis) -> Self {
        let Diagnosis { finding, seen, needed, command } = diagnosis;
        let labels = finding.labels.iter();
        Self {
            check: finding.rule,
            level: finding.level.name(),
            message: &finding.message,
            place: Place::new(sources, finding.at),
            label: &finding.label,
            labels: labels
                .map(|label| Label { place: Place::new(sources, label.at), text: &label.text })
                .collect(),
            seen,
            needed,
            command: command.as_deref(),
            help: finding.help.as_deref(),
            notes: &finding.notes,
        }
    }
}
