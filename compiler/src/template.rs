//! What is not known of a configuration: templates hold markers in place of it, and files may be left unread.
//!
//! This is the one place where that takes effect. [`UnknownText`] masks the markers of a file and the `$file`s that are not to be read,
//! so that it can be run as any other; lowering notes in [`Program::unknown`] what they leave [`Open`]; and [`take_out_uncertain`] then
//! takes out every finding that says what they may make untrue.
mod blocks;

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
};

use grammar::{
    Span,
    directive::{Bearing, Directive, Effect},
    option,
    syntax::{LineKind, Word, WordShape, Words},
    template::{Marker, MarkerKind, holds_placeholder, mask},
};

use crate::{
    finding::{Finding, Level},
    lints::{self, Rule, rule::Reads},
    options::CompileOptions,
    program::{Open, Program},
    sources::{Loc, Source, Sources},
};

/// What is unknown of a file.
#[derive(Clone, Debug)]
pub(crate) struct UnknownText {
    /// Its markers, in order. None: it is no template.
    pub(crate) markers: Vec<Marker>,
    /// Where what is unknown stands, in order: at its markers, and where words name files that are not read.
    places: Vec<Span>,
    /// Those of these places that decide which lines there are.
    pub(crate) lines: Vec<Span>,
    /// Lines that may not be there, or come again, in order.
    blocks: Vec<Span>,
    /// The text with all of them masked.
    pub(crate) script: Arc<[u8]>,
}

impl UnknownText {
    /// Masks what is unknown of `text`. `None`: nothing is.
    pub(crate) fn read(path: &Path, text: &[u8], options: &CompileOptions) -> Option<Self> {
        let markers = options.template.for_file(path).markers(text);
        let unread = if options.includes { Vec::new() } else { unread(&mask(text, &markers).text) };
        if markers.is_empty() && unread.is_empty() {
            return None;
        }
        let mut all: Vec<Marker> = markers.iter().chain(&unread).copied().collect();
        all.sort_by_key(|marker| marker.span);
        let mut masked = mask(text, &all);
        let places = all.iter().map(|marker| marker.span).collect();
        let blocks = blocks::of(text, &markers).unwrap_or_default();
        // What opens and closes them brings in no line.
        if !blocks.is_empty() {
            let of_blocks = markers.iter().filter(|marker| marker.kind == MarkerKind::Control);
            let of_blocks: HashSet<Span> = of_blocks.map(|marker| marker.span).collect();
            masked.lines.retain(|marker| !of_blocks.contains(marker));
        }
        Some(Self { markers, places, lines: masked.lines, blocks, script: masked.text.into() })
    }

    /// Whether something unknown stands in `span`.
    pub(crate) fn holds(&self, span: Span) -> bool {
        span.meets(&self.places)
    }

    /// Whether it is not known if what stands in `span` is there.
    pub(crate) fn may_lack(&self, span: Span) -> bool {
        span.meets(&self.blocks)
    }

    /// Whether a marker takes away the blanks at `offset`: `{% if x -%}` does so up to the next word.
    pub(crate) fn trims_behind(&self, text: &[u8], offset: u32) -> bool {
        let behind = self.markers.partition_point(|marker| marker.span.end <= offset);
        let last = behind.checked_sub(1).and_then(|last| self.markers.get(last));
        last.is_some_and(|marker| {
            let marked = marker.span.of(text);
            let between = Span::new(marker.span.end, offset).of(text);
            TRIMMING.iter().any(|end| marked.ends_with(end)) && between.trim_ascii().is_empty()
        })
    }

    /// Whether a word is one whatever is unknown in it. Who writes a marker in a column means one value; an unread `$file` may hold any
    /// number of words.
    fn is_one_word(&self, word: Span) -> bool {
        let first = self.markers.partition_point(|marker| marker.span.end <= word.start);
        let mut markers = self
            .markers
            .get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(|marker| marker.span.start < word.end);
        !self.holds(word) || markers.next().is_some_and(is_value) && markers.all(is_value)
    }
}

const fn is_value(marker: &Marker) -> bool {
    matches!(marker.kind, MarkerKind::Value)
}

/// Ends of markers that take away the blanks behind them, line ends too.
const TRIMMING: [&[u8]; 3] = [b"-%}", b"-}}", b"-#}"];

