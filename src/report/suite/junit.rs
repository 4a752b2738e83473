//! Results as JUnit XML: a suite for each file of tests.
use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

use compiler::{
    query::describe,
    suite::{Deciding, Ran},
};

use super::{Lines, Results, SuiteFile};
use crate::report::junit::{self, Case, Outcome, Suite};

pub(super) fn write(out: &mut dyn Write, results: &Results<'_>) -> io::Result<()> {
    let mut suites: Vec<Suite> = results.files.iter().map(|file| suite(results, file)).collect();
    // All tests together reach what they reach, so it stands with the first file.
    if let Some(first) = suites.first_mut() {
        first.properties = coverage(results);
    }
    junit::write(out, "cfgc test", &suites)
}

fn suite(results: &Results<'_>, file: &SuiteFile<'_>) -> Suite {
    let class = Path::new(file.path).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let case = |ran: &Ran<'_>| Case {
        name: ran.test.name.clone(),
        class: class.clone().into_owned(),
        file: file.path.to_owned(),
        line: ran.test.at.line,
        outcome: outcome(results, ran),
    };
    Suite {
        name: file.path.to_owned(),
        cases: file.ran.iter().map(case).collect(),
        skipped: file.tests - file.ran.len(),
        ..Suite::default()
    }
}

fn coverage(results: &Results<'_>) -> Vec<(String, String)> {
    let services = results.coverage.unwrap_or_default().iter().map(|one| {
        let service = describe(&results.compiled.sources, &results.compiled.program, one.service);
        (format!("coverage.{service}"), format!("{:.1}", one.percent()))
    });
    services.collect()
}

fn outcome(results: &Results<'_>, ran: &Ran<'_>) -> Outcome {
    if ran.differences.is_empty() {
        return Outcome::Passed;
    }
    let (mut text, mut message) = (results.asked(&ran.query), String::new());
    for difference in &ran.differences {
        let (differs, got) = match Lines::of(difference) {
            Lines::Differ { expected, got } => (format!("\n- {expected}\n+ {got}"), got),
            Lines::Missing(why) => (format!("\n? {why}"), why),
        };
        text.push_str(&differs);
        if message.is_empty() {
            message = got;
        }
    }
    // A line alone says nothing where a report is read without the configuration beside it.
    let configuration = results.compiled.sources.iter().next().map(|(_, source)| source.path.display());
    let _ = match (&ran.got.deciding, configuration) {
        (Deciding::Line(None, line), Some(path)) => write!(text, "\ndecided by: {path}:{line}"),
        (deciding, _) => write!(text, "\ndecided by: {deciding}"),
    };
    Outcome::Failure { kind: "difference", message, text }
}
