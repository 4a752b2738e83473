//! The tree: a file is lines, a directive line is words, a word is pieces.
//!
//! Flat and small: a line takes 8 bytes and a word 2; what most lines and words are not stands aside.
//! Every byte of the source belongs to exactly one line; [`Tree::lines`] laid end to end are the source.
use std::borrow::Cow;

use crate::Span;

/// The lines and words of one source. Holds no text: methods that need it take the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    lines: Vec<Start>,
    /// Where the last line ends.
    end: u32,
    /// The kinds of lines that are no directive, by index.
    odd_lines: Vec<(u32, LineKind)>,
    words: Vec<Packed>,
    /// Where words stand that are too long or too far from the one before, by index.
    far_words: Vec<(u32, Span)>,
    /// Where the last word ends, or the line that it is to stand in starts: the next one is counted from there.
    at: u32,
    /// The shapes of words that are not plain, by index.
    odd_words: Vec<(u32, WordShape)>,
}

/// Where a line starts: in the source, and among the words. It ends where the next one starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    byte: u32,
    word: u32,
}

/// A word, counted from the end of the one before or the start of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    gap: u8,
    length: u8,
}

/// The word stands aside.
const FAR: Packed = Packed { gap: u8::MAX, length: u8::MAX };

/// Of this many words one stands aside in any case: from there the others are counted ([`Tree::words_about`]).
const FAR_EACH: u32 = 64;

impl Packed {
    /// `span`, counted from `at`. `None`: it does not fit.
    fn new(span: Span, at: u32) -> Option<Self> {
        let gap = span.start.checked_sub(at)?.try_into().ok()?;
        let packed = Self { gap, length: span.len().try_into().ok()? };
        (packed != FAR).then_some(packed)
    }

    /// Where it stands, counted from `at`.
    fn span(self, at: u32) -> Span {
        let start = at + u32::from(self.gap);
        Span::new(start, start + u32::from(self.length))
    }
}

/// One physical line, its line end included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// From its first byte to behind its line feed.
    pub span: Span,
    /// What 3proxy makes of it.
    pub kind: LineKind,
}

/// What 3proxy makes of a line when it gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// Nothing but white space.
    Blank,
    /// Starts with `#`.
    Comment,
    /// Starts with white space, so 3proxy skips it although something is written there.
    Indented,
    /// A command and its arguments.
    Directive(Words),
    /// 3proxy gives up here, for the reason given. The words that could be read are kept.
    Bad(SyntaxError, Words),
}

/// The words of one line: a range of the tree's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Where the first one is counted from.
    pub(crate) from: u32,
}

/// Why a line can't be split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxError {
    /// A quotation that starts here is not closed in this line.
    UnclosedQuote(Span),
    /// The last word is a `$file` with no white space behind it: the file ends without a line end there.
    UnfinishedSplice(Span),
    /// The line has a NUL byte, outside a comment: 3proxy drops the rest of the line unseen, all of it if there
    /// are no words before.
    Nul(Span),
    /// The line is longer than 3proxy's buffer: it takes what is under the span for further lines, even behind `#`.
    /// The words are those before it.
    LineTooLong(Span),
    /// The line has more words than 3proxy has room for: the words under the span stand in its last one, unsplit.
    TooManyWords(Span),
    /// The file starts with a byte order mark, which 3proxy takes for a part of the first word.
    /// It is not in the words here.
    ByteOrderMark(Span),
}

impl SyntaxError {
    /// Where it goes wrong.
    #[must_use]
    pub const fn span(self) -> Span {
        match self {
            Self::UnclosedQuote(at)
            | Self::UnfinishedSplice(at)
            | Self::Nul(at)
            | Self::LineTooLong(at)
            | Self::TooManyWords(at)
            | Self::ByteOrderMark(at) => at,
        }
    }

    /// What is wrong, in a clause.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::UnclosedQuote(_) => "this quotation is not closed in its line",
            Self::UnfinishedSplice(_) => "3proxy refuses a `$file` at the end of a file without a line end",
            Self::Nul(_) => "3proxy drops the rest of this line, which has a NUL byte",
            Self::LineTooLong(_) => "3proxy runs this part of a line that is too long as a line of its own",
            Self::TooManyWords(_) => "3proxy has no room for so many words in one line",
            Self::ByteOrderMark(_) => {
                "the file begins with a byte order mark, which 3proxy takes for a part of the first command"
            }
        }
    }
}

