//! The word of an `authcache` line that names what a client is remembered by.
use grammar::Span;

use crate::{
    fix::{Fix, Safety},
    sources::{Loc, Sources},
};

/// Puts `pass` behind the fields. `None`: quotes or a `$file` hide where they end.
pub(super) fn add_pass(sources: &Sources, fields: Loc) -> Option<Fix> {
    let end = Loc { file: fields.file, span: Span::new(fields.span.end, fields.span.end) };
    let plain = !sources.text(fields).iter().any(|byte| matches!(byte, b'"' | b'$'));
    plain.then(|| Fix::replace("remember the password", Safety::Safe, end, ",pass"))
}
