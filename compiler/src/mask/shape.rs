//! What looks like a secret, whatever command it stands behind.
use std::{net::Ipv6Addr, ops::Range};

use super::{fields, foreign};

/// Where the secret of a part of a line starts and ends, if it looks like an account, a URL, a parameter or a key wherever it stands.
pub(crate) fn of_shape(part: &[u8]) -> Option<Range<usize>> {
    if has_type(part) {
        let start = password(part)?;
        return (start < part.len()).then_some(start..part.len());
    }
    of_url(part).or_else(|| of_parameter(part))
}

/// Where a key begins that stands in the line itself, behind the words that say so.
pub(crate) fn of_block(text: &[u8]) -> Option<usize> {
    let start = text.windows(BLOCK.len()).position(|part| part == BLOCK)? + BLOCK.len();
    (start < text.len()).then_some(start)
}

/// What a key in text form begins with.
const BLOCK: &[u8] = b"-----BEGIN";

/// The values in a word from the first on whose name says that it is secret: `http://h/?token=VALUE`, `&DSN=x;PWD=VALUE`.
pub(super) fn of_parameter(written: &[u8]) -> Option<Range<usize>> {
    let is_named = |at: &usize| {
        let before = written.get(..*at).unwrap_or_default();
        let name = before.rsplit(|byte| !(byte.is_ascii_alphanumeric() || b"_-".contains(byte))).next();
        name.is_some_and(foreign::names_a_parameter)
    };
    let mut equals = written.iter().enumerate().filter(|(_, byte)| **byte == b'=').map(|(at, _)| at);
    let start = equals.find(is_named)? + 1;
    let quoted = written.first() == Some(&b'"') && written.last() == Some(&b'"');
    let end = written.len() - usize::from(quoted);
    (start < end).then_some(start..end)
}

/// The passwords in a list of users, of accounts without a type: `bob:PASSWORD,alice`. What a comma cuts off is hidden, up to the next account.
pub(super) fn of_accounts(written: &[u8], is_account: fn(&[u8]) -> bool) -> Vec<Range<usize>> {
    let quote = usize::from(written.first() == Some(&b'"'));
    let end = written.len() - usize::from(quote == 1 && written.len() > 1 && written.ends_with(b"\""));
    let mut secrets: Vec<Range<usize>> = Vec::new();
    let mut from = quote;
    for element in written.get(quote..end).unwrap_or_default().split(|byte| *byte == b',') {
        let colon = element.iter().position(|byte| *byte == b':').filter(|_| is_account(element));
        if let Some(colon) = colon {
            secrets.push(from + colon + 1..end);
            if let [.., before, _] = &mut *secrets {
                before.end = from - 1;
            }
        }
        from += element.len() + 1;
    }
    secrets.retain(|secret| secret.start < secret.end);
    secrets
}

/// Whether an element of a list of users has a colon, as no user's name has, and is no address.
pub(super) fn is_user_with_more(element: &[u8]) -> bool {
    element.iter().position(|byte| *byte == b':').is_some_and(|colon| colon > 0) && !is_address(element)
}

/// Whether a word where no name of a user stands is nothing but an account: a name, a colon, and more than a port.
pub(super) fn is_account(word: &[u8]) -> bool {
    let Some(colon) = word.iter().position(|byte| *byte == b':') else { return false };
    let (name, more) = word.split_at(colon);
    let more = more.get(1..).unwrap_or_default();
    let port = more.split(|byte| *byte == b'/').next().unwrap_or_default();
    name.first().is_some_and(u8::is_ascii_alphabetic)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte))
        && !(port.len() <= 5 && port.iter().all(u8::is_ascii_digit))
        && !more.starts_with(b"//")
        && name != b"unix"
        && !is_address(word)
}

/// Whether a word is an address, a network or a range, alone or with a port.
fn is_address(word: &[u8]) -> bool {
    let bare = word.split(|byte| b"/%".contains(byte)).next().unwrap_or_default();
    let is_v6 =
        |part: &[u8]| str::from_utf8(part.trim_ascii()).is_ok_and(|part| part.parse::<Ipv6Addr>().is_ok());
    fields::is_certain_host(word) || bare.split(|byte| *byte == b'-').all(is_v6)
}

/// What stands before the `@` of a URL, from its scheme on; with a parameter that is secret, to the end.
pub(super) fn of_url(written: &[u8]) -> Option<Range<usize>> {
    let scheme = written.windows(3).position(|part| part == b"://")?;
    let at = written.iter().rposition(|byte| *byte == b'@').filter(|at| *at > scheme)?;
    let is_before = |byte: &u8| b",\"' \t".contains(byte);
    let before = written.get(..scheme)?.iter().rposition(is_before);
    let end = of_parameter(written).map_or(at, |parameter| parameter.end.max(at));
    Some(before.map_or(0, |before| before + 1)..end)
}

/// The types of passwords, as they stand in an account.
const TYPES: [&[u8]; 3] = [b":CL:", b":CR:", b":NT:"];

/// Whether a word looks like an account, wherever it stands.
pub(super) fn has_type(written: &[u8]) -> bool {
    written.windows(4).any(|part| TYPES.iter().any(|known| part.eq_ignore_ascii_case(known)))
}

/// Whether a word is an account up to its password: a blank has cut it.
pub(super) fn ends_in_type(written: &[u8]) -> bool {
    let tail = |known: &[u8]| {
        written.len() >= known.len() && {
            let (_, tail) = written.split_at(written.len() - known.len());
            tail.eq_ignore_ascii_case(known)
        }
    };
    TYPES
        .iter()
        .any(|known| tail(known) || known.get(1..).is_some_and(|bare| written.eq_ignore_ascii_case(bare)))
}

/// Where the password of `NAME:TYPE:PASSWORD` or `NAME:PASSWORD` starts.
pub(super) fn password(written: &[u8]) -> Option<usize> {
    let colon = written.iter().position(|byte| *byte == b':')?;
    Some(colon + if written.get(colon + 3) == Some(&b':') { 4 } else { 1 })
}
