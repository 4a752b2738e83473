//! What is no line of 3proxy's, or one that was torn: accounts that stand alone, words of other programs, keys, databases that blanks cut.
use std::ops::Range;

use grammar::{
    directive::{self, Directive},
    syntax::Word,
};

use super::{fields, first_word, has_secrets, has_type, meant, of_url, shape};

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

/// Whether the name of a parameter says that its value is secret.
pub(super) fn names_a_parameter(name: &[u8]) -> bool {
    let ends = |end: &[u8]| {
        name.len() >= end.len() && name.split_at(name.len() - end.len()).1.eq_ignore_ascii_case(end)
    };
    tells_password(name) || name.eq_ignore_ascii_case(b"key") || ends(b"_key") || ends(b"signature")
}

/// The value in `NAME=VALUE`, if the name says that it is secret.
pub(super) fn of_named(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let whole = || written.iter().position(|byte| *byte == b'=').filter(|_| names_a_secret(written));
    let quoted = written.first() == Some(&b'"') && written.last() == Some(&b'"');
    let range = whole().map(|equals| equals + 1..written.len() - usize::from(quoted));
    let range = range.or_else(|| shape::of_parameter(written))?;
    super::shifted(range, word)
}

/// What stands where a `log` has its secrets. Behind the name of a database, `&SOURCE,USER,PASSWORD`: all of it, whatever parts it from
/// the name. Behind `radius`: what is no rotation and no server.
pub(super) fn of_log(
    directive: Option<&Directive>,
    arguments: &[Word],
    line: &[u8],
) -> Option<Vec<Range<usize>>> {
    directive.filter(|row| row.name == "log")?;
    let (first, more) = arguments.split_first()?;
    let written = first.span.of(line);
    if matches!(written, b"radius" | b"\"radius\"") {
        let is_secret = |word: &&Word| word.span.len() > 1 && !fields::is_certain_host(word.span.of(line));
        return Some(
            more.iter().filter(is_secret).filter_map(|word| super::inside_quotes(word, line)).collect(),
        );
    }
    let quote = usize::from(written.first() == Some(&b'"'));
    let start = first.span.start as usize + quote;
    let text = line.trim_ascii_end();
    let rest = text.get(start..).filter(|rest| rest.first() == Some(&b'&'))?;
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let blank = 1 + rest.iter().skip(1).take_while(|byte| byte.is_ascii_whitespace()).count();
    let sign = blank + rest.iter().skip(blank).take_while(|byte| is_name(byte)).count();
    // The sign that parts them is shown.
    let from = start + sign + 1;
    let closed = quote == 1 && text.ends_with(b"\"");
    // A rotation may stand behind it.
    let end = if more.iter().all(|word| word.span.len() == 1) {
        (first.span.end as usize).saturating_sub(quote)
    } else {
        text.len() - usize::from(closed)
    };
    Some((from < end).then_some(from..end).into_iter().collect())
}

/// A whole line, without the blanks around it.
pub(super) fn of_rest(line: &[u8]) -> Vec<Range<usize>> {
    let start = line.len() - line.trim_ascii_start().len();
    let end = line.trim_ascii_end().len();
    (start < end).then_some(start..end).into_iter().collect()
}

/// Whether a word looks like a part of a key, in base 64.
pub(super) fn is_key(word: &[u8]) -> bool {
    word.len() >= SHORTEST_KEY && is_base64(word)
}

fn is_base64(word: &[u8]) -> bool {
    word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte))
}

/// Whether a line that is no command is the end of the one above it: the last one of a key, or fields of a command with secrets.
pub(super) fn is_torn_from(line: &[u8], head: &[u8]) -> bool {
    let (text, head) = (line.trim_ascii(), head.trim_ascii());
    let is_torn = || {
        is_key(head) && is_base64(text)
            || directive::find(first_word(head)).is_some_and(has_secrets)
                && !line.iter().any(|byte| b"#;".contains(byte))
    };
    // What a word is meant for is asked last: it costs most.
    !text.is_empty() && is_torn() && meant(first_word(line)).is_none()
}

/// Where the command of a line begins that may be commented out: for 3proxy or for other programs.
pub(super) fn before_command(line: &[u8]) -> usize {
    const SIGNS: [&[u8]; 5] = [b"//", b"<!--", b"--", b"rem ", b"rem\t"];
    let blank =
        |from: usize| from + line.iter().skip(from).take_while(|byte| b" \t#;".contains(byte)).count();
    let start = blank(0);
    let is_sign = |sign: &&&[u8]| {
        line.get(start..start + sign.len()).is_some_and(|written| written.eq_ignore_ascii_case(sign))
    };
    // `#!` has lost its first byte with the others.
    let bang = usize::from(start > 0 && line.get(start) == Some(&b'!'));
    blank(start + SIGNS.iter().find(is_sign).map_or(bang, |sign| sign.len()))
}

/// What stands behind `NAME:`, `NAME=` or `NAME is` in a comment, if the name says that a secret follows.
pub(super) fn of_told(command: &Word, arguments: &[Word], line: &[u8]) -> Option<Range<usize>> {
    let words: Vec<&Word> = [command].into_iter().chain(arguments).collect();
    let place = words.windows(2).find_map(|pair| {
        let [name, next] = pair else { return None };
        let (name, next_text) = (name.span.of(line), next.span.of(line));
        let bare = name.strip_suffix(b":").or_else(|| name.strip_suffix(b"="));
        let is_told = bare.is_some_and(tells_password);
        let is_verb = tells_password(name) && [&b"is"[..], b"=", b":"].contains(&next_text);
        (is_told || is_verb).then_some(if is_told { next.span.start } else { next.span.end } as usize)
    });
    let end = line.trim_ascii_end().len();
    let start = place.or_else(|| of_named(command, line).map(|range| range.start))?;
    let blank = line.get(start..end)?.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    (start + blank < end).then_some(start + blank..end)
}

/// Whether a word of prose means one password: not the users, nor the server that knows them.
fn tells_password(word: &[u8]) -> bool {
    let word = word.to_ascii_lowercase();
    names_a_secret(&word)
        && ![&b"radius"[..], b"user", b"login"]
            .iter()
            .any(|other| word.windows(other.len()).any(|part| part == *other))
}

/// A line of a key has 64 bytes; the last is shorter.
const SHORTEST_KEY: usize = 40;

pub(super) fn of_key(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    is_key(word.span.of(line)).then_some(word.span.start as usize..word.span.end as usize)
}
