//! Where the secrets of a line stand, so that what is shown of it holds none.
//!
//! Errs on the side of hiding: comments are looked at as if they were commands, a misspelt command as the one that was
//! meant, what could not be split into words is hidden as a whole, and so is what may be a password in a line whose
//! fields are in doubt ([`fields`]).
mod fields;
mod foreign;
mod shape;

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use grammar::{
    directive::{self, Directive, Effect, Kind},
    syntax::{LineKind, Tree, Word, WordShape},
    template::{MarkerKind, Template},
};

use self::shape::{ends_in_type, has_type, of_url, password};
pub(crate) use self::shape::{of_block, of_shape};
use crate::{
    allow,
    program::auth::AuthType,
    sources::{Source, Sources},
};

/// What the words of a text belong to.
#[derive(Clone, Copy, Debug)]
pub enum Script {
    /// Lines with a command each.
    Lines,
    /// Words of this command, brought in by `$file`; `None`: of one that nobody knows.
    Words(Option<&'static Directive>),
    /// The rest of a command with secrets, as whoever ended the line before with a backslash meant it.
    Rest,
}

impl Script {
    /// What `source` is.
    #[must_use]
    pub fn of(sources: &Sources, source: &Source) -> Self {
        let Some(at) = source.included_at else { return Self::Lines };
        if sources.get(at.file).is_none() {
            return Self::Lines;
        }
        match &*sources.command(at) {
            b"include" => Self::Lines,
            command => Self::Words(meant(command)),
        }
    }

    /// What a line is, behind others: `before` are these, the nearest first, without their ends.
    #[must_use]
    pub fn behind<'a>(self, line: &[u8], before: impl Iterator<Item = &'a [u8]>) -> Self {
        if !matches!(self, Self::Lines) {
            return self;
        }
        // A backslash was to continue the line before, or an indent was, if no command stands in the line itself.
        let is_indented = line.first().is_some_and(|first| b" \t".contains(first))
            && directive::find(first_word(line)).is_none();
        let mut before = before.take(MOST_CONTINUED).peekable();
        if before.peek().is_some_and(|head| foreign::is_torn_from(line, head)) {
            return Self::Rest;
        }
        let indented = before.next_if(|head| is_indented && !head.trim_ascii().is_empty());
        let is_continued = |line: &&[u8]| line.trim_ascii_end().ends_with(b"\\");
        let continued = before.take_while(is_continued).last();
        let is_secret = continued.or(indented).is_some_and(|head| {
            let command = first_word(head);
            command == b"log" || meant(command).map_or(continued.is_some(), has_secrets)
        });
        if is_secret { Self::Rest } else { self }
    }

    /// The same for the line that starts at `start` of a text.
    #[must_use]
    pub fn at(self, text: &[u8], start: usize) -> Self {
        let (before, from) = text.split_at_checked(start).unwrap_or((text, &[]));
        let line = from.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let before = before.strip_suffix(b"\n");
        self.behind(line, before.into_iter().flat_map(|before| before.rsplit(|byte| *byte == b'\n')))
    }

    /// Whether `line` can't have a secret, which is seen without reading it.
    #[must_use]
    pub fn is_plain(self, line: &[u8]) -> bool {
        matches!(self, Self::Lines) && is_plain(line)
    }

    /// The secrets in `line`, as byte ranges of it, in order.
    #[must_use]
    pub fn secrets(self, line: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::Lines => of_command(line),
            Self::Rest => foreign::of_rest(line),
            Self::Words(directive) => {
                let tree = grammar::parse_words(line);
                let words = words(&tree);
                let mut secrets = of_arguments(directive, &words, false, line);
                secrets.extend(unsplit(&tree, line).filter(|_| directive.is_none_or(has_secrets)));
                secrets
            }
        }
    }
}

/// The command that is, or was meant to be, called `name`.
fn meant(name: &[u8]) -> Option<&'static Directive> {
    directive::find(name).or_else(|| directive::find(directive::similar(name)?.as_bytes()))
}

fn has_secrets(directive: &Directive) -> bool {
    directive.parameters.iter().any(|parameter| parameter.kind == Kind::Secret)
}

fn words(tree: &Tree) -> Vec<Word> {
    match tree.line(0).map(|line| line.kind) {
        Some(LineKind::Directive(words) | LineKind::Bad(_, words)) => tree.words(words).collect(),
        _ => Vec::new(),
    }
}

/// Whether a line can't have a secret: its command takes none, and nothing in it can begin one.
fn is_plain(line: &[u8]) -> bool {
    // An indented line is none for 3proxy, but was meant as one.
    let text = line.get(foreign::before_command(line)..).unwrap_or_default();
    let mut words = text.split(u8::is_ascii_whitespace);
    let command = words.next().unwrap_or_default();
    line.len() <= SHORT
        && !line.iter().copied().any(begins)
        && !takes_secrets(command)
        && !foreign::is_key(command)
        && !words.any(|word| {
            foreign::is_key(word)
                || word.starts_with(b"-----")
                || directive::find(word).is_some_and(has_secrets)
        })
}