/// The words that name files.
fn unread(text: &[u8]) -> Vec<Marker> {
    if !text.contains(&b'$') {
        return Vec::new();
    }
    let tree = grammar::parse(text);
    let lines = tree.lines().filter_map(|line| match line.kind {
        LineKind::Directive(words) | LineKind::Bad(_, words) => Some(words),
        _ => None,
    });
    let spliced = |word: &Word| matches!(word.shape, WordShape::Splice { .. });
    let words = lines.flat_map(|words: Words| tree.words(words).filter(spliced).collect::<Vec<_>>());
    words.map(|word| Marker { span: word.span, kind: MarkerKind::Value, certain: true }).collect()
}

/// What is open if something in a line of `row` is unknown; `words` are its words, in `source`.
pub(crate) fn open(source: &Source, row: &Directive, words: &[Word]) -> Open {
    match (row.name, row.bearing) {
        // It brings in lines.
        ("include", _) => Open::Lines,
        ("users", _) => Open::Users,
        (_, Bearing::Nothing) => Open::Nothing,
        (_, Bearing::Limits) => Open::Details,
        _ if row.effect == Effect::Service && words.iter().all(|word| is_apart(source, word)) => {
            Open::Details
        }
        _ => Open::Values,
    }
}

/// What is open if it is not known whether a line of `row` is there.
pub(crate) fn open_if_there(row: &Directive) -> Open {
    match (row.name, row.bearing) {
        // A log is the one of all services.
        ("include" | "end" | "log", _) => Open::Lines,
        ("users", _) => Open::Users,
        (_, Bearing::Nothing | Bearing::Limits) => Open::Details,
        _ => Open::Lines,
    }
}

/// Whether what is unknown in a word of a service changes neither who is let in nor what they may do.
fn is_apart(source: &Source, word: &Word) -> bool {
    let Some(unknown) = source.unknown.as_ref().filter(|unknown| unknown.holds(word.span)) else {
        return true;
    };
    option::find(word.span.of(&source.text)).is_some_and(|(row, _)| {
        let flag = Span::new(word.span.start, word.span.start + row.flag.len() as u32);
        !row.decides && !unknown.holds(flag)
    })
}

/// Takes out the findings that rest on what is not known.
pub(crate) fn take_out_uncertain(sources: &Sources, program: &Program, findings: &mut Vec<Finding>) {
    // Of a type of authentication that there is not, it is only known that 3proxy refuses it.
    let types: HashSet<Loc> = program.history.unknown_types.iter().copied().collect();
    if !types.is_empty() {
        findings.retain(|finding| {
            let mut places = [finding.at].into_iter().chain(finding.labels.iter().map(|label| label.at));
            finding.refused || !places.any(|place| types.contains(&place))
        });
    }
    // An `include` that was not read is no place that is unknown.
    if program.unknown.lines
        || program.unknown.users
        || sources.iter().any(|(_, source)| source.unknown.is_some())
    {
        let known = Known::new(sources, program);
        findings.retain(|finding| known.is_certain(finding));
    }
}

/// Says of findings about a word that was to be filled in that it looks so. In a template it is a marker.
pub(crate) fn tell_placeholders(sources: &Sources, findings: &mut [Finding]) {
    /// Longer words are no placeholders.
    const LONGEST: u32 = 200;
    for finding in findings {
        let is_plain = sources.get(finding.at.file).is_some_and(|source| source.unknown.is_none());
        let of_the_word = || lints::find(finding.rule).is_some_and(|rule| rule.reads == Reads::Line);
        if is_plain
            && finding.level > Level::Allow
            && finding.at.span.len() < LONGEST
            && holds_placeholder(sources.text(finding.at))
            && of_the_word()
        {
            finding.notes.push(
                "This looks like a placeholder: fill it in, or check the file as the template that it is (`--template=yes`).".into(),
            );
        }
    }
}

/// Whether it is not known if a rule finds something in the line at `at`: then silence says nothing.
pub(crate) fn is_open(sources: &Sources, program: &Program, rule: &Rule, at: Loc) -> bool {
    let unknown = sources.get(at.file).and_then(|source| source.unknown.as_ref());
    !all_of(program, rule)
        || unknown.is_some_and(|unknown| {
            unknown.holds(at.span) || rule.reads != Reads::Line && unknown.may_lack(at.span)
        })
}