/// One word, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// From its first to behind its last byte, quotes included.
    pub span: Span,
    /// What stands in it.
    pub shape: WordShape,
}

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordShape {
    /// No quotes and no splice: its bytes are its value.
    Plain,
    /// Has quotes, no splice.
    Quoted,
    /// An unquoted `$` at this offset: from there on the word names a file whose words stand here.
    Splice {
        /// Offset of the `$` in the source. What stands before it is glued to the file's first word.
        dollar: u32,
    },
}

impl Tree {
    /// The lines, in order. Laid end to end their spans are the source.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = Line> {
        (0..self.lines.len()).filter_map(|index| self.line(index))
    }

    /// A line, counted from 0.
    #[must_use]
    pub fn line(&self, index: usize) -> Option<Line> {
        let start = self.lines.get(index)?;
        let next = self.lines.get(index + 1).copied();
        let next = next.unwrap_or(Start { byte: self.end, word: self.words.len() as u32 });
        let directive = LineKind::Directive(Words { start: start.word, end: next.word, from: start.byte });
        let kind = aside(&self.odd_lines, index as u32).unwrap_or(directive);
        Some(Line { span: Span::new(start.byte, next.byte), kind })
    }

    /// The index of the line in which `offset` stands. `None`: there are no lines.
    #[must_use]
    pub fn line_at(&self, offset: u32) -> Option<usize> {
        self.lines.partition_point(|line| line.byte <= offset).checked_sub(1)
    }

    /// The words of a line.
    pub fn words(&self, words: Words) -> impl ExactSizeIterator<Item = Word> {
        let packed = self.words.get(words.start as usize..words.end as usize).unwrap_or_default();
        let mut at = words.from;
        packed.iter().enumerate().map(move |(nth, packed)| {
            let index = words.start + nth as u32;
            let far = if *packed == FAR { aside(&self.far_words, index) } else { None };
            let span = far.unwrap_or_else(|| packed.span(at));
            at = span.end;
            Word { span, shape: aside(&self.odd_words, index).unwrap_or(WordShape::Plain) }
        })
    }

    /// Those about the one that starts last at or before `offset`: more than one before it, if there are, and all behind it.
    /// A line may have millions, so they are not counted from its start.
    pub fn words_about(&self, words: Words, offset: u32) -> impl ExactSizeIterator<Item = Word> {
        let behind = self.far_words.partition_point(|(_, span)| span.start <= offset);
        let before = behind.checked_sub(2).and_then(|at| self.far_words.get(at)).map(|(index, _)| *index);
        let start = before.filter(|index| (words.start..words.end).contains(index));
        self.words(start.map_or(words, |start| Words { start, ..words }))
    }

    /// Puts a word behind the others.
    pub(crate) fn add_word(&mut self, word: Word) {
        let index = self.words.len() as u32;
        if word.shape != WordShape::Plain {
            self.odd_words.push((index, word.shape));
        }
        let near = if index.is_multiple_of(FAR_EACH) { None } else { Packed::new(word.span, self.at) };
        let packed = near.unwrap_or(FAR);
        if packed == FAR {
            self.far_words.push((index, word.span));
        }
        self.words.push(packed);
        self.at = word.span.end;
    }

    /// The words that are added from here on.
    pub(crate) fn next_words(&self) -> Words {
        let next = self.words.len() as u32;
        Words { start: next, end: next, from: self.at }
    }

    /// The same, with all that were added since.
    pub(crate) fn since(&self, words: Words) -> Words {
        Words { end: self.words.len() as u32, ..words }
    }

    /// Takes away what was added since [`Tree::next_words`] said `words`.
    pub(crate) fn take_back(&mut self, words: Words) {
        self.words.truncate(words.start as usize);
        self.odd_words.truncate(self.odd_words.partition_point(|(word, _)| *word < words.start));
        self.far_words.truncate(self.far_words.partition_point(|(word, _)| *word < words.start));
        self.at = words.from;
    }

    /// Takes `length` bytes away from the first word of the first line, which are its start if it stands at the start of the
    /// source. What is left of that line's words.
    pub(crate) fn cut_first_word(&mut self, words: Words, length: u32) -> Words {
        let Some(Word { span, .. }) = self.words(words).next() else { return words };
        let Some(first) = self.words.first_mut().filter(|_| span.start == 0) else { return words };
        if span.end <= length {
            return Words { start: words.start + 1, from: span.end, ..words };
        }
        let cut = Span::new(length, span.end);
        *first = Packed::new(cut, words.from).unwrap_or(FAR);
        self.far_words.retain(|(word, _)| *word != 0);
        if *first == FAR {
            self.far_words.insert(0, (0, cut));
        }
        words
    }

    /// Puts a line behind the others. Its words are the last ones.
    pub(crate) fn add_line(&mut self, line: Line) {
        let word = match line.kind {
            LineKind::Directive(words) | LineKind::Bad(_, words) => words.start,
            LineKind::Blank | LineKind::Comment | LineKind::Indented => self.words.len() as u32,
        };
        self.lines.push(Start { byte: line.span.start, word });
        self.lengthen(line.span.end);
        if !matches!(line.kind, LineKind::Directive(_)) {
            self.odd_lines.push((self.lines.len() as u32 - 1, line.kind));
        }
    }

    /// The last line and its index.
    pub(crate) fn last_line(&self) -> Option<(usize, Line)> {
        let index = self.lines.len().checked_sub(1)?;
        Some((index, self.line(index)?))
    }

    /// Makes the last line longer.
    pub(crate) fn lengthen(&mut self, end: u32) {
        self.end = end;
        self.at = end;
    }

    /// Makes a line another kind.
    pub(crate) fn set_kind(&mut self, index: usize, kind: LineKind) {
        let index = index as u32;
        match self.odd_lines.binary_search_by_key(&index, |(line, _)| *line) {
            Ok(at) => {
                if let Some((_, known)) = self.odd_lines.get_mut(at) {
                    *known = kind;
                }
            }
            Err(at) => self.odd_lines.insert(at, (index, kind)),
        }
    }
}