/// Whether a command takes secrets, or may be meant for one that does.
fn takes_secrets(command: &[u8]) -> bool {
    static NAMES: LazyLock<Vec<&str>> =
        LazyLock::new(|| directive::all().filter(|row| has_secrets(row)).map(|row| row.name).collect());
    let is_near =
        || directive::closest(command, NAMES.iter().copied()).is_some() || foreign::names_a_secret(command);
    directive::find(command).map_or_else(is_near, has_secrets)
}

/// The first word, as if no sign of a comment stood before it.
fn first_word(line: &[u8]) -> &[u8] {
    let text = line.get(foreign::before_command(line)..).unwrap_or_default();
    text.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

/// The most lines that are one command.
const MOST_CONTINUED: usize = 64;

/// A shorter line can be split to its end, if no quotes are in it.
const SHORT: usize = 512;

/// Whether a secret, or what hides one, may begin with this byte.
const fn begins(byte: u8) -> bool {
    !byte.is_ascii()
        || matches!(byte, b':' | b'@' | b'"' | b'$' | b'&' | b'\\' | b'{' | b'<' | b'#' | b';' | b'=' | 0)
}

fn of_command(line: &[u8]) -> Vec<Range<usize>> {
    if is_plain(line) { Vec::new() } else { of_split(line) }
}

fn of_split(line: &[u8]) -> Vec<Range<usize>> {
    let line = plain_blanks(without_markers(line));
    // So a command that is commented out or indented is read too; and what stands in a comment for us, behind `cfgc:`.
    let mut skipped = foreign::before_command(&line);
    let is_comment = line.iter().take(skipped).any(|byte| !b" \t".contains(byte));
    if is_comment && line.get(skipped..).unwrap_or_default().starts_with(allow::PREFIX) {
        skipped += allow::PREFIX.len();
        skipped += line.iter().skip(skipped).take_while(|byte| b" \t".contains(byte)).count();
    }
    let line = line.get(skipped..).unwrap_or_default();
    // With its end: a `$file` at the very end of a text would be an unfinished one, and hidden.
    let ended = [line, b"\n"].concat();
    let tree = grammar::parse(&ended);
    let words = words(&tree);
    let secrets = match words.split_first() {
        Some((command, arguments)) => {
            let told = is_comment.then(|| foreign::of_told(command, arguments, line)).flatten();
            with_told(of_words(&tree, command, arguments, is_comment, line), told)
        }
        None => unsplit(&tree, line).into_iter().collect(),
    };
    secrets.into_iter().map(|range| range.start + skipped..range.end + skipped).collect()
}

/// Secrets, and all from where the words of a comment say that one begins.
fn with_told(mut secrets: Vec<Range<usize>>, told: Option<Range<usize>>) -> Vec<Range<usize>> {
    let Some(told) = told else { return secrets };
    let met = secrets.iter().find(|secret| secret.start < told.start && told.start < secret.end);
    let start = met.map_or(told.start, |secret| secret.start);
    secrets.retain(|secret| secret.end <= start);
    secrets.push(start..told.end);
    secrets
}

/// The secrets of a line that is split, or was up to a place.
fn of_words(
    tree: &Tree,
    command: &Word,
    arguments: &[Word],
    is_comment: bool,
    line: &[u8],
) -> Vec<Range<usize>> {
    let directive = meant(&command.value(line));
    let written = command.span.of(line);
    if let Some(start) = of_block(line) {
        return Some(start..line.trim_ascii_end().len()).into_iter().collect();
    }
    if directive.is_none() && foreign::is_key(written) {
        return foreign::of_rest(line);
    }
    let is_account = has_type(written) && !ends_in_type(written);
    let is_foreign =
        foreign::names_a_secret(written) || !is_account && foreign::has_fields(written, arguments, line);
    if directive.is_none() && !is_comment && is_foreign {
        return foreign::of_foreign(command, line);
    }
    // An account that stands where a command should: the rest of a `users` line, or an included file of passwords.
    let account = if directive.is_none() { of_account(command, line) } else { None };
    let shape = account.or_else(|| shifted(of_shape(written)?, command));
    let mut secrets: Vec<_> = shape.or_else(|| foreign::of_key(command, line)).into_iter().collect();
    if let Some(more) = foreign::of_log(directive, arguments, line) {
        secrets.extend(more);
        return secrets;
    }
    if let Some((row, at)) = second(directive, arguments, line) {
        let (own, its) = arguments.split_at(at);
        secrets.extend(of_arguments(directive, own, true, line));
        secrets.extend(of_arguments(Some(row), its, true, line));
    } else {
        secrets.extend(of_arguments(directive, arguments, true, line));
    }
    let may_hide = |range: &Range<usize>| {
        let rest = line.get(range.clone()).unwrap_or_default();
        directive.is_none_or(has_secrets) || rest.iter().any(|byte| b"@&".contains(byte)) || has_type(rest)
    };
    secrets.extend(unsplit(tree, line).filter(may_hide));
    secrets
}

/// A command with secrets that stands behind another one's words in the same line, and where its own begin.
fn second(
    directive: Option<&Directive>,
    arguments: &[Word],
    line: &[u8],
) -> Option<(&'static Directive, usize)> {
    let first = directive.filter(|row| !has_secrets(row))?;
    let named = arguments.iter().zip(1..).find_map(|(word, behind)| {
        Some((directive::find(word.span.of(line)).filter(|row| has_secrets(row))?, behind))
    });
    // `radius` is a type of authentication as well, and a place for records.
    let is_type = |word: &Word| AuthType::ALL.iter().any(|kind| kind.name().as_bytes() == word.span.of(line));
    named.filter(|(row, behind)| {
        let rest = arguments.get(*behind..).unwrap_or_default();
        !(row.name == "radius" && (first.name == "log" || rest.iter().all(is_type)))
    })
}

/// A line in which the blanks of a word processor are plain ones, as they were meant.
fn plain_blanks(line: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    const BLANKS: [&str; 6] = ["\u{a0}", "\u{2002}", "\u{2003}", "\u{2009}", "\u{202f}", "\u{3000}"];
    if line.is_ascii() {
        return line;
    }
    let mut plain = line.into_owned();
    for blank in BLANKS.map(str::as_bytes) {
        let mut from = 0;
        let next = |plain: &[u8], from: usize| {
            plain.get(from..)?.windows(blank.len()).position(|part| part == blank).map(|at| from + at)
        };
        while let Some(at) = next(&plain, from) {
            from = at + blank.len();
            plain.get_mut(at..from).unwrap_or_default().fill(b' ');
        }
    }
    Cow::Owned(plain)
}

/// A line in which each marker of a template is a number as long as it is: it stands for a word, or for part of one. Those that only
/// decide about lines are blanks.
fn without_markers(line: &[u8]) -> Cow<'_, [u8]> {
    if !line.iter().any(|byte| b"{<@".contains(byte)) {
        return Cow::Borrowed(line);
    }
    let mut masked = line.to_vec();
    for marker in Template::Yes.markers(line).iter().filter(|marker| marker.certain) {
        let filling = if marker.kind == MarkerKind::Value { b'1' } else { b' ' };
        masked.get_mut(marker.span.range()).unwrap_or_default().fill(filling);
    }
    Cow::Owned(masked)
}

