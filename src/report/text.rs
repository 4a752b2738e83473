//! The annotated source, for people.
use annotate_snippets::{Annotation, AnnotationKind, Group, Level as Tone, Renderer, Snippet, Title};
use compiler::{
    finding::{Finding, Level},
    mask::Script,
    sources::{FileId, Loc, Sources},
};

use super::{
    difference,
    excerpt::{Excerpt, Room},
    further, line_at, line_start, place, printable,
    style::Style,
};

/// Marked lines that are so near are shown together.
const NEAR: u32 = 6;
/// The fewest columns in which something is shown.
const NARROWEST: usize = 40;
/// What stands between the number of a line and the line.
const GUTTER: usize = " | ".len();
/// Stand for the place of a piece of source until it is rendered; of further pieces nothing is shown.
/// Private use characters of the source are shown as others, so they do not stand anywhere else.
const STAND_INS: [char; 8] =
    ['\u{e000}', '\u{e001}', '\u{e002}', '\u{e003}', '\u{e004}', '\u{e005}', '\u{e006}', '\u{e007}'];

/// Renders findings.
pub(crate) struct Text {
    renderer: Renderer,
    style: Style,
}

/// Something said of places in the sources.
pub(super) struct Piece<'a> {
    pub(super) title: Title<'a>,
    /// The first gives the piece its place.
    pub(super) marks: Vec<Mark<'a>>,
    pub(super) notes: Vec<&'a str>,
    pub(super) help: Option<&'a str>,
}

/// A place in a source and what is said of it.
pub(super) struct Mark<'a> {
    at: Loc,
    /// From 1.
    line: u32,
    kind: AnnotationKind,
    label: &'a str,
}

impl<'a> Mark<'a> {
    /// A place of which something is said; what it is about is `kind` primary.
    pub(super) fn new(sources: &Sources, at: Loc, kind: AnnotationKind, label: &'a str) -> Self {
        Self { at, line: sources.line_column(at).line, kind, label }
    }
}

impl Text {
    pub(super) fn new(style: impl Into<Style>) -> Self {
        let style = style.into();
        let renderer = if style.color { Renderer::styled() } else { Renderer::plain() };
        let text = Self { renderer, style };
        match text.columns() {
            Some(columns) => Self { renderer: text.renderer.term_width(columns), style },
            None => text,
        }
    }

    /// How many columns there are. `None`: nobody knows.
    fn columns(&self) -> Option<usize> {
        self.style.width.map(|width| usize::from(width).max(NARROWEST))
    }

    /// A finding, without a line end behind it.
    pub(super) fn finding(&self, sources: &Sources, finding: &Finding) -> String {
        self.titled(sources, finding.level.name(), finding)
    }

    /// The same under another title than its level; without a rule it is no finding, but looks like one.
    pub(super) fn titled(&self, sources: &Sources, name: &str, finding: &Finding) -> String {
        let tone = if finding.level == Level::Deny { Tone::ERROR } else { Tone::WARNING };
        let title = tone.with_name(name).primary_title(printable(&finding.message));
        let further = further(sources, finding, true);
        let notes = finding.notes.iter().map(|note| &**note).chain(further.iter().map(String::as_str));
        let piece = Piece {
            title: if finding.rule.is_empty() { title } else { title.id(finding.rule) },
            marks: marks(sources, finding),
            notes: notes.collect(),
            help: finding.help.as_deref(),
        };
        let text = self.piece(sources, piece);
        match &finding.fix {
            Some(fix) => text + "\n" + &difference::of(sources, fix, self.style.color),
            None => text,
        }
    }

    /// Something said of places in the sources, without a line end behind it.
    pub(super) fn piece(&self, sources: &Sources, piece: Piece<'_>) -> String {
        let Piece { title, marks, notes, help } = piece;
        let mut group = Group::with_title(title);
        let clusters = clusters(&marks);
        for (near, stand_in) in clusters.iter().zip(STAND_INS) {
            group =
                group.elements(self.snippet(sources, near).map(|snippet| snippet.path(stand_in.to_string())));
        }
        for note in notes.iter().map(|note| printable(note)) {
            group = group.element(Tone::NOTE.message(note));
        }
        for note in included(sources, &marks) {
            group = group.element(Tone::NOTE.message(note));
        }
        if let Some(help) = help {
            group = group.element(Tone::HELP.message(printable(help)));
        }
        let places = clusters.iter().filter_map(|near| {
            let at = near.first()?.at;
            let path = sources.get(at.file).map(|source| &*source.path)?;
            Some(self.style.linked(path, &place(sources, at)))
        });
        places
            .zip(STAND_INS)
            .fold(self.renderer.render(&[group]), |text, (place, stand_in)| put_place(text, stand_in, &place))
    }
}

impl Text {
    /// What should be and is not.
    pub(super) fn gone(&self, text: &str) -> String {
        self.painted(difference::GONE, text)
    }

    /// What is and should not be.
    pub(super) fn come(&self, text: &str) -> String {
        self.painted(difference::COME, text)
    }

    fn painted(&self, style: &str, text: &str) -> String {
        if self.style.color { format!("{style}{text}{}", difference::PLAIN) } else { text.to_owned() }
    }
}

