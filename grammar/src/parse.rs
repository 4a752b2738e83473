//! Text to tree: the only module that sees the grammar's rules.
//!
//! The source is parsed in chunks that end at line ends, so that the parser's own memory stays small however
//! long the file is; [`Tree`] is all that grows.
use std::borrow::Cow;

use pest::{Parser, iterators::Pair};
use pest_derive::Parser;

use crate::{
    Span,
    syntax::{Line, LineKind, SyntaxError, Tree, Word, WordShape, Words},
};

#[derive(Parser)]
#[grammar = "line.pest"]
struct LineParser;

/// As many bytes of a line, its line feed included, as 3proxy's `fgets` takes at once (`STRINGBUF` − 1).
pub const LONGEST_LINE: usize = 65_534;
/// As many words, the command included, as 3proxy splits properly (`NPARAMS` − 2): the next one takes the rest of the line.
pub const MOST_WORDS: usize = 4_094;
/// A byte order mark in UTF-8, which 3proxy takes for the start of the first command's name.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a configuration. Never fails: what can't be read is in the tree as [`LineKind::Bad`].
///
/// A source of 4 GiB or more, whose offsets no [`Span`] can hold, is read up to there; callers refuse it before.
#[must_use]
pub fn parse(source: &[u8]) -> Tree {
    let source = addressable(source);
    let mut builder = Builder { source, tree: Tree::default() };
    let mut start = 0;
    while start < source.len() {
        start = builder.chunk(start);
    }
    builder.mark_byte_order();
    builder.tree
}

/// Reads the inside of a `$file`: words only, line ends are white space, `$` is an ordinary byte.
///
/// The tree has one line, [`LineKind::Directive`] or [`LineKind::Bad`], or none if the file is empty.
#[must_use]
pub fn parse_words(source: &[u8]) -> Tree {
    let source = addressable(source);
    let mut builder = Builder { source, tree: Tree::default() };
    let all = builder.tree.next_words();
    let mut fault = None;
    let (mut start, mut size) = (0, LONGEST_LINE);
    while start < source.len() && fault.is_none() {
        let end = chunk_end(source, start, size);
        let words = builder.tree.next_words();
        fault = builder.list(start, end);
        if matches!(fault, Some(SyntaxError::UnclosedQuote(_))) && end < source.len() {
            // The quotation may go on behind the cut. Doubling keeps the whole linear.
            builder.tree.take_back(words);
            (fault, size) = (None, size.saturating_mul(2));
        } else {
            (start, size) = (end, LONGEST_LINE);
        }
    }
    if !source.is_empty() {
        let words = builder.tree.since(all);
        let kind = fault.map_or(LineKind::Directive(words), |fault| LineKind::Bad(fault, words));
        builder.tree.add_line(Line { span: Span::new(0, offset(source.len())), kind });
    }
    builder.tree
}

/// As much of `source` as spans can address.
fn addressable(source: &[u8]) -> &[u8] {
    source.get(..u32::MAX as usize).unwrap_or(source)
}

/// A byte offset; sources are [`addressable`], so nothing is lost.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Behind the last line end within `size` bytes from `start`; with none, behind the next one.
fn chunk_end(source: &[u8], start: usize, size: usize) -> usize {
    let Some(window) = source.get(start..start.saturating_add(size)) else { return source.len() };
    if let Some(at) = window.iter().rposition(|byte| *byte == b'\n') {
        return start + at + 1;
    }
    let behind = start + size;
    let rest = source.get(behind..).unwrap_or_default();
    rest.iter().position(|byte| *byte == b'\n').map_or(source.len(), |at| behind + at + 1)
}

/// The same text in ASCII, byte for byte: to the grammar all other bytes are alike.
fn ascii(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => Cow::Owned(
            text.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { 'x' }).collect(),
        ),
    }
}

struct Builder<'a> {
    source: &'a [u8],
    tree: Tree,
}