/// The secrets in what stands behind a command; `whole`: and nothing of it stands elsewhere.
fn of_arguments(
    directive: Option<&Directive>,
    arguments: &[Word],
    whole: bool,
    line: &[u8],
) -> Vec<Range<usize>> {
    let hidden = match directive.map(|row| row.name) {
        Some("parent") => fields::of_parent(arguments, whole, line),
        Some("radius") => fields::of_radius(arguments, whole, line),
        _ => Vec::new(),
    };
    let mut typed = false;
    let mut secrets = Vec::new();
    for (index, word) in arguments.iter().enumerate() {
        let behind_type = std::mem::replace(&mut typed, ends_in_type(word.span.of(line)));
        let is_hidden = hidden.get(index).copied().unwrap_or(false) && !is_path(word, line)
            || behind_type && !has_type(word.span.of(line));
        let secret =
            if is_hidden { inside_quotes(word, line) } else { of_word(directive, index, word, line) };
        let secret = secret.or_else(|| foreign::of_key(word, line)).or_else(|| foreign::of_named(word, line));
        let may_be_account = !is_hidden && !typed && word.span.of(line).contains(&b':');
        let mut accounts =
            if may_be_account { of_accounts(directive, index, word, line) } else { Vec::new() };
        if let (Some(secret), Some((first, last))) = (&secret, accounts.first().zip(accounts.last())) {
            // With both, all from the first to the last.
            let all = first.start.min(secret.start)..last.end.max(secret.end);
            accounts = Some(all).into_iter().collect();
        }
        if accounts.is_empty() {
            secrets.extend(secret);
        } else {
            secrets.append(&mut accounts);
        }
    }
    secrets
}

