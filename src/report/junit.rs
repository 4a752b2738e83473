//! JUnit XML, which continuous integration reads: findings, and the results of policy tests.
mod findings;

use std::{
    collections::HashMap,
    io::{self, Write},
};

use super::{printable, xml::escape};

pub(super) use findings::Findings;

/// What belongs to one file.
#[derive(Default)]
pub(super) struct Suite {
    /// The file.
    pub(super) name: String,
    pub(super) properties: Vec<(String, String)>,
    pub(super) cases: Vec<Case>,
    /// How many more there are, which did not run.
    pub(super) skipped: usize,
}

/// One thing that was looked at.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    /// Where it stands.
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) outcome: Outcome,
}

/// How it went: what it is called, a line about it, and what a reader wants to know besides.
pub(super) enum Outcome {
    Passed,
    /// It is told, but nothing fails.
    Told {
        message: String,
        text: String,
    },
    Failure {
        kind: &'static str,
        message: String,
        text: String,
    },
    /// It could not be looked at.
    Error {
        kind: &'static str,
        message: String,
    },
}

/// Writes the document of a command.
pub(super) fn write(out: &mut dyn Write, command: &str, suites: &[Suite]) -> io::Result<()> {
    let all = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let counts =
        counts(all(Suite::tests), all(Suite::failures), all(Suite::errors), all(|suite| suite.skipped));
    writeln!(out, "<testsuites name=\"{command}\" {counts}>")?;
    suites.iter().try_for_each(|suite| suite.write(out))?;
    writeln!(out, "</testsuites>")
}

fn counts(tests: usize, failures: usize, errors: usize, skipped: usize) -> String {
    format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\"")
}

impl Suite {
    fn tests(&self) -> usize {
        self.cases.len() + self.skipped
    }

    fn failures(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Failure { .. })).count()
    }

    fn errors(&self) -> usize {
        self.cases.iter().filter(|case| matches!(case.outcome, Outcome::Error { .. })).count()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let counts = counts(self.tests(), self.failures(), self.errors(), self.skipped);
        writeln!(out, "  <testsuite name=\"{}\" {counts}>", attribute(&self.name))?;
        if !self.properties.is_empty() {
            writeln!(out, "    <properties>")?;
            for (name, value) in &self.properties {
                let (name, value) = (attribute(name), attribute(value));
                writeln!(out, "      <property name=\"{name}\" value=\"{value}\"/>")?;
            }
            writeln!(out, "    </properties>")?;
        }
        let mut names = HashMap::new();
        for case in &self.cases {
            // A reader takes two cases of one name for one that ran twice.
            let times = names.entry(&case.name).or_insert(0_u32);
            *times += 1;
            let name = if *times > 1 { format!("{} ({times})", case.name) } else { case.name.clone() };
            case.write(out, &name)?;
        }
        writeln!(out, "  </testsuite>")
    }
}

impl Case {
    fn write(&self, out: &mut dyn Write, name: &str) -> io::Result<()> {
        let (name, class, file) = (attribute(name), attribute(&self.class), attribute(&self.file));
        let head = format!(
            "    <testcase name=\"{name}\" classname=\"{class}\" file=\"{file}\" line=\"{}\"",
            self.line
        );
        match &self.outcome {
            Outcome::Passed => return writeln!(out, "{head}/>"),
            Outcome::Told { message, text } => {
                writeln!(
                    out,
                    "{head}>\n      <system-out>{}\n{}</system-out>",
                    escape(message),
                    escape(text)
                )?;
            }
            Outcome::Failure { kind, message, text } => {
                let (message, text) = (attribute(message), escape(text));
                writeln!(
                    out,
                    "{head}>\n      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>"
                )?;
            }
            Outcome::Error { kind, message } => {
                writeln!(out, "{head}>\n      <error type=\"{kind}\" message=\"{}\"/>", attribute(message))?;
            }
        }
        writeln!(out, "    </testcase>")
    }
}

/// A text in one line, as it may stand in an attribute.
fn attribute(text: &str) -> String {
    escape(&printable(text)).into_owned()
}
