//! What is no line of 3proxy's, or one that was torn: accounts that stand alone, words of other programs, keys, databases that blanks cut.
use std::ops::Range;

use grammar::{
    directive::{self, Directive},
    syntax::Word,
};

use super::{fields, has_type, of_url};

/// Whether the words of an unknown command look like an account of which blanks have made several words: a colon ends one, or is one, or
/// an account stands behind something else.
pub(super) fn has_fields(command: &[u8], arguments: &[Word], line: &[u8]) -> bool {
    let words = || [command].into_iter().chain(arguments.iter().map(|word| word.span.of(line)));
    !arguments.is_empty() && words().any(|word| word.ends_with(b":"))
        || arguments.iter().any(|word| {
            let written = word.span.of(line);
            let is_known = has_type(written) || fields::is_certain_host(written) || of_url(written).is_some();
            written.contains(&b':') && !is_known
        })
        || words().any(|word| word.starts_with(b"&") || word.contains(&b';'))
}

/// Everything behind the first of the signs that part fields, or else behind the command.
pub(super) fn of_foreign(command: &Word, line: &[u8]) -> Vec<Range<usize>> {
    let text = line.trim_ascii_end();
    let colon = text.iter().position(|byte| b":,;=".contains(byte)).map(|at| at + 1);
    let start = colon.unwrap_or(command.span.end as usize);
    let rest = text.get(start..).unwrap_or_default();
    let start = start + rest.len() - rest.trim_ascii_start().len();
    (start < text.len()).then_some(start..text.len()).into_iter().collect()
}

/// Whether a word that is no command says that a secret follows.
pub(super) fn names_a_secret(command: &[u8]) -> bool {
    const NAMES: [&[u8]; 9] =
        [b"pass", b"secret", b"radius", b"user", b"login", b"credential", b"token", b"apikey", b"psk"];
    const SHORT: [&[u8]; 2] = [b"pw", b"pwd"];
    directive::find(command).is_none() && !command.contains(&b':') && {
        let name = command.split(|byte| *byte == b'=').next().unwrap_or_default().to_ascii_lowercase();
        SHORT.contains(&&*name)
            || NAMES.iter().any(|known| name.windows(known.len()).any(|part| part == *known))
    }
}

/// The value in `NAME=VALUE`, if the name says that it is secret.
pub(super) fn of_named(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let equals = written.iter().position(|byte| *byte == b'=').filter(|_| names_a_secret(written))?;
    let (start, end) = (word.span.start as usize + equals + 1, word.span.end as usize);
    (start < end).then_some(start..end)
}

/// What stands behind the name of a database, `&SOURCE,USER,PASSWORD`, wherever blanks cut it.
pub(super) fn of_database(
    directive: Option<&Directive>,
    arguments: &[Word],
    line: &[u8],
) -> Option<Range<usize>> {
    directive.filter(|row| row.name == "log")?;
    let first = arguments.first()?.span;
    let quote = usize::from(first.of(line).first() == Some(&b'"'));
    let start = first.start as usize + quote;
    let text = line.trim_ascii_end();
    let rest = text.get(start..).filter(|rest| rest.first() == Some(&b'&'))?;
    let comma = start + rest.iter().position(|byte| *byte == b',')? + 1;
    let closed = quote == 1 && text.ends_with(b"\"") && comma < text.len();
    // A rotation may stand behind it.
    let whole = arguments.iter().all(|word| word.span.start == first.start || word.span.of(line).len() == 1);
    let end = if whole {
        (first.end as usize).saturating_sub(quote).max(comma)
    } else {
        text.len() - usize::from(closed)
    };
    (comma < end).then_some(comma..end)
}

/// A whole line, without the blanks around it.
pub(super) fn of_rest(line: &[u8]) -> Vec<Range<usize>> {
    let start = line.len() - line.trim_ascii_start().len();
    let end = line.trim_ascii_end().len();
    (start < end).then_some(start..end).into_iter().collect()
}

/// Whether a word looks like a part of a key, in base 64.
pub(super) fn is_key(word: &[u8]) -> bool {
    word.len() >= SHORTEST_KEY
        && word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
}

/// A line of a key has 64 bytes; the last is shorter.
const SHORTEST_KEY: usize = 40;

pub(super) fn of_key(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    is_key(word.span.of(line)).then_some(word.span.start as usize..word.span.end as usize)
}
