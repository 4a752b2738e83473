//! The words of `users` lines, and names of users in lists: what was meant where separators are others than 3proxy takes.
use grammar::{Span, directive::one_slip, syntax::Word};

use crate::sources::{Loc, Sources};

/// The names in one that other separators than a comma part.
pub(super) fn parts(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    name.split(|byte| b";|/+&".contains(byte)).filter(|part| !part.is_empty())
}

/// The name between quotation marks that are letters to 3proxy, of which other rules tell. `None`: it has none at its ends.
pub(super) fn unquoted(name: &[u8]) -> Option<&[u8]> {
    /// `'`, and the quotation marks of word processors.
    const MARKS: [&[u8]; 7] = [
        b"'",
        "\u{201c}".as_bytes(),
        "\u{201d}".as_bytes(),
        "\u{2018}".as_bytes(),
        "\u{2019}".as_bytes(),
        "\u{ab}".as_bytes(),
        "\u{bb}".as_bytes(),
    ];
    let begun = MARKS.iter().find_map(|mark| name.strip_prefix(*mark));
    let rest = begun.unwrap_or(name);
    let ended = MARKS.iter().find_map(|mark| rest.strip_suffix(*mark));
    (begun.is_some() || ended.is_some()).then(|| ended.unwrap_or(rest))
}

/// Whether a name that nobody has is another one misspelt, or as a pattern: other numbers are other users.
pub(super) fn means(written: &[u8], name: &[u8]) -> bool {
    if let Some(star) = written.iter().position(|byte| *byte == b'*') {
        let (start, end) = written.split_at(star);
        return name.starts_with(start) && end.strip_prefix(b"*").is_some_and(|end| name.ends_with(end));
    }
    let digits = |name: &[u8]| name.iter().copied().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    let slips = |name| one_slip(written, [name].into_iter()).is_some();
    digits(written) == digits(name) && str::from_utf8(name).is_ok_and(slips)
}

/// Whether the word that holds `at` is no entry of its own, since the one before it ends with a colon.
pub(super) fn continues(sources: &Sources, at: Loc) -> bool {
    let Around { before: Some(before), word: Some((_, word)), .. } = Around::new(sources, at) else {
        return false;
    };
    let is_type = matches!(word, b"CL:" | b"CR:" | b"NT:");
    before.ends_with(b":") && (is_type || !word.contains(&b':')) && !word.starts_with(b"#")
}

/// Whether blanks alone part two places in a line.
pub(super) fn adjoin(sources: &Sources, ahead: Loc, behind: Loc) -> bool {
    let gap = Span::new(ahead.span.end, behind.span.start.max(ahead.span.end));
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    ahead.file == behind.file && sources.text(Loc { file: ahead.file, span: gap }).iter().all(is_blank)
}

/// How a comment begins elsewhere.
struct Mark {
    text: &'static str,
    /// A blank has to follow.
    alone: bool,
    /// What is said of it: not put together, so that it is no citation.
    label: &'static str,
}

const MARKS: [Mark; 5] = [
    Mark { text: "#", alone: false, label: "the words are read as if the `#` were not there" },
    Mark { text: ";", alone: false, label: "the words are read as if the `;` were not there" },
    Mark { text: "//", alone: false, label: "the words are read as if the `//` were not there" },
    Mark { text: "--", alone: true, label: "the words are read as if the `--` were not there" },
    Mark { text: "REM", alone: true, label: "the words are read as if the `REM` were not there" },
];

/// How a text begins that is meant for a comment.
fn comment_mark(text: &[u8]) -> Option<&'static Mark> {
    MARKS.iter().find(|mark| {
        let (start, behind) = text.split_at_checked(mark.text.len()).unwrap_or_default();
        let ends = || behind.first().is_none_or(u8::is_ascii_whitespace);
        start.eq_ignore_ascii_case(mark.text.as_bytes()) && (!mark.alone || ends())
    })
}

/// The line of a file of users that holds `at`, if it is meant for a comment, and what is said of its beginning: such a file
/// has none.
pub(super) fn comment(sources: &Sources, at: Loc) -> Option<(Loc, &'static str)> {
    let source = sources.get(at.file).filter(|source| source.spliced)?;
    let column = source.line_column(at.span.start).column;
    let start = (at.span.start + 1).checked_sub(column)? as usize;
    let rest = source.text.get(start..)?.trim_ascii_start();
    // The line is read to its end only then: it may be all of the file.
    let mark = comment_mark(rest)?;
    let start = source.text.len() - rest.len();
    let line = rest.split(|byte| *byte == b'\n').next()?.trim_ascii_end();
    let offset = |at: usize| u32::try_from(at).ok();
    Some((Loc { file: at.file, span: Span::new(offset(start)?, offset(start + line.len())?) }, mark.label))
}

/// A word and those beside it, as written.
pub(super) struct Around<'a> {
    pub(super) before: Option<&'a [u8]>,
    pub(super) word: Option<(Loc, &'a [u8])>,
    /// At most two.
    pub(super) behind: Vec<(Loc, &'a [u8])>,
}

impl<'a> Around<'a> {
    /// Of the word that holds `at`.
    pub(super) fn new(sources: &'a Sources, at: Loc) -> Self {
        let mut about = sources.words_about(at).peekable();
        let mut words: Vec<Word> = Vec::new();
        while let Some(word) = about.next_if(|word| word.span.start <= at.span.start) {
            words.push(word);
        }
        words.extend(about.take(2));
        let behind = words.partition_point(|word| word.span.start <= at.span.start);
        let text = |index: usize| {
            let place = Loc { file: at.file, span: words.get(index)?.span };
            Some((place, sources.text(place)))
        };
        Self {
            before: behind.checked_sub(2).and_then(text).map(|(_, text)| text),
            word: behind.checked_sub(1).and_then(text),
            behind: (behind..behind + 2).filter_map(text).collect(),
        }
    }

    /// The blanks that part an entry: behind its name, and behind its type.
    pub(super) fn gaps(&self, sources: &Sources) -> Vec<Loc> {
        let mut gaps = Vec::new();
        let Some((mut last, text)) = self.word.filter(|(_, text)| text.ends_with(b":")) else { return gaps };
        let named_only = text.iter().filter(|byte| **byte == b':').count() == 1;
        for (place, text) in &self.behind {
            let typed = named_only && gaps.is_empty() && starts_with_type(text);
            if !typed && !continues(sources, *place) {
                break;
            }
            gaps.push(Loc { file: last.file, span: Span::new(last.span.end, place.span.start) });
            last = *place;
        }
        gaps
    }
}

fn starts_with_type(text: &[u8]) -> bool {
    text.starts_with(b"CL:") || text.starts_with(b"CR:") || text.starts_with(b"NT:")
}
