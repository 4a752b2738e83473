//! Where the privileges of root are given up.
use super::rule::Lint;
use crate::{program::Executed, sources::Loc};

/// Whether a command changes the user: `setuid`, or `chroot` with a user.
pub(super) fn gives_up(lint: &Lint<'_>, ran: &Executed) -> bool {
    match ran.row.name {
        "setuid" => true,
        "chroot" => argument(lint, ran, 1).is_some(),
        _ => false,
    }
}

/// An argument of a command as it is written, counted from 0.
pub(super) fn argument<'a>(lint: &Lint<'a>, ran: &Executed, index: usize) -> Option<&'a [u8]> {
    let span = lint.sources.words(ran.at).get(1 + index)?.span;
    Some(lint.sources.text(Loc { file: ran.at.file, span }))
}
