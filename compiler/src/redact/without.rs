//! A text without a secret, or without the parts of it that it has.
use std::borrow::Cow;

use super::{DISTINCT, PART, STARS};

/// So much of a secret is looked for at an end of a citation.
const LONGEST_END: usize = 256;
/// So many pairs of bytes of a citation and a secret are compared; what is longer is not cited.
const MOST_COMPARED: usize = 1 << 20;

/// A text with stars for a secret, whatever its case.
pub(super) fn without<'a>(text: Cow<'a, str>, secret: &str) -> Cow<'a, str> {
    let mut rest = &*text;
    let mut shown = String::new();
    while let Some(at) = find(rest, secret) {
        let Some((before, behind)) = rest.get(..at).zip(rest.get(at + secret.len()..)) else { break };
        shown.push_str(before);
        shown.push_str(STARS);
        rest = behind;
    }
    if shown.is_empty() {
        return text;
    }
    shown.push_str(rest);
    Cow::Owned(shown)
}

/// A citation without long parts of a secret: a rule may cite an element of a list, and a secret may have commas.
pub(super) fn without_parts<'a>(text: Cow<'a, str>, secret: &str) -> Cow<'a, str> {
    let (bytes, secret) = (text.as_bytes(), secret.as_bytes());
    if bytes.len().min(secret.len()) < DISTINCT {
        return text;
    }
    if bytes.len() * secret.len() > MOST_COMPARED {
        return Cow::Borrowed(STARS);
    }
    let common = |from: &[u8]| {
        let starts = (0..secret.len()).filter_map(|at| secret.get(at..));
        let same = |other: &[u8]| {
            from.iter().zip(other).take_while(|(one, other)| one.eq_ignore_ascii_case(other)).count()
        };
        starts.map(same).max().unwrap_or_default()
    };
    let mut shown: Vec<u8> = Vec::new();
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        let length = common(rest);
        if length < DISTINCT {
            shown.push(*first);
            rest = behind;
        } else {
            shown.extend_from_slice(STARS.as_bytes());
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    if shown == bytes { text } else { Cow::Owned(String::from_utf8_lossy(&shown).into_owned()) }
}

/// A citation without the end of a secret at its start, and without the start of one at its end: it is a part of the line that
/// begins or ends in the middle of a secret.
pub(super) fn without_ends<'a>(text: Cow<'a, str>, secret: &str) -> Cow<'a, str> {
    let lengths = || (PART..secret.len().min(text.len()).min(LONGEST_END)).rev();
    let same = |one: Option<&str>, other: Option<&str>| {
        one.zip(other).is_some_and(|(one, other)| one.eq_ignore_ascii_case(other))
    };
    let start = lengths().find(|length| same(text.get(..*length), secret.get(secret.len() - length..)));
    if let Some(rest) = start.and_then(|length| text.get(length..)) {
        return Cow::Owned(format!("{STARS}{rest}"));
    }
    let end = lengths().find(|length| same(text.get(text.len() - length..), secret.get(..*length)));
    match end.and_then(|length| text.get(..text.len() - length)) {
        Some(rest) => Cow::Owned(format!("{rest}{STARS}")),
        None => text,
    }
}

/// Where `part` stands in `text`, whatever the case of its letters.
pub(super) fn find(text: &str, part: &str) -> Option<usize> {
    let part = part.as_bytes();
    if part.is_empty() {
        return None;
    }
    text.as_bytes().windows(part.len()).position(|window| window.eq_ignore_ascii_case(part))
}
