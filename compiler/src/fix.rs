//! Edits that repair a finding.
mod mend;

pub use mend::{Changed, Known, Made, Mended, Other, Previewed, Withheld, mend, preview};

use std::{borrow::Cow, ops::Range};

use grammar::{Span, syntax::Line};

use crate::{
    finding::Finding,
    sources::{FileId, Loc, Source, Sources},
};

/// Whether an edit may be made unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Safety {
    /// Keeps what the configuration does, or does what its text already says.
    Safe,
    /// May change what the configuration does: made only on request.
    Unsafe,
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, as a command: `quote the password`.
    pub title: Cow<'static, str>,
    /// Whether it may be made unasked.
    pub safety: Safety,
    /// What to put where.
    pub edits: Vec<Edit>,
}

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that go; an empty span inserts.
    pub at: Loc,
    /// The bytes that come.
    pub text: String,
}

impl Fix {
    /// A repair by one replacement.
    pub fn replace(
        title: impl Into<Cow<'static, str>>,
        safety: Safety,
        at: Loc,
        text: impl Into<String>,
    ) -> Self {
        Self { title: title.into(), safety, edits: vec![Edit { at, text: text.into() }] }
    }

    /// A repair that puts a line above the one of `place`. `None`: there is none.
    pub(crate) fn insert_above(
        sources: &Sources,
        title: impl Into<Cow<'static, str>>,
        safety: Safety,
        place: Loc,
        line: &str,
    ) -> Option<Self> {
        let above = line_at(sources.get(place.file)?, place)?.span.start;
        let at = Loc { file: place.file, span: Span::new(above, above) };
        Some(Self::replace(title, safety, at, format!("{line}\n")))
    }

    /// Moves the lines in which `lines` stand above the line of `place`. `None`: they are not all in one file, or not text.
    /// What the script does may change by it, so it is not made unasked.
    pub(crate) fn move_above(
        sources: &Sources,
        title: impl Into<Cow<'static, str>>,
        lines: &[Loc],
        place: Loc,
    ) -> Option<Self> {
        let source = sources.get(place.file)?;
        let above = line_at(source, place)?.span.start;
        let loc = |span| Loc { file: place.file, span };
        let mut text = String::new();
        let mut edits = Vec::new();
        for at in lines {
            let moved = line_at(source, *at).filter(|_| at.file == place.file)?.span;
            text.push_str(str::from_utf8(moved.of(&source.text)).ok()?);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            edits.push(Edit { at: loc(moved), text: String::new() });
        }
        edits.insert(0, Edit { at: loc(Span::new(above, above)), text });
        Some(Self { title: title.into(), safety: Safety::Unsafe, edits })
    }

    /// `text`, which is `file`'s, with this fix's edits to that file made. Of edits that overlap, as those of two findings in one
    /// word may, the first is made: what is left is found again.
    #[must_use]
    pub fn apply(&self, file: FileId, text: &[u8]) -> Vec<u8> {
        apply(self.edits.iter().filter(|edit| edit.at.file == file).collect(), text)
    }
}

/// A text with edits made; of those that overlap, the first.
fn apply(edits: Vec<&Edit>, text: &[u8]) -> Vec<u8> {
    edited(edits, text, 0..text.len())
}

/// The part of a text in which edits start, with them made; of those that overlap, the first.
pub(crate) fn edited(mut edits: Vec<&Edit>, text: &[u8], part: Range<usize>) -> Vec<u8> {
    edits.sort_by_key(|edit| edit.at.span);
    let mut fixed = Vec::with_capacity(part.len());
    let mut done = part.start;
    for edit in edits {
        let span = edit.at.span.range();
        if span.start < done {
            continue;
        }
        fixed.extend_from_slice(text.get(done..span.start).unwrap_or_default());
        fixed.extend_from_slice(edit.text.as_bytes());
        done = span.end;
    }
    fixed.extend_from_slice(text.get(done..part.end).unwrap_or_default());
    fixed
}

/// Gives the lines that fixes insert the line ends that stand about them.
pub(crate) fn adopt_line_ends(sources: &Sources, findings: &mut [Finding]) {
    let fixes = findings.iter_mut().filter_map(|finding| finding.fix.as_mut());
    for edit in fixes.flat_map(|fix| &mut fix.edits).filter(|edit| edit.text.contains('\n')) {
        if sources.get(edit.at.file).is_some_and(|source| ends_crlf(source, edit.at)) {
            edit.text = edit.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
}

/// Whether the line of a place ends with CRLF; if it has no end, the one before it.
fn ends_crlf(source: &Source, at: Loc) -> bool {
    let (before, behind) = source.text.split_at_checked(at.span.start as usize).unwrap_or((&[], &[]));
    let is_end = |byte: &u8| *byte == b'\n';
    let own = behind.iter().position(is_end).map(|at| before.len() + at);
    let end = own.or_else(|| before.iter().rposition(is_end));
    end.and_then(|end| end.checked_sub(1)).and_then(|last| source.text.get(last)) == Some(&b'\r')
}

fn line_at(source: &Source, at: Loc) -> Option<Line> {
    source.tree.line(source.tree.line_at(at.span.start)?)
}

#[cfg(test)]
mod tests {
    use grammar::Span;

    use super::{Edit, Fix, Safety};
    use crate::sources::{FileId, Loc};

    #[test]
    fn edits_are_made_in_order_and_never_over_each_other() {
        let file = FileId(0);
        let fixed = |edits: &[(u32, u32, &str)]| {
            let edits = edits.iter().map(|(start, end, text)| Edit {
                at: Loc { file, span: Span::new(*start, *end) },
                text: (*text).to_owned(),
            });
            let fix = Fix { title: "mend".into(), safety: Safety::Safe, edits: edits.collect() };
            String::from_utf8(fix.apply(file, b"abcdef")).unwrap()
        };
        assert_eq!(fixed(&[(4, 5, ""), (0, 1, "X")]), "Xbcdf");
        assert_eq!(fixed(&[(2, 2, "1"), (2, 2, "2"), (2, 3, "3")]), "ab123def");
        assert_eq!(fixed(&[(0, 3, "X"), (1, 4, "Y"), (3, 4, "Z")]), "XZef");
    }
}
