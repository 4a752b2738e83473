//! How findings look.
pub(crate) mod diff;
mod difference;
pub(crate) mod doctor;
mod excerpt;
pub(crate) mod ir;
mod json;
mod mask;
mod short;
pub(crate) mod suite;
mod text;
pub(crate) mod trace;

use std::{
    borrow::Cow,
    io::{self, Write},
};

use compiler::{
    finding::Finding,
    sources::{Loc, Source, Sources},
};

use crate::args::Format;

/// What was found in all files.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// Findings at deny level.
    pub(crate) denied: u64,
    /// Findings at warn level.
    pub(crate) warned: u64,
    /// Files that were checked.
    pub(crate) files: u64,
}

/// Writes findings in one format.
pub(crate) enum Report {
    Text(text::Text),
    Short,
    Json(json::Findings),
}

impl Report {
    pub(crate) fn new(format: Format, color: bool) -> Self {
        match format {
            Format::Text => Self::Text(text::Text::new(color)),
            Format::Short => Self::Short,
            Format::Json => Self::Json(json::Findings::default()),
        }
    }

    /// Writes the findings of one configuration.
    pub(crate) fn findings(
        &mut self,
        out: &mut dyn Write,
        sources: &Sources,
        findings: &[Finding],
    ) -> io::Result<()> {
        for finding in findings {
            match self {
                Self::Text(text) => writeln!(out, "{}\n", text.finding(sources, finding))?,
                Self::Short => writeln!(out, "{}", short::finding(sources, finding))?,
                Self::Json(findings) => findings.push(sources, finding),
            }
        }
        Ok(())
    }

    /// Writes what comes behind the last configuration.
    pub(crate) fn finish(self, out: &mut dyn Write, summary: Summary) -> io::Result<()> {
        match self {
            Self::Text(_) => writeln!(out, "{summary}"),
            Self::Short => Ok(()),
            Self::Json(findings) => findings.write(out, summary),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { denied, warned, files } = self;
        let files = if *files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        if *denied == 0 && *warned == 0 {
            return write!(f, "nothing found in {files}");
        }
        write!(f, "{denied} denied, {warned} warned in {files}")
    }
}

/// Says on standard error why something could not be done.
pub(crate) fn complain(message: &str) {
    // There is nowhere left to complain to.
    let _ = writeln!(io::stderr(), "cfgc: {}", printable(message));
}

/// A place as `path:line:column`, both from 1, the column in bytes.
fn place(sources: &Sources, at: Loc) -> String {
    let path = sources.get(at.file).map(|source| source.path.display().to_string()).unwrap_or_default();
    let at = sources.line_column(at);
    format!("{}:{}:{}", printable(&path), at.line, at.column)
}

/// The line of a place, from 1, behind the path if it is in a file that is included.
fn line_number(sources: &Sources, at: Loc) -> String {
    let line = sources.line_column(at).line;
    match sources.get(at.file).filter(|source| source.included_at.is_some()) {
        Some(source) => format!("{line} of `{}`", source.path.display()),
        None => line.to_string(),
    }
}

/// Where the line of a place starts.
fn line_start(sources: &Sources, at: Loc) -> usize {
    (at.span.start + 1).saturating_sub(sources.line_column(at).column) as usize
}

/// The line that starts at `start`, without its line end.
fn line_at(source: &Source, start: usize) -> &[u8] {
    let rest = source.text.get(start..).unwrap_or_default();
    rest.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Text in one line that can't steer a terminal.
fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escape = |char: char| if steers(char) { char.escape_unicode().to_string() } else { char.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Whether a character can steer a terminal, or the order in which it shows others.
fn steers(char: char) -> bool {
    char.is_control() || is_private(char) || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character means what its writer and reader agreed on: nothing, in a configuration.
fn is_private(char: char) -> bool {
    matches!(char, '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests;
