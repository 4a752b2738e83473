//! A command with too few or too many arguments.
use grammar::{
    Span,
    directive::{Directive, Effect},
};

use super::{meant, rule::rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
    program::acl::ParentKind,
    sources::Loc,
};

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
    let usage = usage(row);
    let most = arity.most.map_or(usize::MAX, usize::from);
    let at = command.arguments.get(most).map_or(command.at, |word| word.at);
    let comment = command.arguments.iter().any(|word| word.value.starts_with(b"#"));
    let finding = RULE
        .finding(at, format!("`{}` expects {wants}, but got {given}", row.name))
        .label(if given > most { "one too many" } else { "something is missing here" });
    if let Some((help, fix)) =
        assigned(command).filter(|_| arity.takes(given - 1)).or_else(|| glued(command, row))
    {
        return finding.help(help).fix(fix);
    }
    finding.help(match row.name {
        _ if comment => "put the comment on a line of its own".to_owned(),
        _ if most == 0 => format!("write `{usage}` alone"),
        _ if given <= most => format!("write `{usage}`"),
        "nserver" | "monitor" | "include" => format!("write a line `{usage}` for each"),
        _ => format!("write `{usage}`, with quotes around an argument that has spaces"),
    })
}

/// How a command is written: what may be left out stands in brackets, and of that the first two.
fn usage(row: &Directive) -> String {
    let is_service = row.effect == Effect::Service;
    let mut usage = row.name.to_owned();
    let mut optional = 0;
    for (index, parameter) in row.parameters.iter().enumerate() {
        let name = parameter.name.to_uppercase();
        // Of a service these are the options: what else it takes, it needs.
        let may_lack = if is_service { index == 0 } else { index >= usize::from(row.arguments.least) };
        optional += usize::from(may_lack);
        match optional {
            3 => {
                usage.push_str(" …");
                break;
            }
            _ if may_lack => usage.push_str(&format!(" [{name}]")),
            _ => usage.push_str(&format!(" {name}")),
        }
    }
    usage
}

/// `NAME = VALUE`, without the `=`.
pub(super) fn assigned(command: &Command<'_>) -> Option<(String, Fix)> {
    let meant = command.unassigned()?;
    let (sign, value) = (command.argument(0)?, meant.argument(0)?);
    let gap = Loc { file: sign.at.file, span: Span::new(sign.at.span.start, value.at.span.start) };
    let same_file = sign.at.file == value.at.file;
    let title = "leave out the `=`";
    same_file.then(|| (title.to_owned(), Fix::replace(title, Safety::Safe, gap, "")))
}

/// A parent or a port mapper with `HOST:PORT` in one word, or a parent without a weight.
fn glued(command: &Command<'_>, row: &Directive) -> Option<(String, Fix)> {
    if !matches!(row.name, "parent" | "tcppm" | "udppm") {
        return None;
    }
    let text = |word: &Arg<'_>| str::from_utf8(&word.value).ok().map(str::to_owned);
    match command.arguments.as_slice() {
        [kind, _, port] if row.name == "parent" && ParentKind::named(&kind.value).is_some() => {
            meant::port(&text(port)?)?;
            Some(weight(kind))
        }
        [.., host] => meant::port_apart(host),
        [] => None,
    }
}

/// A weight in front of the type of a parent.
pub(super) fn weight(kind: &Arg<'_>) -> (String, Fix) {
    let at = Loc { file: kind.at.file, span: Span::new(kind.at.span.start, kind.at.span.start) };
    let title = "write the weight first, 1000 for a parent that is always used";
    (title.to_owned(), Fix::replace(title, Safety::Unsafe, at, "1000 "))
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
