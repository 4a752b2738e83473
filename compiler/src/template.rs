//! Templates: files that hold markers in place of what is not known yet.
//!
//! This is the one place where that takes effect. [`Unknown`] masks the markers of a file, so that it can be run as any other;
//! [`settle`] then takes out every finding that says what a marker may make untrue.
use std::sync::Arc;

use grammar::{
    Span,
    syntax::{Word, WordShape},
    template::{Marker, mask},
};

use crate::{
    finding::Finding,
    lints::{self, Rule, rule::Reads},
    options::Template,
    program::Program,
    sources::{Loc, Sources},
};

/// What is unknown of a file.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    /// Its markers, in order; there is one at least.
    pub(crate) markers: Vec<Marker>,
    /// The text with its markers masked.
    pub(crate) script: Arc<[u8]>,
    /// It is not known which lines there are.
    pub(crate) lines: bool,
}

impl Unknown {
    /// Masks the markers of `text`. `None`: it has none, or is no template.
    pub(crate) fn read(text: &[u8], template: Template) -> Option<Self> {
        let markers = template.markers(text);
        if markers.is_empty() {
            return None;
        }
        let masked = mask(text, &markers);
        Some(Self { markers, script: masked.text.into(), lines: masked.lines })
    }

    /// Whether a marker stands in `span`.
    pub(crate) fn holds(&self, span: Span) -> bool {
        let at = self.markers.partition_point(|marker| marker.span.end <= span.start);
        self.markers.get(at).is_some_and(|marker| marker.span.start < span.end)
    }
}

/// Takes out the findings that rest on what is not known.
pub(crate) fn settle(sources: &Sources, program: &Program, findings: &mut Vec<Finding>) {
    // Files that were not read are unknown too.
    let is_unread = program.unknown.lines || program.unknown.values;
    if is_unread || sources.iter().any(|(_, source)| source.unknown.is_some()) {
        findings.retain(|finding| is_certain(sources, program, finding));
    }
}

/// Whether it is not known if a rule finds something in the line at `at`: then silence says nothing.
pub(crate) fn is_open(sources: &Sources, program: &Program, rule: &Rule, at: Loc) -> bool {
    let unread = |word: &Word| matches!(word.shape, WordShape::Splice { .. });
    let is_spliced = program.unknown.lines || program.unknown.values;
    !is_known(program, rule)
        || is_spliced && sources.words(at).iter().any(unread)
        || sources
            .get(at.file)
            .is_some_and(|source| source.unknown.as_ref().is_some_and(|unknown| unknown.holds(at.span)))
}

/// Whether all is known that a rule judges.
fn is_known(program: &Program, rule: &Rule) -> bool {
    match rule.reads {
        Reads::Markers | Reads::Line => true,
        Reads::Order => !program.unknown.lines,
        Reads::Everything => !program.unknown.lines && !program.unknown.values,
    }
}

fn is_certain(sources: &Sources, program: &Program, finding: &Finding) -> bool {
    let Some(rule) = lints::find(finding.rule) else { return true };
    if matches!(rule.reads, Reads::Markers) {
        return true;
    }
    let places = [finding.at].into_iter().chain(finding.labels.iter().map(|label| label.at));
    is_known(program, rule) && !places.into_iter().any(|place| is_unknown(sources, place))
}

/// Whether a marker stands in a place, or before it in its line, where it may stand for any number of words.
fn is_unknown(sources: &Sources, at: Loc) -> bool {
    let Some((source, unknown)) =
        sources.get(at.file).and_then(|source| Some((source, source.unknown.as_ref()?)))
    else {
        return false;
    };
    let line = source.tree.line_at(at.span.start).and_then(|line| source.tree.line(line));
    let start = line.map_or(at.span.start, |line| line.span.start);
    // An empty place is where something is missing.
    unknown.holds(Span::new(start, at.span.end.max(at.span.start + 1)))
}

#[cfg(test)]
mod tests;