impl Builder<'_> {
    /// Reads lines from `start` on and returns where they end.
    fn chunk(&mut self, start: usize) -> usize {
        let end = chunk_end(self.source, start, LONGEST_LINE);
        let readable = end.min(start + LONGEST_LINE);
        let text = ascii(self.source.get(start..readable).unwrap_or_default());
        for pair in LineParser::parse(Rule::chunk, &text).into_iter().flatten().flat_map(Pair::into_inner) {
            self.line(pair, offset(start));
        }
        // Only a line that is longer than a chunk ends outside it.
        if readable < end {
            self.lengthen(Span::new(offset(readable), offset(end)));
        }
        end
    }

    /// Adds `rest`, which is behind 3proxy's limit, to the last line.
    fn lengthen(&mut self, rest: Span) {
        let Some((index, line)) = self.tree.last_line() else { return };
        self.tree.lengthen(rest.end);
        let words = match line.kind {
            LineKind::Directive(words) | LineKind::Bad(_, words) => words,
            LineKind::Blank if rest.of(self.source).iter().all(|byte| b" \t\r\n\x0b\x0c".contains(byte)) => {
                return;
            }
            LineKind::Blank | LineKind::Comment | LineKind::Indented => Words::default(),
        };
        self.tree.set_kind(index, LineKind::Bad(SyntaxError::LineTooLong(rest), words));
    }

    /// Adds the line that `pair` holds; `base` is where its text starts in the source.
    fn line(&mut self, pair: Pair<'_, Rule>, base: u32) {
        let span = span(&pair, base);
        let kind = match pair.as_rule() {
            Rule::blank => LineKind::Blank,
            Rule::comment => LineKind::Comment,
            Rule::indented => LineKind::Indented,
            Rule::ordinary | Rule::directive | Rule::bad => self.split(pair, base),
            _ => return,
        };
        self.tree.add_line(Line { span, kind });
    }

    /// Adds the words of a line.
    fn split(&mut self, line: Pair<'_, Rule>, base: u32) -> LineKind {
        let first = self.tree.next_words();
        let mut fault = None;
        for pair in line.into_inner() {
            fault = fault.or(self.word(pair, base));
        }
        let words = self.tree.since(first);
        if words.len() > MOST_WORDS
            && let mut surplus = self.tree.words(words).skip(MOST_WORDS)
            && let Some(from) = surplus.next()
        {
            let to = surplus.last().unwrap_or(from);
            fault = Some(SyntaxError::TooManyWords(from.span.to(to.span)));
        }
        fault.map_or(LineKind::Directive(words), |fault| LineKind::Bad(fault, words))
    }

    /// Adds the words of a part of a `$file`, and returns what is wrong with it.
    fn list(&mut self, start: usize, end: usize) -> Option<SyntaxError> {
        let text = ascii(self.source.get(start..end).unwrap_or_default());
        let pairs = LineParser::parse(Rule::list, &text).into_iter().flatten().flat_map(Pair::into_inner);
        pairs.filter_map(|pair| self.word(pair, offset(start))).next()
    }

    /// Adds the word that `pair` holds, or returns the fault that it is.
    fn word(&mut self, pair: Pair<'_, Rule>, base: u32) -> Option<SyntaxError> {
        let span = span(&pair, base);
        let inner =
            |pair: Pair<'_, Rule>| pair.into_inner().next().map_or(span, |mark| self::span(&mark, base));
        let shape = match pair.as_rule() {
            Rule::name | Rule::argument | Rule::plain | Rule::list_plain => WordShape::Plain,
            Rule::quoted | Rule::list_quoted => WordShape::Quoted,
            Rule::spliced => WordShape::Splice { dollar: inner(pair).start },
            Rule::unclosed | Rule::list_unclosed => return Some(SyntaxError::UnclosedQuote(inner(pair))),
            Rule::unfinished => return Some(SyntaxError::UnfinishedSplice(span)),
            Rule::nul => return Some(SyntaxError::Nul(span)),
            _ => return None,
        };
        self.tree.add_word(Word { span, shape });
        None
    }

    /// Makes the first line bad if a byte order mark hides what it says. Its words are those that it has without the mark: none
    /// where the mark hides a comment or blanks, for which 3proxy skips a line.
    fn mark_byte_order(&mut self) {
        if !self.source.starts_with(BYTE_ORDER_MARK) {
            return;
        }
        let Some(line) = self.tree.line(0) else { return };
        let mark = Span::new(0, offset(BYTE_ORDER_MARK.len()));
        let (LineKind::Directive(words) | LineKind::Bad(_, words)) = line.kind else { return };
        let is_skipped =
            self.source.get(BYTE_ORDER_MARK.len()).is_some_and(|first| b"# \t\r\n\x0b\x0c".contains(first));
        let words = if is_skipped { Words::default() } else { self.tree.cut_first_word(words, mark.end) };
        self.tree.set_kind(0, LineKind::Bad(SyntaxError::ByteOrderMark(mark), words));
    }
}

/// Where a pair stands in the source.
fn span(pair: &Pair<'_, Rule>, base: u32) -> Span {
    let span = pair.as_span();
    Span::new(base + offset(span.start()), base + offset(span.end()))
}

#[cfg(test)]
mod tests;
