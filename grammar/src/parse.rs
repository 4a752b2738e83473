//! Text to tree.
use crate::{
    Span,
    syntax::{Line, LineKind, Tree, Word, WordShape, Words},
};

/// Reads a configuration. Never fails: what can't be read is in the tree as [`LineKind::Bad`].
#[must_use]
pub fn parse(source: &[u8]) -> Tree {
    let mut tree = Tree::default();
    let mut start = 0_u32;
    for text in source.split_inclusive(|byte| *byte == b'\n') {
        let end = start + u32::try_from(text.len()).unwrap_or_default();
        let first = tree.words.len() as u32;
        let kind = match text.first() {
            Some(b'#') => LineKind::Comment,
            Some(byte) if byte.is_ascii_whitespace() => {
                if text.iter().all(u8::is_ascii_whitespace) {
                    LineKind::Blank
                } else {
                    LineKind::Indented
                }
            }
            _ => {
                let mut at = start;
                for word in text.split_inclusive(u8::is_ascii_whitespace) {
                    let trimmed = word.trim_ascii_end().len() as u32;
                    if trimmed > 0 {
                        tree.words.push(Word { span: Span::new(at, at + trimmed), shape: WordShape::Plain });
                    }
                    at += word.len() as u32;
                }
                LineKind::Directive(Words { start: first, end: tree.words.len() as u32 })
            }
        };
        tree.lines.push(Line { span: Span::new(start, end), kind });
        start = end;
    }
    tree
}
