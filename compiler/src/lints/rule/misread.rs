//! What 3proxy reads otherwise than it is written, as rules see it.
use std::borrow::Cow;

use crate::{
    fix::{Fix, Safety},
    program::{
        Program,
        trap::{Trap, Trapped},
    },
    sources::{Loc, Sources},
};

/// Misread of a word that 3proxy reads otherwise than it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Misread<'a> {
    /// The texts that it is from.
    pub(crate) sources: &'a Sources,
    /// Where it stands; the whole word if that has quotes.
    pub(crate) at: Loc,
    /// What stands there.
    pub(crate) text: &'a [u8],
    /// The whole word, as written.
    pub(crate) word: &'a [u8],
    /// Where that stands.
    pub(crate) whole: Loc,
}

impl<'a> Misread<'a> {
    /// Where `trapped` is.
    pub(super) fn of(sources: &'a Sources, trapped: &Trapped) -> Self {
        let Trapped { at, word, .. } = *trapped;
        Misread { sources, at, text: sources.text(at), word: sources.text(word), whole: word }
    }

    /// The text as a message cites it.
    pub(crate) fn cited(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.text)
    }

    /// The word without its quotes.
    pub(crate) fn unquoted(&self) -> Cow<'a, [u8]> {
        if self.word.contains(&b'"') {
            self.word.iter().copied().filter(|byte| *byte != b'"').collect()
        } else {
            Cow::Borrowed(self.word)
        }
    }

    /// The repair that writes `text` instead. `None` where quotes or a `$file` hide what stands in the source.
    pub(crate) fn replaced(
        &self,
        title: impl Into<Cow<'static, str>>,
        safety: Safety,
        text: impl Into<String>,
    ) -> Option<Fix> {
        let as_written = |byte: &u8| *byte != b'"' && *byte != b'$';
        self.text.iter().all(as_written).then(|| Fix::replace(title, safety, self.at, text))
    }
}

/// All such parts of a configuration, each with what happens to it.
pub(super) fn all<'a>(
    sources: &'a Sources,
    program: &'a Program,
) -> impl Iterator<Item = (Misread<'a>, Trap)> + use<'a> {
    program.traps.iter().map(move |trapped| (Misread::of(sources, trapped), trapped.trap))
}