/// What is noted of an index, in the order of indexes.
fn aside<T: Copy>(notes: &[(u32, T)], index: u32) -> Option<T> {
    let at = notes.binary_search_by_key(&index, |(index, _)| *index).ok()?;
    notes.get(at).map(|(_, note)| *note)
}

impl Words {
    /// How many there are.
    #[must_use]
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end == self.start
    }
}

impl Word {
    /// The word's value: quotes removed, `""` inside a quotation read as one `"`.
    /// For a splice, what stands before the `$`.
    #[must_use]
    pub fn value<'a>(&self, source: &'a [u8]) -> Cow<'a, [u8]> {
        match self.shape {
            WordShape::Plain => Cow::Borrowed(self.span.of(source)),
            WordShape::Quoted => Cow::Owned(unquote_word(self.span.of(source))),
            WordShape::Splice { dollar } => {
                Cow::Owned(unquote_word(Span::new(self.span.start, dollar).of(source)))
            }
        }
    }

    /// For a splice: the path of the file whose words stand here. Of several unquoted `$` the last one counts.
    #[must_use]
    pub fn spliced_path(&self, source: &[u8]) -> Option<Vec<u8>> {
        match self.shape {
            WordShape::Plain | WordShape::Quoted => None,
            WordShape::Splice { dollar } => {
                let written = Span::new(dollar, self.span.end).of(source);
                let at = last_dollar(written).map_or(0, |at| at + 1);
                Some(unquote(written.get(at..).unwrap_or_default()))
            }
        }
    }

    /// Where `part`, a byte range of the word's value, stands in the source.
    /// With quotes in the word the parts can't be told apart cheaply: then it is the whole word.
    #[must_use]
    pub fn part(&self, part: Span) -> Span {
        match self.shape {
            WordShape::Plain => Span::new(self.span.start + part.start, self.span.start + part.end),
            WordShape::Quoted | WordShape::Splice { .. } => self.span,
        }
    }
}

/// The last `$` of `written` that stands outside quotation.
fn last_dollar(written: &[u8]) -> Option<usize> {
    let mut quoted = false;
    let mut last = None;
    let mut bytes = written.iter().enumerate().peekable();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let doubled = bytes.next_if(|(_, next)| **next == b'"').is_some();
                quoted = !quoted || doubled;
            }
            b'$' if !quoted => last = Some(at),
            _ => {}
        }
    }
    last
}

/// What stands from the start of a word on, without its quotes. There `""` is an empty quotation, unless a third
/// mark follows: then the second one is literal.
fn unquote_word(written: &[u8]) -> Vec<u8> {
    match written.strip_prefix(b"\"\"") {
        Some(rest) if rest.first() != Some(&b'"') => unquote(rest),
        _ => unquote(written),
    }
}

/// Removes quotes, as 3proxy does: `"` opens and closes a quotation, and `""` is one `"` inside it and, behind the
/// first byte of a word, where one opens.
fn unquote(written: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(written.len());
    let mut quoted = false;
    let mut bytes = written.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'"' {
            value.push(byte);
            continue;
        }
        let doubled = bytes.next_if_eq(&b'"').is_some();
        if doubled {
            value.push(b'"');
        }
        quoted = !quoted || doubled;
    }
    value
}
