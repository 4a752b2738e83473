//! What keeps a line from being split into words.
use grammar::{LONGEST_LINE, Span, directive, syntax::SyntaxError};

use super::Lowering;
use crate::{
    lints::{bom, line_too_long, nul_byte, too_many_words, unclosed_quote, unfinished_splice},
    sources::{FileId, Loc},
};

impl Lowering<'_> {
    /// Reports `fault`, in the file whose text is given.
    pub(super) fn fault(&mut self, file: FileId, text: &[u8], fault: SyntaxError) {
        let at = Loc { file, span: fault.span() };
        let message = fault.message();
        self.report(match fault {
            SyntaxError::UnclosedQuote(_) => unclosed_quote::finding(at, message),
            SyntaxError::UnfinishedSplice(_) => unfinished_splice::finding(at, message),
            SyntaxError::Nul(_) => nul_byte::finding(at, message),
            SyntaxError::LineTooLong(rest) => {
                line_too_long::finding(at, message, rest_is_refused(rest.of(text)))
            }
            SyntaxError::TooManyWords(_) => too_many_words::finding(at, message),
            SyntaxError::ByteOrderMark(_) => bom::finding(at, message),
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
