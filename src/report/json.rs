//! Findings for programs. The form is described in docs/json.md: change both, and [`VERSION`].
use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use compiler::{
    finding::{self, Level},
    fix::{self, Mended, Safety},
    mask::Script,
    sources::{Loc, Sources},
};
use serde::Serialize;

use super::{
    line_at, line_start,
    summary::{Count, Summary},
};

/// Goes up when something in the form is removed or means something else; additions leave it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    version: u32,
    findings: Vec<Finding>,
    failed: Vec<Failure>,
    fixed: Vec<Made>,
    withheld: Vec<Withheld>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Vec<Statistic>>,
    summary: Totals,
}

/// The findings so far.
#[derive(Default)]
pub(crate) struct Findings {
    findings: Vec<Finding>,
    failed: Vec<Failure>,
    fixed: Vec<Made>,
    withheld: Vec<Withheld>,
}

impl Findings {
    pub(super) fn push(&mut self, sources: &Sources, finding: &finding::Finding) {
        self.findings.push(Finding::new(sources, finding));
    }

    pub(super) fn failed(&mut self, path: &Path, why: &str) {
        self.failed.push(Failure { path: path.display().to_string(), message: why.to_owned() });
    }

    pub(super) fn mended(&mut self, mended: &Mended) {
        self.fixed.extend(mended.made.iter().map(Made::new));
        self.withheld.extend(mended.withheld.iter().map(|withheld| Withheld {
            fix: Made::new(&withheld.fix),
            brings: withheld.brings.clone(),
            elsewhere: withheld.elsewhere.as_ref().map(|path| path.display().to_string()),
        }));
    }

    /// Writes one document.
    pub(super) fn write(self, out: &mut dyn Write, summary: &Summary, statistics: bool) -> io::Result<()> {
        let (fixable, fixable_unsafely) = summary.fixable();
        let (fixable_at_most, fixable_or_more) = summary.bounds();
        let totals = Totals {
            files: summary.configurations,
            files_read: summary.files(),
            failed: summary.failed,
            denied: summary.at(Level::Deny),
            warned: summary.at(Level::Warn),
            fixed: summary.fixed,
            fixable,
            fixable_unsafely,
            fixable_at_most,
            fixable_or_more,
        };
        let Self { findings, failed, fixed, withheld } = self;
        let statistics = statistics.then(|| Statistic::all(summary));
        let document =
            Document { version: VERSION, findings, failed, fixed, withheld, statistics, summary: totals };
        super::write_json(out, &document)
    }
}

#[derive(Serialize)]
struct Totals {
    files: u64,
    files_read: usize,
    failed: u64,
    denied: u64,
    warned: u64,
    fixed: u64,
    fixable: u64,
    fixable_unsafely: u64,
    fixable_at_most: bool,
    fixable_or_more: bool,
}

/// A file that could not be checked or mended.
#[derive(Serialize)]
struct Failure {
    path: String,
    message: String,
}

/// A fix that was made.
#[derive(Serialize)]
struct Made {
    rule: &'static str,
    title: String,
    path: String,
    line: u32,
}

/// A fix that was not made.
#[derive(Serialize)]
struct Withheld {
    #[serde(flatten)]
    fix: Made,
    brings: Vec<&'static str>,
    elsewhere: Option<String>,
}

impl Made {
    fn new(made: &fix::Made) -> Self {
        let fix::Made { rule, title, safety: _, path, line } = made;
        Self { rule, title: title.clone(), path: path.display().to_string(), line: *line }
    }
}

/// What a rule found.
#[derive(Serialize)]
struct Statistic {
    rule: &'static str,
    level: &'static str,
    found: u64,
    fixable: u64,
    fixable_unsafely: u64,
}

impl Statistic {
    fn all(summary: &Summary) -> Vec<Self> {
        let one = |(rule, level, count): (&'static str, Level, Count)| Self {
            rule,
            level: level.name(),
            found: count.found,
            fixable: count.safe,
            fixable_unsafely: count.unsafe_,
        };
        summary.rules().into_iter().map(one).collect()
    }
}

