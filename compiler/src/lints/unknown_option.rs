//! A word in a service line that is no option.
use grammar::{Span, option};

use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
    sources::Loc,
};

rule! {
    /// 3proxy does not take this word in a service line, and refuses the whole file.
    ///
    /// A value is glued to its option: `-p3129`, not `-p 3129`. Options that 3proxy has only when it runs as a single service
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
    /// ```3proxy,clean
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
    let finding = RULE.finding(word.at, format!("`{}` is no option of `{}`", word.text(), command.name()));
    match option::similar(&word.value) {
        Some(flag) => finding.help(format!("write `{flag}`")),
        None => finding.help("remove it"),
    }
}

/// `word` stands where only options may.
pub(crate) fn stray(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    let before = command.arguments.iter().rev().find(|before| before.at.span.end <= word.at.span.start);
    let bare = before.filter(|before| before.value.len() == 2 && before.value.starts_with(b"-"));
    let finding = RULE
        .finding(word.at, format!("`{}` stands where `{}` takes options only", word.text(), command.name()));
    match bare {
        Some(flag) => {
            let gap = Loc { file: word.at.file, span: Span::new(flag.at.span.end, word.at.span.start) };
            let title = format!("glue it to its option: `{}{}`", flag.text(), word.text());
            finding.also(flag.at, "its option").help(title.clone()).fix(Fix::replace(
                title,
                Safety::Safe,
                gap,
                "",
            ))
        }
        None if word.value.starts_with(b"#") => finding.help("put the comment on a line of its own"),
        None => finding.help("remove it"),
    }
}
