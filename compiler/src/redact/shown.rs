//! Words of lines as they may be shown by themselves.
use std::{borrow::Cow, cell::RefCell};

use super::{Hidden, Lines, STARS, of_shape};
use crate::sources::{Loc, Sources};

/// Words as they may be shown where their line is not at hand: not what looks like a password of an account or a URL, nor what a comma
/// in it left of one.
#[must_use]
pub fn shown(words: &[u8]) -> String {
    let words = String::from_utf8_lossy(words);
    let words = of_shape(&words);
    words.split(' ').map(|word| beginning_of_url(end_of_url(word))).collect::<Vec<_>>().join(" ")
}

/// A word without what stands before an `@`, which is in no name and no address.
fn end_of_url(word: &str) -> Cow<'_, str> {
    match word.rsplit_once('@') {
        Some((_, host)) => Cow::Owned(format!("{STARS}@{host}")),
        None => Cow::Borrowed(word),
    }
}

/// A word without what stands behind `SCHEME://NAME:`, unless that is a port.
fn beginning_of_url(word: Cow<'_, str>) -> Cow<'_, str> {
    let Some((scheme, rest)) = word.split_once("://") else { return word };
    match rest.split_once(':') {
        Some((name, secret)) if !secret.bytes().all(|byte| byte.is_ascii_digit()) => {
            Cow::Owned(format!("{scheme}://{name}:{STARS}"))
        }
        _ => word,
    }
}

/// A word of the line in which `at` starts, as it may be shown: not what that line hides.
#[must_use]
pub fn shown_of(sources: &Sources, at: Loc, word: &str) -> String {
    Redactor::of(sources, at).shown(word)
}

/// What words of one line may show: the line is read once, however many they are.
pub struct Redactor(Hidden);

/// Prints no text: it holds passwords.
impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// Of the line in which `at` starts.
    #[must_use]
    pub fn of(sources: &Sources, at: Loc) -> Self {
        Redactors::of(sources).line(at)
    }

    /// A word of it, as it may be shown: not what that line hides.
    pub fn shown(&self, word: &str) -> String {
        self.0.citation(word).into_owned()
    }
}

/// Words of many lines: one that has thousands of them is read once.
pub struct Redactors<'a> {
    sources: &'a Sources,
    lines: RefCell<Lines>,
}

/// Prints no text: it holds passwords.
impl std::fmt::Debug for Redactors<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactors").finish_non_exhaustive()
    }
}

impl<'a> Redactors<'a> {
    /// Of these texts.
    #[must_use]
    pub fn of(sources: &'a Sources) -> Self {
        Self { sources, lines: RefCell::default() }
    }

    /// What words of the line in which `at` starts may show.
    #[must_use]
    pub fn line(&self, at: Loc) -> Redactor {
        let mut hidden = Hidden::default();
        hidden.add(self.sources, at, &mut self.lines.borrow_mut());
        hidden.sort();
        Redactor(hidden)
    }

    /// A word of that line, as it may be shown: not what the line hides.
    #[must_use]
    pub fn shown(&self, at: Loc, word: &str) -> String {
        self.line(at).shown(word)
    }

    /// How many lines have been read.
    #[cfg(test)]
    pub(super) fn read(&self) -> usize {
        self.lines.borrow().read
    }
}