/// Whether all is known that a rule may judge.
fn all_of(program: &Program, rule: &Rule) -> bool {
    let unknown = &program.unknown;
    match rule.reads {
        Reads::Markers | Reads::Line => true,
        Reads::Order | Reads::Sequence => !unknown.lines,
        Reads::Behind => !unknown.lines || unknown.before_last_lines < program.services.len(),
        Reads::Admission => unknown.admitting_services.is_none(),
        Reads::Services => unknown.known_services.is_none(),
        Reads::Decisions => !unknown.lines && !unknown.values,
        Reads::Users => !unknown.lines && !unknown.values && !unknown.users,
        Reads::Settings => !unknown.lines && !unknown.values && !unknown.details,
        Reads::Everything => !unknown.lines && !unknown.values && !unknown.details && !unknown.users,
    }
}

/// What is known of a configuration of which something is not.
struct Known<'a> {
    sources: &'a Sources,
    program: &'a Program,
    /// Services by their lines, if it depends on the service what is known.
    services: HashMap<Loc, usize>,
}

impl<'a> Known<'a> {
    fn new(sources: &'a Sources, program: &'a Program) -> Self {
        let partly = program.unknown.known_services.or(program.unknown.admitting_services).is_some();
        let services = program.services.iter().enumerate().filter(|_| partly);
        let services = services.map(|(at, service)| (service.at, at)).collect();
        Self { sources, program, services }
    }

    fn is_certain(&self, finding: &Finding) -> bool {
        let Some(rule) = lints::find(finding.rule) else { return true };
        if rule.reads == Reads::Markers {
            return true;
        }
        let places = || [finding.at].into_iter().chain(finding.labels.iter().map(|label| label.at));
        let unknown = &self.program.unknown;
        let known = match rule.reads {
            Reads::Admission => self.start_before(places(), unknown.admitting_services),
            Reads::Services => self.start_before(places(), unknown.known_services),
            _ => all_of(self.program, rule),
        };
        known && !places().any(|place| self.is_unknown(place, rule.reads) || self.may_lack(place, rule.reads))
    }

    /// Whether something rests on a line of which it is not known if it is there.
    fn may_lack(&self, at: Loc, reads: Reads) -> bool {
        let unknown = self.sources.get(at.file).and_then(|source| source.unknown.as_ref());
        reads != Reads::Line && unknown.is_some_and(|unknown| unknown.may_lack(at.span))
    }

    /// Whether places name services, none of which starts behind the first `most`.
    fn start_before(&self, places: impl Iterator<Item = Loc>, most: Option<usize>) -> bool {
        let Some(most) = most else { return true };
        let mut services = places.filter_map(|place| self.services.get(&place)).peekable();
        services.peek().is_some() && services.all(|service| *service < most)
    }

    /// Whether something unknown stands in a place, or before it in its line, where it may stand for any number of words.
    fn is_unknown(&self, at: Loc, reads: Reads) -> bool {
        let Some((source, unknown)) =
            self.sources.get(at.file).and_then(|source| Some((source, source.unknown.as_ref()?)))
        else {
            return false;
        };
        // An empty place is where something is missing.
        let place = Span::new(at.span.start, at.span.end.max(at.span.start + 1));
        let line = source.tree.line_at(at.span.start).and_then(|line| source.tree.line(line));
        let start = line.map_or(at.span.start, |line| line.span.start);
        if !unknown.holds(Span::new(start, place.end)) {
            return false;
        }
        match self.sources.directive(at) {
            // Each of its words is a user.
            Some(row) if row.name == "users" => {
                let mut about = self.sources.words_about(at);
                let word = about.find(|word| word.span.start <= place.start && place.start < word.span.end);
                unknown.holds(word.map_or(place, |word| word.span.to(place)))
            }
            Some(_) if reads == Reads::Sequence => false,
            // An `auth none` only takes back.
            Some(row) if reads == Reads::Behind => row.name == "auth",
            Some(row)
                if row.effect == Effect::Service
                    && matches!(reads, Reads::Admission | Reads::Order | Reads::Decisions | Reads::Users) =>
            {
                // The service as a whole, or a word of its line.
                let of_word = place.start > start;
                of_word && unknown.holds(place)
                    || self
                        .sources
                        .words(at)
                        .iter()
                        .filter(|word| word.span.start < place.end)
                        .any(|word| !is_apart(source, word))
            }
            Some(row) if row.effect == Effect::Acl && reads == Reads::Line => {
                let words = self.sources.words(at);
                let mut before = words.iter().take_while(|word| word.span.end <= place.start);
                unknown.holds(place) || !before.all(|word| unknown.is_one_word(word.span))
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests;