/// Puts `place` where the renderer put `stand_in` and the place as it counted it. It counts columns in what is shown,
/// which is not what is written where that is long, secret or not ASCII.
fn put_place(text: String, stand_in: char, place: &str) -> String {
    let Some((before, behind)) = text.split_once(stand_in) else { return text };
    let counted = |char: char| char == ':' || char.is_ascii_digit();
    format!("{before}{place}{}", behind.trim_start_matches(counted))
}

/// The primary place first, then the others by place.
fn marks<'a>(sources: &Sources, finding: &'a Finding) -> Vec<Mark<'a>> {
    let labels = finding.labels.iter();
    let mut marks: Vec<_> =
        labels.map(|label| Mark::new(sources, label.at, AnnotationKind::Context, &label.text)).collect();
    marks.sort_by_key(|mark| mark.at);
    marks.insert(0, Mark::new(sources, finding.at, AnnotationKind::Primary, &finding.label));
    marks
}

/// Marks that are shown in one piece of source: those near the first one, then the rest in order.
fn clusters<'a, 'b>(marks: &'b [Mark<'a>]) -> Vec<Vec<&'b Mark<'a>>> {
    let mut clusters: Vec<Vec<&Mark>> = Vec::new();
    for mark in marks {
        let near = clusters.iter_mut().find(|cluster| {
            let near =
                |other: &&Mark| other.at.file == mark.at.file && other.line.abs_diff(mark.line) <= NEAR;
            cluster.iter().any(near)
        });
        match near {
            Some(cluster) => cluster.push(mark),
            None => clusters.push(vec![mark]),
        }
    }
    clusters
}

impl Text {
    /// A piece of source with its marks.
    fn snippet<'a>(&self, sources: &Sources, marks: &[&Mark<'a>]) -> Option<Snippet<'a, Annotation<'a>>> {
        let first = marks.first()?;
        let source = sources.get(first.at.file)?;
        let script = Script::of(sources, source);
        let (top, bottom) = marks.iter().fold((first, first), |(top, bottom), mark| {
            (
                if mark.line < top.line { mark } else { top },
                if mark.line > bottom.line { mark } else { bottom },
            )
        });
        let mut excerpt = Excerpt::default();
        let mut start = line_start(sources, top.at);
        let gutter = bottom.line.to_string().len() + GUTTER;
        for number in top.line..=bottom.line {
            let line = line_at(source, start);
            let of_line = || marks.iter().filter(|mark| mark.line == number);
            let interest =
                of_line().map(|mark| mark.at.span.start as usize - start).min().unwrap_or_default();
            let label = of_line().map(|mark| mark.label.chars().count()).max().unwrap_or_default();
            let room = self.columns().map(|columns| Room::of(columns.saturating_sub(gutter), label));
            let script = script.at(&source.text, start);
            excerpt.line(script, line, start, &room.unwrap_or_default().window(line.len(), interest));
            start += line.len() + 1;
        }
        let mut snippet = Snippet::source(excerpt.text.clone()).line_start(top.line as usize);
        for mark in marks {
            let line = line_start(sources, mark.at);
            let end = line + line_at(source, line).len();
            // What spans lines is marked in its first one.
            let span = mark.at.span.start as usize..(mark.at.span.end as usize).min(end);
            let mut annotation = mark.kind.span(excerpt.shown(span));
            if !mark.label.is_empty() {
                annotation = annotation.label(printable(mark.label));
            }
            snippet = snippet.annotation(annotation);
        }
        Some(snippet)
    }
}

/// How the files of these marks came in.
fn included(sources: &Sources, marks: &[Mark<'_>]) -> Vec<String> {
    let mut files: Vec<FileId> = Vec::new();
    for mark in marks {
        if !files.contains(&mark.at.file) {
            files.push(mark.at.file);
        }
    }
    let mut notes = Vec::new();
    let mut next = 0;
    while let Some(&file) = files.get(next) {
        next += 1;
        let Some(source) = sources.get(file) else { continue };
        let Some(at) = source.included_at else { continue };
        let path = source.path.display().to_string();
        notes.push(format!("`{}` is included at {}", printable(&path), place(sources, at)));
        if !files.contains(&at.file) {
            files.push(at.file);
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use compiler::{compile, sources::MemoryFiles};

    use super::{Style, Text};

    /// What is shown of a source, and what is said of places in it, stays in the columns that there are.
    #[test]
    fn a_long_line_is_cut_where_the_terminal_ends() {
        for hosts in [3, 8, 12, 200] {
            let names: Vec<String> = (0..hosts).map(|host| format!("host{host}.example.net")).collect();
            let text = format!("deny * * {}\nallow *\nproxy -i127.0.0.1\n", names.join(","));
            let mut files = MemoryFiles::default();
            files.insert("a", text);
            let compiled = compile(Path::new("a"), &files);
            let finding =
                compiled.findings.iter().find(|it| it.rule == "hostname-rule-bypassed-by-address").unwrap();
            for width in [60, 100, 150] {
                let style = Style { width: Some(width), ..Style::default() };
                let shown = Text::new(style).finding(&compiled.sources, finding);
                let marked = shown.lines().find(|line| line.contains('^')).unwrap().chars().count();
                let of_source =
                    shown.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
                let longest = of_source.map(|line| line.chars().count()).max().unwrap_or_default();
                assert!(longest <= width.into(), "{width}: {shown}");
                assert!(marked <= width.into(), "{width}: {shown}");
            }
        }
    }
}
