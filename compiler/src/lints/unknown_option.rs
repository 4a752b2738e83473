//! A word in a service line that is no option.
use grammar::{
    Span,
    option::{self, Form},
    template::UNKNOWN,
};

use super::{meant, rule::rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
    sources::Loc,
};

rule! {
    /// 3proxy does not take this word in a service line, and refuses the whole file.
    ///
    /// A value follows its option without a space: `-p3129`, not `-p 3129`. Options that 3proxy has only when it runs as a single service
    /// (`-I`, `-?`) are unknown in a configuration.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy -p 3129 -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow *
    /// proxy -p3129 -i127.0.0.1
    /// ```
    "unknown-option",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` starts with `-`, but is no option.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    let finding =
        RULE.finding(word.at, format!("`{}` is not an option of `{}`", word.text(), command.name()));
    if let Some(option) = named(command, word) {
        return otherwise(finding, word, option);
    }
    match option::similar(&word.value) {
        Some(flag) => finding.help(format!("write `{flag}`")),
        None => finding.help("remove it"),
    }
}

/// `word` stands where only options may.
pub(crate) fn stray(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    if let Some(flag) = unglued(command, word) {
        return apart(flag, word);
    }
    let finding = RULE.finding(
        word.at,
        format!("`{}` is in a place where `{}` accepts only options", word.text(), command.name()),
    );
    if word.value.starts_with(b"#") {
        return finding.help("put the comment on a line of its own");
    }
    if let Some(option) = named(command, word) {
        return otherwise(finding, word, option);
    }
    match hyphenated(&word.value) {
        Some(option) => finding
            .help(format!("write `{option}`, with a plain `-`: this dash comes from a word processor"))
            .fix(Fix::replace("write a plain `-`", Safety::Safe, word.at, option)),
        None => finding.help("remove it"),
    }
}

/// The option that is written as other programs want it, if the line has none of its kind yet.
fn named(command: &Command<'_>, word: &Arg<'_>) -> Option<String> {
    let meant = meant::option(str::from_utf8(&word.value).ok()?)?;
    let flag = meant.get(..2)?.as_bytes();
    let is_there = command.arguments.iter().any(|other| other.value.starts_with(flag));
    // Behind an option it may be anything.
    let is_first = command.arguments.first().is_some_and(|first| first.at == word.at);
    let is_named = word.value.contains(&b'=');
    (!is_there && !is_unknown(word) && (is_first || is_named)).then_some(meant)
}

/// The same, to be read as it is meant.
pub(crate) fn meant(command: &Command<'_>, word: &Arg<'_>) -> Option<Arg<'static>> {
    named(command, word).map(|option| Arg::instead(word, option))
}

/// `word` is that option.
fn otherwise(finding: Finding, word: &Arg<'_>, option: String) -> Finding {
    let title = format!("write `{option}`");
    finding.help(title.clone()).fix(Fix::replace(title, Safety::Safe, word.at, option))
}

/// `word` is the value of `flag`, and stands apart from it.
fn apart(flag: &Arg<'_>, word: &Arg<'_>) -> Finding {
    let gap = Loc { file: word.at.file, span: Span::new(flag.at.span.end, word.at.span.start) };
    let (finding, title) = if is_unknown(word) {
        let message = format!("there is a space between `{}` and its value", flag.text());
        (RULE.finding(flag.at, message), "write the value directly after its option".to_owned())
    } else {
        let message = format!("there is a space between `{}` and its option `{}`", word.text(), flag.text());
        let title = format!("write it directly after its option: `{}{}`", flag.text(), word.text());
        (RULE.finding(word.at, message).also(flag.at, "its option"), title)
    };
    finding.help(title.clone()).fix(Fix::replace(title, Safety::Safe, gap, ""))
}

/// Whether a word is a template's marker, which can't be cited.
fn is_unknown(word: &Arg<'_>) -> bool {
    word.value.first() == Some(&UNKNOWN)
}

/// The option right before `word` that lacks a value, where `word` can be that.
pub(crate) fn unglued<'a, 'b>(command: &'a Command<'b>, word: &Arg<'_>) -> Option<&'a Arg<'b>> {
    let before = command.arguments.iter().rev().find(|before| before.at.span.end <= word.at.span.start)?;
    let (row, _) = option::find(&before.value).filter(|(_, glued)| glued.is_empty())?;
    let fits = match row.value {
        Form::Nothing => false,
        Form::Number | Form::NumberOrZero | Form::Splice | Form::Grace => {
            word.value.first().is_some_and(u8::is_ascii_digit)
                || is_unknown(word) && row.value == Form::Number
        }
        _ => !word.value.starts_with(b"#"),
    };
    fits.then_some(before)
}

/// An option whose `-` became a typographic dash, as it was meant.
fn hyphenated(word: &[u8]) -> Option<String> {
    let dashes = ['\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2014}', '\u{2212}'];
    Some(format!("-{}", std::str::from_utf8(word).ok()?.strip_prefix(dashes)?))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn a_value_is_glued_to_the_option_that_takes_it() {
        for (line, expected) in [
            ("proxy -p 3129", "write it directly after its option: `-p3129`"),
            ("proxy -i 127.0.0.1", "write it directly after its option: `-i127.0.0.1`"),
            ("tcppm -i 127.0.0.1 80 h 80", "write it directly after its option: `-i127.0.0.1`"),
            ("proxy -n 3129", "remove it"),
            ("socks -p bar", "remove it"),
            ("socks -p1 # comment", "put the comment on a line of its own"),
            ("socks \u{2013}p1", "write `-p1`, with a plain `-`: this dash comes from a word processor"),
        ] {
            let text =
                format!("auth iponly\nallow * 10.0.0.0/8\nproxy\nflush\nallow * 10.1.0.0/16\n{line}\n");
            let found = findings("unknown-option", &text);
            let helps: Vec<_> = found.iter().map(|finding| finding.help.as_deref()).collect();
            assert_eq!(helps, [Some(expected)], "{line}");
            for rule in ["listen-address-ignored", "port-mapper-arguments", "duplicate-listener"] {
                assert!(findings(rule, &text).is_empty(), "{line}: {rule}");
            }
        }
    }
}
