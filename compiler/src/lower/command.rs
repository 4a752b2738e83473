//! One line, split into the words that 3proxy sees: quotes removed, `$file`s replaced by their words.
use std::{borrow::Cow, path::PathBuf, sync::Arc};

use grammar::{
    MOST_WORDS, Span, Text,
    directive::{self, Directive, Kind},
    syntax::{LineKind, SyntaxError, Tree, Word, WordShape, Words},
};

use super::{Lowering, More};
use crate::{
    lints,
    sources::{self, FileId, Loc, Source},
};

/// A line that is about to be run.
pub(crate) struct Command<'t> {
    /// From its first to behind its last word.
    pub(crate) at: Loc,
    /// The command.
    pub(crate) name: Arg<'t>,
    /// Its arguments.
    pub(crate) arguments: Vec<Arg<'t>>,
}

/// A word, as 3proxy sees it.
#[derive(Clone, Debug)]
pub(crate) struct Arg<'t> {
    /// Its bytes.
    pub(crate) value: Cow<'t, [u8]>,
    /// Where it is written.
    pub(crate) at: Loc,
    /// Where its value starts in the source, if it stands there as it is: then parts of it can be pointed at.
    pub(super) value_start: Option<u32>,
}

/// A word with an unquoted `$`.
#[derive(Clone, Copy)]
struct Splice {
    at: Loc,
    /// Offset of the `$` in the source.
    dollar: u32,
}

impl<'t> Arg<'t> {
    /// An option with the value that stands behind it, at the place of the option.
    pub(super) fn joined(flag: &Arg<'_>, value: &Arg<'_>) -> Arg<'t> {
        Arg { value: [&*flag.value, &*value.value].concat().into(), at: flag.at, value_start: None }
    }

    /// What is meant by a word, in its place.
    pub(crate) fn instead(word: &Arg<'_>, meant: String) -> Arg<'t> {
        Arg { value: meant.into_bytes().into(), at: word.at, value_start: None }
    }
}

impl Arg<'_> {
    /// The word as text.
    pub(crate) fn text(&self) -> Text {
        Text::from(self.value.as_ref())
    }

    /// Where a part of the value is written: the whole word if it has quotes within.
    pub(crate) fn part(&self, part: Span) -> Loc {
        let span = self.value_start.map_or(self.at.span, |start| part.shifted(start));
        Loc { file: self.at.file, span }
    }

    /// Whether it is written without quotes and `$file`s.
    pub(super) fn is_plain(&self) -> bool {
        self.value_start == Some(self.at.span.start)
    }
}

impl<'t> Command<'t> {
    /// What is meant by `NAME = VALUE`, as other programs want it.
    pub(crate) fn unassigned(&self) -> Option<Self> {
        let (sign, values) = self.arguments.split_first()?;
        let is_it = sign.is_plain() && sign.value.as_ref() == b"=" && !values.is_empty();
        is_it.then(|| Self { at: self.at, name: self.name.clone(), arguments: values.to_vec() })
    }
}

impl<'t> Command<'t> {
    /// What is meant by `NAME=VALUE`, where that is a command.
    pub(crate) fn split_at_sign(&self) -> Option<(Self, &'static Directive)> {
        let at = self.name.value.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (self.name.value.get(..at)?, self.name.value.get(at + 1..)?);
        let part = |value: &[u8]| Arg { value: value.to_vec().into(), at: self.name.at, value_start: None };
        let first = (!value.is_empty()).then(|| part(value));
        let arguments: Vec<_> = first.into_iter().chain(self.arguments.iter().cloned()).collect();
        let row = directive::find(name).filter(|row| row.arguments.takes(arguments.len()))?;
        Some((Self { at: self.at, name: part(name), arguments }, row))
    }
}

impl Command<'_> {
    /// Whether it is the `end` of its file. With arguments it is a command that nobody knows.
    pub(super) fn is_end(&self) -> bool {
        self.name.value.as_ref() == b"end" && self.arguments.is_empty()
    }

    /// An argument, counted from 0.
    pub(crate) fn argument(&self, index: usize) -> Option<&Arg<'_>> {
        self.arguments.get(index)
    }

    /// The arguments from `index` on.
    pub(crate) fn arguments_from(&self, index: usize) -> &[Arg<'_>] {
        self.arguments.get(index..).unwrap_or_default()
    }

    /// How many arguments 3proxy finds: to an empty pair of quotes it glues what follows.
    pub(super) fn as_glued(&self) -> usize {
        let before_last = self.arguments.split_last().map_or(&[][..], |(_, others)| others);
        let empty = |word: &&Arg<'_>| word.value.is_empty() && !word.is_plain();
        self.arguments.len() - before_last.iter().filter(empty).count()
    }

    /// The command's name, for messages.
    pub(crate) fn name(&self) -> Text {
        self.name.text()
    }
}

