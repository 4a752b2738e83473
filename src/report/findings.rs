//! Findings of all configurations, in the form that was asked for.
use std::{
    io::{self, Write},
    path::Path,
};

use compiler::{finding::Finding, fix::Mended, sources::Sources};

use super::{complain, github, json, junit, mended, sarif, short, style::Style, summary::Summary, text};
use crate::args::Format;

/// Writes findings in one format. What programs read is written at the end, as a whole.
pub(crate) enum Report {
    Text(Box<text::Text>),
    Short,
    Json(json::Findings),
    Sarif(sarif::Log),
    Github,
    Junit(junit::Findings),
}

impl Report {
    /// A report; to a JUnit reader, warnings are failures if they are `fatal`.
    pub(crate) fn new(format: Format, style: impl Into<Style>, fatal: bool) -> Self {
        match format {
            Format::Text => Self::Text(Box::new(text::Text::new(style))),
            Format::Short => Self::Short,
            Format::Json => Self::Json(json::Findings::default()),
            Format::Sarif => Self::Sarif(sarif::Log::default()),
            Format::Github => Self::Github,
            Format::Junit => Self::Junit(junit::Findings::new(fatal)),
        }
    }

    /// Writes the findings of one configuration.
    pub(crate) fn findings(
        &mut self,
        out: &mut dyn Write,
        sources: &Sources,
        findings: &[Finding],
    ) -> io::Result<()> {
        if let Self::Junit(all) = self {
            all.configuration(sources, findings);
        }
        for finding in findings {
            match self {
                Self::Text(text) => writeln!(out, "{}\n", text.finding(sources, finding))?,
                Self::Short => writeln!(out, "{}", short::finding(sources, finding))?,
                Self::Github => writeln!(out, "{}", github::finding(sources, finding))?,
                Self::Json(findings) => findings.push(sources, finding),
                Self::Sarif(log) => log.push(sources, finding),
                Self::Junit(_) => break,
            }
        }
        Ok(())
    }

    /// Says that a configuration was not checked, or a file not mended, and why: on standard error, and to programs in the report.
    pub(crate) fn failed(&mut self, out: &mut dyn Write, path: &Path, why: &str) -> io::Result<()> {
        complain(why);
        match self {
            Self::Text(_) | Self::Short => {}
            Self::Github => writeln!(out, "{}", github::failed(path, why))?,
            Self::Json(findings) => findings.failed(path, why),
            Self::Sarif(log) => log.failed(path, why),
            Self::Junit(all) => all.failed(path, why),
        }
        Ok(())
    }

    /// Says which fixes were made to a configuration, and which were not.
    pub(crate) fn mended(&mut self, out: &mut dyn Write, mended: &Mended) -> io::Result<()> {
        match self {
            Self::Text(_) | Self::Short | Self::Github => {
                for line in mended::lines(mended) {
                    writeln!(out, "{line}")?;
                }
                if matches!(self, Self::Text(_)) && !(mended.made.is_empty() && mended.withheld.is_empty()) {
                    writeln!(out)?;
                }
                Ok(())
            }
            Self::Json(findings) => {
                findings.mended(mended);
                Ok(())
            }
            Self::Sarif(_) | Self::Junit(_) => Ok(()),
        }
    }

    /// Writes what comes behind the last configuration.
    pub(crate) fn finish(self, out: &mut dyn Write, summary: &Summary, statistics: bool) -> io::Result<()> {
        match self {
            Self::Text(_) | Self::Short | Self::Github => {
                if statistics {
                    writeln!(out, "{}", summary.statistics())?;
                }
                if matches!(self, Self::Short) { Ok(()) } else { writeln!(out, "{summary}") }
            }
            Self::Json(findings) => findings.write(out, summary, statistics),
            Self::Sarif(log) => log.write(out),
            Self::Junit(all) => all.write(out),
        }
    }
}
