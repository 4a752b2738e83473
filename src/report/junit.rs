//! Findings as JUnit XML: a suite for each configuration, a case for each finding.
use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

use compiler::{
    finding::{Finding, Level},
    sources::{FileId, Sources},
};

use super::{further, location::Location, place, printable, relative, xml::escape};

/// The suites so far.
pub(crate) struct Suites {
    /// Warnings are failures.
    fatal: bool,
    suites: Vec<Suite>,
}

#[derive(Default)]
struct Suite {
    path: String,
    /// Whether it is about a configuration that was checked.
    checked: bool,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    /// Where it is.
    path: String,
    line: u32,
    outcome: Outcome,
    message: String,
    /// What a reader wants to know besides.
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failure,
    Error,
    /// It is told, but nothing fails.
    Told,
}

impl Suites {
    pub(super) fn new(fatal: bool) -> Self {
        Self { fatal, suites: Vec::new() }
    }

    /// Begins the suite of a configuration.
    pub(super) fn configuration(&mut self, sources: &Sources) {
        let path = sources.get(FileId(0)).map(|source| relative(&source.path)).unwrap_or_default();
        self.suites.push(Suite { path, checked: true, cases: Vec::new() });
    }

    pub(super) fn push(&mut self, sources: &Sources, finding: &Finding) {
        let failure = finding.level == Level::Deny || self.fatal;
        let mut text = String::new();
        for label in &finding.labels {
            let _ = writeln!(text, "{}: {}", place(sources, label.at), label.text);
        }
        for note in finding.notes.iter().cloned().chain(further(sources, finding)) {
            let _ = writeln!(text, "note: {note}");
        }
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "help: {help}");
        }
        let at = Location::of(sources, finding.at);
        let case = Case {
            name: format!("{}: {}", finding.rule, place(sources, finding.at)),
            path: at.path,
            line: at.start.0,
            outcome: if failure { Outcome::Failure } else { Outcome::Told },
            message: format!("{}: {}", finding.level.name(), finding.message),
            text,
        };
        if let Some(suite) = self.suites.last_mut() {
            suite.cases.push(case);
        }
    }

    pub(super) fn failed(&mut self, path: &Path, why: &str) {
        let case = Case {
            name: "can be checked".to_owned(),
            path: relative(path),
            line: 1,
            outcome: Outcome::Error,
            message: why.to_owned(),
            text: String::new(),
        };
        self.suites.push(Suite { path: relative(path), checked: false, cases: vec![case] });
    }

    pub(super) fn write(self, out: &mut dyn Write) -> io::Result<()> {
        let all = |outcome| self.suites.iter().map(|suite| suite.count(outcome)).sum::<usize>();
        let tests: usize = self.suites.iter().map(Suite::tests).sum();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"cfgc check\" tests=\"{tests}\" failures=\"{}\" errors=\"{}\">",
            all(Outcome::Failure),
            all(Outcome::Error)
        )?;
        self.suites.iter().try_for_each(|suite| suite.write(out))?;
        writeln!(out, "</testsuites>")
    }
}

impl Suite {
    fn count(&self, outcome: Outcome) -> usize {
        self.cases.iter().filter(|case| case.outcome == outcome).count()
    }

    /// One passes that says so where nothing is found.
    fn tests(&self) -> usize {
        self.cases.len().max(1)
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let path = escape(&self.path);
        writeln!(
            out,
            "  <testsuite name=\"{path}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            self.tests(),
            self.count(Outcome::Failure),
            self.count(Outcome::Error)
        )?;
        if self.checked && self.cases.is_empty() {
            writeln!(
                out,
                "    <testcase name=\"nothing found\" classname=\"{path}\" file=\"{path}\" line=\"1\"/>"
            )?;
        }
        for case in &self.cases {
            let (name, message) = (printable(&case.name), printable(&case.message));
            writeln!(
                out,
                "    <testcase name=\"{}\" classname=\"{path}\" file=\"{}\" line=\"{}\">",
                escape(&name),
                escape(&case.path),
                case.line
            )?;
            let (message, text) = (escape(&message), escape(&case.text));
            match case.outcome {
                Outcome::Failure => {
                    writeln!(out, "      <failure type=\"finding\" message=\"{message}\">{text}</failure>")?;
                }
                Outcome::Error => {
                    writeln!(out, "      <error type=\"unreadable\" message=\"{message}\">{text}</error>")?;
                }
                Outcome::Told => writeln!(out, "      <system-out>{message}\n{text}</system-out>")?,
            }
            writeln!(out, "    </testcase>")?;
        }
        writeln!(out, "  </testsuite>")
    }
}