/// The passwords of accounts without a type, where none should stand.
fn of_accounts(directive: Option<&Directive>, index: usize, word: &Word, line: &[u8]) -> Vec<Range<usize>> {
    let name = directive.map_or("", |row| row.name);
    let kind = directive.and_then(|row| row.parameter(index)).map(|parameter| parameter.kind);
    let written = word.span.of(line);
    let bare = written.strip_prefix(b"\"").unwrap_or(written);
    let is_no_option = || bare.first().is_some_and(|first| !b"-/".contains(first));
    let found = match kind {
        _ if has_type(written) => Vec::new(),
        Some(Kind::Users) => shape::of_accounts(written, shape::is_user_with_more),
        Some(Kind::Word) if !ACCOUNT_WORDS.contains(&name) || name == "plugin" && index < 2 => Vec::new(),
        Some(Kind::Path | Kind::Secret) => Vec::new(),
        None if !directive.is_some_and(|row| row.effect == Effect::Service) || !is_no_option() => Vec::new(),
        _ => shape::of_accounts(written, shape::is_account),
    };
    found.into_iter().filter_map(|range| shifted(range, word)).collect()
}

/// Commands with words that have a colon of their own only where it is seen.
const ACCOUNT_WORDS: [&str; 5] = ["nserver", "authnserver", "setuid", "setgid", "plugin"];

/// What stands behind the words of a line that could not be split to its end.
fn unsplit(tree: &Tree, line: &[u8]) -> Option<Range<usize>> {
    let LineKind::Bad(..) = tree.line(0)?.kind else { return None };
    let split = words(tree).last().map_or(0, |word| word.span.end as usize);
    let rest = line.get(split..)?;
    let blank = rest.len() - rest.trim_ascii_start().len();
    (blank < rest.len()).then(|| split + blank..split + rest.trim_ascii_end().len())
}

/// Whether a word is a `$file` with a path that no password is likely to be.
fn is_path(word: &Word, line: &[u8]) -> bool {
    let written = word.span.of(line);
    let dollars = written.iter().filter(|byte| **byte == b'$').count();
    matches!(word.shape, WordShape::Splice { dollar } if dollar == word.span.start)
        && dollars == 1
        && written.contains(&b'/')
}

/// The secret in the argument at `index` of `directive`.
fn of_word(directive: Option<&Directive>, index: usize, word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let name = directive.map_or("", |row| row.name);
    let kind = directive.and_then(|row| row.parameter(index)).map(|parameter| parameter.kind);
    // A `$file` alone is a path. With anything else, or where one password stands, it may be a password with a `$` in it.
    let dollars = written.iter().filter(|byte| **byte == b'$').count();
    let is_no_path = !written.contains(&b'/') && (name != "users" || index > 0 && !written.contains(&b'.'));
    let one_password = kind == Some(Kind::Secret) && is_no_path;
    if matches!(word.shape, WordShape::Splice { dollar } if dollar == word.span.start)
        && dollars == 1
        && !one_password
        && !has_type(written)
        && of_url(written).is_none()
    {
        return None;
    }
    let quote = usize::from(written.first() == Some(&b'"'));
    let from = match kind {
        _ if has_type(written) => password(written)?,
        Some(Kind::Secret) if name == "users" => password(written).unwrap_or(quote),
        // Its fields have been looked at together.
        Some(Kind::Secret) => return None,
        _ => return of_address(name, word, line),
    };
    behind(from, word, line)
}

/// What stands in a word from `from` on; its quotes are shown if both are.
fn behind(from: usize, word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let quote = usize::from(written.first() == Some(&b'"'));
    // The password alone may be in quotes; one that opens within it is hidden, and so is the one that closes it.
    let own = written.get(from) == Some(&b'"');
    let from = from + usize::from(own);
    let closed = from < written.len() && written.ends_with(b"\"") && (quote == 1 || own);
    shifted(from..written.len() - usize::from(closed), word)
}

/// The whole of a word, but its quotes.
fn inside_quotes(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    behind(0, word, line)
}

/// A range of a word as one of its line; `None`: it is empty.
fn shifted(range: Range<usize>, word: &Word) -> Option<Range<usize>> {
    let start = word.span.start as usize;
    (range.start < range.end).then(|| start + range.start..start + range.end)
}

/// What stands before the `@` of an address that is written as in a URL, `NAME:PASSWORD@HOST`.
fn of_address(name: &str, word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    if let Some(range) = of_url(written) {
        return shifted(range, word);
    }
    let at = written.iter().rposition(|byte| *byte == b'@')?;
    let from = usize::from(written.first() == Some(&b'"'));
    // In a log format both are usual.
    let named = name != "logformat" && written.get(from..at)?.contains(&b':');
    named.then(|| shifted(from..at, word)).flatten()
}

/// The password of a word that is an account: what stands behind its first colon.
fn of_account(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    shifted(password(written)?..written.len(), word)
}

#[cfg(test)]
mod tests;
