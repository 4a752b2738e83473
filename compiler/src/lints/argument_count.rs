//! A command with too few or too many arguments.
use grammar::directive::Directive;

use super::rule::rule;
use crate::{finding::Finding, lower::command::Command};

rule! {
    /// 3proxy takes another number of arguments here, and refuses the whole file.
    ///
    /// An argument with spaces must be quoted. A `#` after a command does not start a comment: it and what follows are arguments.
    ///
    /// ```3proxy,fires
    /// logformat L%t %U %h
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// logformat "L%t %U %h"
    /// proxy -i127.0.0.1
    /// ```
    "argument-count",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `command` is written with another number of arguments than `row` says.
pub(crate) fn finding(command: &Command<'_>, row: &Directive) -> Finding {
    let (given, arity) = (command.arguments.len(), row.arguments);
    let wants = match (arity.least, arity.most) {
        (least, Some(most)) if least == most => count(least),
        (least, Some(most)) => format!("{least} to {most} arguments"),
        (least, None) => format!("at least {}", count(least)),
    };
    let names = row.parameters.iter().map(|parameter| format!(" {}", parameter.name.to_uppercase()));
    let usage = format!("{}{}", row.name, names.collect::<String>());
    let most = arity.most.map_or(usize::MAX, usize::from);
    let at = command.arguments.get(most).map_or(command.at, |word| word.at);
    let comment = command.arguments.iter().any(|word| word.value.starts_with(b"#"));
    RULE.finding(at, format!("`{}` expects {wants}, but got {given}", row.name))
        .label(if given > most { "one too many" } else { "something is missing here" })
        .help(match row.name {
            _ if comment => "put the comment on a line of its own".to_owned(),
            _ if given <= most => format!("write `{usage}`"),
            "nserver" | "monitor" | "include" => format!("write a line `{usage}` for each"),
            _ => format!("write `{usage}`, with quotes around an argument that has spaces"),
        })
}

fn count(arguments: u16) -> String {
    match arguments {
        0 => "no argument".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{arguments} arguments"),
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn empty_quotes_are_no_word_of_their_own() {
        for (line, refused) in [
            ("config \"\" /etc/x.cfg", false),
            ("config \"\" /etc/x.cfg more", true),
            ("config /etc/x.cfg \"\"", true),
            ("config /etc/x.cfg more", true),
        ] {
            let found = findings("argument-count", &format!("{line}\nproxy -i127.0.0.1\n"));
            assert_eq!(!found.is_empty(), refused, "{line}");
        }
    }
}
