//! Where the secrets of a line stand, so that what is shown of it holds none.
//!
//! Errs on the side of hiding: comments are looked at as if they were commands, a misspelt command as the one that was
//! meant, and what could not be split into words is hidden as a whole.
use std::ops::Range;

use compiler::sources::{Source, Sources};
use grammar::{
    directive::{self, Directive, Kind},
    syntax::{LineKind, Tree, Word, WordShape},
};

/// What the words of a text belong to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Script {
    /// Lines with a command each.
    Lines,
    /// Words of this command, brought in by `$file`; `None`: of one that nobody knows.
    Words(Option<&'static Directive>),
}

impl Script {
    /// What `source` is.
    pub(super) fn of(sources: &Sources, source: &Source) -> Self {
        let Some(at) = source.included_at else { return Self::Lines };
        let Some(includer) = sources.get(at.file) else { return Self::Lines };
        let command = sources.words(at).first().map(|word| word.value(&includer.text)).unwrap_or_default();
        match &*command {
            b"include" => Self::Lines,
            command => Self::Words(meant(command)),
        }
    }

    /// The secrets in `line`, as byte ranges of it, in order.
    pub(super) fn secrets(self, line: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::Lines => of_command(line),
            Self::Words(directive) => {
                let tree = grammar::parse_words(line);
                let words = words(&tree);
                let mut secrets: Vec<_> =
                    words.iter().filter_map(|word| of_word(directive, 0, word, line)).collect();
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

fn of_command(line: &[u8]) -> Vec<Range<usize>> {
    // So a command that is commented out or indented is read too.
    let skipped = line.iter().take_while(|byte| b" \t#;".contains(byte)).count();
    let line = line.get(skipped..).unwrap_or_default();
    // With its end: a `$file` at the very end of a text would be an unfinished one, and hidden.
    let ended = [line, b"\n"].concat();
    let tree = grammar::parse(&ended);
    let words = words(&tree);
    let Some((command, arguments)) = words.split_first() else { return Vec::new() };
    let directive = meant(&command.value(line));
    // An account that stands where a command should: the rest of a `users` line, or an included file of passwords.
    let account = if directive.is_none() { of_account(command, line) } else { None };
    let mut secrets: Vec<_> = account.into_iter().collect();
    let found = arguments.iter().enumerate();
    secrets.extend(found.filter_map(|(index, word)| of_word(directive, index, word, line)));
    secrets.extend(unsplit(&tree, line).filter(|_| directive.is_none_or(has_secrets)));
    secrets.into_iter().map(|range| range.start + skipped..range.end + skipped).collect()
}

/// What stands behind the words of a line that could not be split to its end.
fn unsplit(tree: &Tree, line: &[u8]) -> Option<Range<usize>> {
    let LineKind::Bad(..) = tree.line(0)?.kind else { return None };
    let split = words(tree).last().map_or(0, |word| word.span.end as usize);
    let rest = line.get(split..)?;
    let blank = rest.len() - rest.trim_ascii_start().len();
    (blank < rest.len()).then(|| split + blank..split + rest.trim_ascii_end().len())
}

/// The secret in the argument at `index` of `directive`.
fn of_word(directive: Option<&Directive>, index: usize, word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let name = directive.map_or("", |row| row.name);
    let kind = directive.and_then(|row| row.parameter(index)).map(|parameter| parameter.kind);
    // A `$file` alone is a path. With anything else, or where one password stands, it may be a password with a `$` in it.
    let dollars = written.iter().filter(|byte| **byte == b'$').count();
    let one_password = kind == Some(Kind::Secret) && name != "users" && !written.contains(&b'/');
    if matches!(word.shape, WordShape::Splice { dollar } if dollar == word.span.start)
        && dollars == 1
        && !one_password
    {
        return None;
    }
    let quote = usize::from(written.first() == Some(&b'"'));
    let from = match kind {
        _ if has_type(written) => password(written)?,
        Some(Kind::Secret) if name == "users" => password(written).unwrap_or(quote),
        Some(Kind::Secret) => quote,
        // ODBC: `&SOURCE,USER,PASSWORD`.
        _ if name == "log" && written.get(quote) == Some(&b'&') => {
            written.iter().position(|byte| *byte == b',')? + 1
        }
        _ => return of_address(directive, word, line),
    };
    // The password alone may be in quotes.
    let from = from + usize::from(from > quote && written.get(from) == Some(&b'"'));
    // A quote that opens within the password is hidden, and so is the one that closes it.
    let opened = quote == 1 || from.checked_sub(1).and_then(|at| written.get(at)) == Some(&b'"');
    let to = written.len() - usize::from(opened && from < written.len() && written.ends_with(b"\""));
    let start = word.span.start as usize;
    (from < to).then(|| start + from..start + to)
}

/// What stands before the `@` of an address that is written as in a URL, `NAME:PASSWORD@HOST`.
fn of_address(directive: Option<&Directive>, word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let at = written.iter().rposition(|byte| *byte == b'@')?;
    let from = usize::from(written.first() == Some(&b'"'));
    let named = written.get(from..at)?.contains(&b':');
    let start = word.span.start as usize;
    (named && directive.is_none_or(|row| row.name == "parent")).then(|| start + from..start + at)
}

/// The password of a word that is an account: what stands behind its first colon.
fn of_account(word: &Word, line: &[u8]) -> Option<Range<usize>> {
    let written = word.span.of(line);
    let from = password(written)?;
    let start = word.span.start as usize;
    (from < written.len()).then(|| start + from..start + written.len())
}

/// Whether a word looks like an account, wherever it stands.
fn has_type(written: &[u8]) -> bool {
    written
        .windows(4)
        .any(|part| [b":CL:", b":CR:", b":NT:"].iter().any(|known| part.eq_ignore_ascii_case(*known)))
}

/// Where the password of `NAME:TYPE:PASSWORD` or `NAME:PASSWORD` starts.
fn password(written: &[u8]) -> Option<usize> {
    let colon = written.iter().position(|byte| *byte == b':')?;
    Some(colon + if written.get(colon + 3) == Some(&b':') { 4 } else { 1 })
}

#[cfg(test)]
mod tests {
    use grammar::directive;

    use super::Script;

    fn masked(script: Script, line: &str) -> String {
        let mut shown = line.to_owned();
        for range in script.secrets(line.as_bytes()).into_iter().rev() {
            shown.replace_range(range, "***");
        }
        shown
    }

    #[test]
    fn secrets_of_commands_are_hidden_and_nothing_else() {
        for (line, shown) in [
            ("users bob:CL:secret \"al:CR:$1$s$h\"", "users bob:CL:*** \"al:CR:***\""),
            ("users bob:secret", "users bob:***"),
            ("users bob:CL:se\"$cret\"", "users bob:CL:***"),
            ("users al:CR:\"$1$s$h\"", "users al:CR:\"***\""),
            ("users user1: CL: pass1", "users user1: CL: ***"),
            ("users al:CR:$1$salt$hash $/etc/users ", "users al:CR:*** $/etc/users "),
            ("users al:CR:$1$salt$hash $/etc/users", "users al:CR:*** $/etc/users"),
            ("users $/etc/users", "users $/etc/users"),
            ("users $1$salt$hash ", "users *** "),
            ("users bob:CR:$1$salt$hash", "users bob:CR:***"),
            ("users \"bob:CL:secret", "users ***"),
            ("  users bob:CL:secret", "  users bob:CL:***"),
            ("#users bob:secret", "#users bob:***"),
            ("usrs bob:secret", "usrs bob:***"),
            ("whatever bob:cl:secret", "whatever bob:cl:***"),
            ("unknown \"secret", "unknown ***"),
            ("bob:CL:secret al:CR:$1$s$h", "bob:CL:*** al:CR:***"),
            ("bob:secret", "bob:***"),
            ("bob:", "bob:"),
            ("radius s3cret 127.0.0.1:1812", "radius *** 127.0.0.1:1812"),
            ("radius $s3cret 127.0.0.1", "radius *** 127.0.0.1"),
            ("radius $/run/secret 127.0.0.1", "radius $/run/secret 127.0.0.1"),
            ("radius \"s3 cret\" 127.0.0.1", "radius \"***\" 127.0.0.1"),
            ("parent 1000 socks5 127.0.0.1 1080 me secret", "parent 1000 socks5 127.0.0.1 1080 me ***"),
            ("parent 1000 socks5 127.0.0.1 1080 me $secret", "parent 1000 socks5 127.0.0.1 1080 me ***"),
            ("parent 1000 http me:secret@host 1080", "parent 1000 http ***@host 1080"),
            ("parent 1000 http \"http://me:secret@host\" 1", "parent 1000 http \"***@host\" 1"),
            ("parent 1000 socks5 127.0.0.1 1080", "parent 1000 socks5 127.0.0.1 1080"),
            ("log &base,me,secret", "log &base,***"),
            ("allow a:b 10.0.0.1", "allow a:b 10.0.0.1"),
            ("allow \"a b", "allow \"a b"),
            ("proxy -p3128", "proxy -p3128"),
            ("", ""),
        ] {
            assert_eq!(masked(Script::Lines, line), shown);
        }
    }

    #[test]
    fn secrets_of_a_spliced_file_are_hidden() {
        let words = |name: &str| Script::Words(directive::find(name.as_bytes()));
        assert_eq!(masked(words("users"), "bob:secret al:CR:$1$s$h"), "bob:*** al:CR:***");
        assert_eq!(masked(words("radius"), "s3cret"), "***");
        assert_eq!(masked(words("deny"), "10.0.0.1,10.0.0.2"), "10.0.0.1,10.0.0.2");
        assert_eq!(masked(Script::Words(None), "bob:CL:secret x"), "bob:CL:*** x");
    }
}
