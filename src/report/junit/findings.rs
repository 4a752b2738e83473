//! Findings as test cases: a suite for each configuration, a case for each finding.
use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

use compiler::{
    finding::{Finding, Level},
    sources::{FileId, Sources},
};

use super::{Case, Outcome, Suite, write};
use crate::report::{further, location::Location, place, printable, relative};

/// The suites so far.
pub(crate) struct Findings {
    /// Warnings are failures.
    fatal: bool,
    suites: Vec<Suite>,
}

impl Findings {
    pub(in crate::report) fn new(fatal: bool) -> Self {
        Self { fatal, suites: Vec::new() }
    }

    /// Adds the suite of a configuration. Where nothing is found a case says so.
    pub(in crate::report) fn configuration(&mut self, sources: &Sources, findings: &[Finding]) {
        let path = sources.get(FileId(0)).map(|source| relative(&source.path)).unwrap_or_default();
        let mut cases: Vec<Case> =
            findings.iter().map(|finding| self.case(sources, &path, finding)).collect();
        if cases.is_empty() {
            cases.push(Case {
                name: "nothing found".to_owned(),
                class: path.clone(),
                file: path.clone(),
                line: 1,
                outcome: Outcome::Passed,
            });
        }
        self.suites.push(Suite { name: path, cases, ..Suite::default() });
    }

    fn case(&self, sources: &Sources, class: &str, finding: &Finding) -> Case {
        let mut text = String::new();
        for label in &finding.labels {
            let _ = writeln!(text, "{}: {}", place(sources, label.at), label.text);
        }
        for note in finding.notes.iter().cloned().chain(further(sources, finding, true).map(Into::into)) {
            let _ = writeln!(text, "note: {note}");
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "help: {help}");
        }
        let said = printable(&finding.message);
        let message = format!("{}: {said}", finding.level.name());
        let at = Location::of(sources, finding.at);
        Case {
            // With what is said: one rule may find several things in one place.
            name: format!("{}: {}: {said}", finding.rule, place(sources, finding.at)),
            class: class.to_owned(),
            file: at.path,
            line: at.start.0,
            outcome: if finding.level == Level::Deny || self.fatal {
                Outcome::Failure { kind: "finding", message, text }
            } else {
                Outcome::Told { message, text }
            },
        }
    }

    /// Adds a suite that says that a configuration could not be checked.
    pub(in crate::report) fn failed(&mut self, path: &Path, why: &str) {
        let path = relative(path);
        let case = Case {
            name: "can be checked".to_owned(),
            class: path.clone(),
            file: path.clone(),
            line: 1,
            outcome: Outcome::Error { kind: "unreadable", message: why.to_owned() },
        };
        self.suites.push(Suite { name: path, cases: vec![case], ..Suite::default() });
    }

    pub(in crate::report) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        write(out, "cfgc check", &self.suites)
    }
}
