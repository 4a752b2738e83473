//! What keeps a line from being split into words.
use grammar::{Span, directive, syntax::SyntaxError};

use super::Lowering;
use crate::{
    lints::{bom, line_too_long, nul_byte, too_many_words, unclosed_quote, unfinished_splice},
    sources::{FileId, Loc},
};

/// As many bytes of a line as 3proxy takes at once.
const LONGEST_LINE: usize = 65_534;

impl Lowering<'_> {
    /// Reports `fault`, in the file whose text is given.
    pub(super) fn fault(&mut self, file: FileId, text: &[u8], fault: SyntaxError) {
        let at = |span| Loc { file, span };
        self.report(match fault {
            SyntaxError::UnclosedQuote(span) => unclosed_quote::finding(at(span)),
            SyntaxError::UnfinishedSplice(span) => unfinished_splice::finding(at(span)),
            SyntaxError::Nul(span) => nul_byte::finding(at(span)),
            SyntaxError::LineTooLong(span) => {
                line_too_long::finding(at(span), rest_is_refused(span.of(text)))
            }
            SyntaxError::TooManyWords(span) => too_many_words::finding(at(span)),
            SyntaxError::ByteOrderMark(span) => bom::finding(at(span)),
        });
    }
}

/// Whether 3proxy, which runs what is behind its limit as lines of their own, finds no command there.
fn rest_is_refused(rest: &[u8]) -> bool {
    rest.chunks(LONGEST_LINE).any(|line| {
        let skipped = line.first().is_none_or(|byte| byte.is_ascii_whitespace() || *byte == b'#');
        let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
        !skipped && directive::find(Span::new(0, end as u32).of(line)).is_none()
    })
}