/// A finding.
#[derive(Serialize)]
struct Finding {
    rule: &'static str,
    level: &'static str,
    refused: bool,
    message: Cow<'static, str>,
    place: Place,
    label: Cow<'static, str>,
    labels: Vec<Label>,
    notes: Vec<Cow<'static, str>>,
    help: Option<Cow<'static, str>>,
    fix: Option<Fix>,
    included_from: Vec<Place>,
    count: u32,
    last: Option<Place>,
}

#[derive(Serialize)]
struct Label {
    place: Place,
    text: Cow<'static, str>,
}

/// A range of a text.
#[derive(Serialize)]
pub(super) struct Place {
    path: String,
    start: Point,
    end: Point,
}

/// Line and column from 1, column and offset in bytes.
#[derive(Serialize)]
struct Point {
    line: u32,
    column: u32,
    offset: u32,
}

#[derive(Serialize)]
struct Fix {
    title: Cow<'static, str>,
    safe: bool,
    edits: Vec<Edit>,
}

#[derive(Serialize)]
struct Edit {
    place: Place,
    /// `None`: it holds a secret.
    text: Option<String>,
}

impl Finding {
    fn new(sources: &Sources, finding: &finding::Finding) -> Self {
        let labels = finding.labels.iter();
        Self {
            rule: finding.rule,
            level: finding.level.name(),
            refused: finding.refused,
            message: finding.message.clone(),
            place: Place::new(sources, finding.at),
            label: finding.label.clone(),
            labels: labels
                .map(|label| Label { place: Place::new(sources, label.at), text: label.text.clone() })
                .collect(),
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            fix: finding.fix.as_ref().map(|fix| Fix::new(sources, fix)),
            included_from: included_from(sources, finding.at),
            count: finding.count,
            last: finding.last.map(|at| Place::new(sources, at)),
        }
    }
}

/// The includes that lead to a place, the nearest first.
pub(super) fn included_from(sources: &Sources, at: Loc) -> Vec<Place> {
    let above = |at: &Loc| sources.get(at.file).and_then(|source| source.included_at);
    std::iter::successors(above(&at), above).map(|at| Place::new(sources, at)).collect()
}

impl Place {
    pub(super) fn new(sources: &Sources, at: Loc) -> Self {
        let point = |offset| {
            let position = sources.get(at.file).map(|source| source.line_column(offset));
            let (line, column) = position.map_or((1, 1), |position| (position.line, position.column));
            Point { line, column, offset }
        };
        let path = sources.get(at.file).map(|source| source.path.display().to_string());
        Self { path: path.unwrap_or_default(), start: point(at.span.start), end: point(at.span.end) }
    }
}

impl Fix {
    fn new(sources: &Sources, fix: &fix::Fix) -> Self {
        let edits = fix.edits.iter().map(|edit| Edit {
            place: Place::new(sources, edit.at),
            text: (!repeats_secret(sources, edit)).then(|| edit.text.clone()),
        });
        Self { title: fix.title.clone(), safe: fix.safety == Safety::Safe, edits: edits.collect() }
    }
}

/// Whether an edit puts in what a secret was, or a line that has one.
pub(super) fn repeats_secret(sources: &Sources, edit: &fix::Edit) -> bool {
    let Some(source) = sources.get(edit.at.file) else { return false };
    let start = line_start(sources, edit.at);
    let script = Script::of(sources, source).at(&source.text, start);
    let inserts = edit.text.lines().any(|line| !script.secrets(line.as_bytes()).is_empty());
    let line = line_at(source, start);
    let (from, end) = (edit.at.span.start as usize - start, edit.at.span.end as usize - start);
    let overlaps = script.secrets(line).iter().any(|secret| secret.start < end && secret.end > from);
    inserts || !edit.text.is_empty() && overlaps
}