impl Lowering<'_> {
    /// Splits a line. `None`: it has no word, or 3proxy refuses it; then that is reported.
    pub(super) fn command<'t>(
        &mut self,
        file: FileId,
        text: &'t [u8],
        tree: &Tree,
        words: Words,
    ) -> Option<Command<'t>> {
        let (first, last) = (tree.words(words).next()?, tree.words(words).last()?);
        let at = Loc { file, span: first.span.to(last.span) };
        let mut split: Vec<Arg<'t>> = Vec::with_capacity(words.len());
        let mut whole = true;
        for word in tree.words(words) {
            let at = Loc { file, span: word.span };
            let value = word.value(text);
            let value_start = value_start(&word, &value, text);
            match (word.shape, word.spliced_path(text)) {
                (WordShape::Splice { dollar }, Some(path)) => {
                    whole &= self.splice(&mut split, &value, &path, Splice { at, dollar });
                }
                _ => split.push(Arg { value, at, value_start }),
            }
        }
        if split.len() > MOST_WORDS {
            self.report(lints::too_many_words::finding(at, SyntaxError::TooManyWords(at.span).message()));
            split.truncate(MOST_WORDS);
        }
        let mut split = split.into_iter();
        let name = split.next()?;
        // Of a password list the rest still counts; any other command would mean something else without the file.
        (whole || name.value.as_ref() == b"users").then(|| Command { at, name, arguments: split.collect() })
    }

    /// Puts the words of the file at `path` behind `split`, `glued` in front of the first. False: it can't be read.
    fn splice(&mut self, split: &mut Vec<Arg<'_>>, glued: &[u8], path: &[u8], of: Splice) -> bool {
        let at = of.at;
        if self.included.full {
            return false;
        }
        let Some(file) = self.spliced_file(split, glued, path, of) else { return false };
        let Some((text, tree)) =
            self.sources.get(file).map(|list| (Arc::clone(&list.text), Arc::clone(&list.tree)))
        else {
            return false;
        };
        let line = tree.line(0).map(|line| line.kind);
        let words = match line {
            Some(LineKind::Directive(words) | LineKind::Bad(_, words)) => words,
            _ => Words::default(),
        };
        if !self.takes(More::List { bytes: text.len(), words: words.len() }, at) {
            return false;
        }
        if let Some(LineKind::Bad(fault, _)) = line {
            self.fault(file, &text, fault);
            if matches!(fault, SyntaxError::UnclosedQuote(_)) {
                return false;
            }
        }
        let mut words = tree.words(words).peekable();
        if !glued.is_empty() {
            let joined = words.next_if(|word| word.span.start == 0).map(|word| word.value(&text));
            let value = [glued, joined.as_deref().unwrap_or_default()].concat();
            split.push(Arg { value: value.into(), at, value_start: None });
        }
        split.extend(words.map(|word| Arg {
            value: word.value(&text).into_owned().into(),
            at: Loc { file, span: word.span },
            value_start: value_start(&word, &word.value(&text), &text),
        }));
        true
    }

    /// The file whose words stand behind `split`. `None`: it can't be read, and that is reported.
    fn spliced_file(&mut self, split: &[Arg<'_>], glued: &[u8], path: &[u8], of: Splice) -> Option<FileId> {
        let named = PathBuf::from(Text::from(path).to_string());
        let found = self.found_at(&named);
        let error = match self.list(found.clone(), of.at) {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        self.program.history.unread.push(of.at);
        // 3proxy looks for the last part of a hash, which may hold a `/`.
        let written = Span::new(of.dollar + 1, of.at.span.end.max(of.dollar + 1));
        let written = self.sources.text(Loc { file: of.at.file, span: written });
        self.report(if is_password(split, glued, path) || is_password(split, glued, written) {
            lints::password_read_as_include::finding(of.at, self.sources.text(of.at), of.dollar)
        } else {
            lints::include_missing::finding(of.at, &named, &found, &error)
        });
        None
    }

    /// The file at `path` as a list of words, brought in at `at`.
    fn list(&mut self, path: PathBuf, at: Loc) -> Result<FileId, String> {
        if let Some(before) = self.lists.get(&path).and_then(|file| self.sources.get(*file)) {
            let again = before.again(at);
            return Ok(self.sources.add(again));
        }
        let text = sources::read(self.files, &path).map_err(|error| error.to_string())?;
        if text.is_empty() {
            return Err("it is empty".to_owned());
        }
        let file = self.sources.add(Source::list(path.clone(), text, at));
        self.lists.insert(path, file);
        Ok(file)
    }
}

/// Where the value of a word starts in the source: at the word, or behind a quote that ends where the word does. `None`: it has other quotes.
fn value_start(word: &Word, value: &[u8], text: &[u8]) -> Option<u32> {
    let inside = Span::new(word.span.start + 1, word.span.end.saturating_sub(1).max(word.span.start + 1));
    match word.shape {
        WordShape::Plain => Some(word.span.start),
        _ => (word.span.len() >= 2 && inside.of(text) == value).then_some(inside.start),
    }
}

/// Whether the word behind `split`, that 3proxy takes for `glued` and a path, was meant as a password.
fn is_password(split: &[Arg<'_>], glued: &[u8], path: &[u8]) -> bool {
    let Some(name) = split.first().map(|name| name.value.as_ref()) else { return false };
    // Where one password stands, as in `parent`. In `users` each word is a user, or a file of users.
    let is_one = name != b"users"
        && directive::find(name)
            .and_then(|row| row.parameter(split.len() - 1))
            .is_some_and(|parameter| parameter.kind == Kind::Secret);
    matches!(name, b"users" | b"radius" | b"parent")
        && lints::password_read_as_include::is_password(glued, path, is_one)
}
