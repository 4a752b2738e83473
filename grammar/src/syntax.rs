//! The tree: a file is lines, a directive line is words, a word is pieces.
//!
//! Flat and small: a 100,000-line file has one vector of lines and one of words.
//! Every byte of the source belongs to exactly one line; [`Tree::lines`] laid end to end are the source.
use std::borrow::Cow;

use crate::Span;

/// The lines and words of one source. Holds no text: methods that need it take the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    pub(crate) lines: Vec<Line>,
    pub(crate) words: Vec<Word>,
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
}

/// Why a line can't be split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyntaxError {
    /// A quotation that starts here is not closed in this line.
    UnclosedQuote(Span),
    /// The last word is a `$file` with no white space behind it: the file ends without a line end there.
    UnfinishedSplice(Span),
    /// The line has a NUL byte: 3proxy drops the rest of the line unseen.
    Nul(Span),
    /// The line is longer than 3proxy's buffer, which cuts it in two.
    LineTooLong(Span),
    /// The line has more words than 3proxy has room for.
    TooManyWords(Span),
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
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The words of a line.
    #[must_use]
    pub fn words(&self, words: Words) -> &[Word] {
        self.words.get(words.start as usize..words.end as usize).unwrap_or_default()
    }
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
            WordShape::Quoted => Cow::Owned(unquote(self.span.of(source))),
            WordShape::Splice { dollar } => {
                Cow::Owned(unquote(Span::new(self.span.start, dollar).of(source)))
            }
        }
    }

    /// For a splice: the path of the file whose words stand here.
    #[must_use]
    pub fn spliced_path(&self, source: &[u8]) -> Option<Vec<u8>> {
        match self.shape {
            WordShape::Plain | WordShape::Quoted => None,
            WordShape::Splice { dollar } => Some(unquote(Span::new(dollar + 1, self.span.end).of(source))),
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

/// Removes quotes: each `"` toggles, and `""` inside a quotation is one `"`.
fn unquote(written: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(written.len());
    let mut quoted = false;
    let mut bytes = written.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'"' {
            value.push(byte);
        } else if quoted && bytes.peek() == Some(&b'"') {
            bytes.next();
            value.push(b'"');
        } else {
            quoted = !quoted;
        }
    }
    value
}
