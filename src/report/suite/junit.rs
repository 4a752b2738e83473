//! Results as JUnit XML, for continuous integration.
use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

use compiler::{query::describe, suite::Ran};

use super::{Lines, Results, SuiteFile};
use crate::report::xml::escape;

pub(super) fn write(out: &mut dyn Write, results: &Results<'_>) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let (tests, failures) = (results.ran(), results.failed());
    writeln!(out, "<testsuites name=\"cfgc\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">")?;
    for (at, file) in results.files.iter().enumerate() {
        let (tests, failures, skipped) = (file.tests, file.failed(), file.tests - file.ran.len());
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">",
            escape(file.path)
        )?;
        if at == 0 {
            write_coverage(out, results)?;
        }
        for ran in &file.ran {
            write_test(out, results, file, ran)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// All tests together reach what they reach, so it stands with the first file.
fn write_coverage(out: &mut dyn Write, results: &Results<'_>) -> io::Result<()> {
    let Some(services) = results.coverage.filter(|services| !services.is_empty()) else { return Ok(()) };
    writeln!(out, "    <properties>")?;
    for one in services {
        let service = describe(&results.compiled.sources, &results.compiled.program, one.service);
        let (service, percent) = (escape(&service), one.percent());
        writeln!(out, "      <property name=\"coverage.{service}\" value=\"{percent:.1}\"/>")?;
    }
    writeln!(out, "    </properties>")
}

fn write_test(
    out: &mut dyn Write,
    results: &Results<'_>,
    file: &SuiteFile<'_>,
    ran: &Ran<'_>,
) -> io::Result<()> {
    let class = Path::new(file.path).file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    write!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\"",
        escape(&ran.test.name),
        escape(&class),
        escape(file.path),
        ran.test.at.line
    )?;
    if ran.differences.is_empty() {
        return writeln!(out, "/>");
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
    let _ = write!(text, "\ndecided by: {}", ran.got.deciding);
    writeln!(out, ">")?;
    writeln!(
        out,
        "      <failure type=\"difference\" message=\"{}\">{}</failure>",
        escape(&message),
        escape(&text)
    )?;
    writeln!(out, "    </testcase>")
}
