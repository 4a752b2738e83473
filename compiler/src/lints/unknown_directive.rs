//! A word at the start of a line that is no command.
use grammar::{Span, directive};

use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::Command,
};

/// At most this many bytes of an unknown name are shown.
const LONGEST_SHOWN: usize = 60;

rule! {
    /// 3proxy knows no command of this name, and refuses the whole file.
    ///
    /// Names are case sensitive. A line that continues the one before it is a command of its own too: 3proxy has no way to
    /// continue a line.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allwo *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "unknown-directive",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `command` is none.
pub(crate) fn finding(command: &Command<'_>) -> Finding {
    let written = command.name.value.as_ref();
    // What is behind a colon may be a password, if this is the rest of a `users` line.
    let colon = written.iter().position(|byte| *byte == b':').unwrap_or(written.len());
    let shown = written.get(..colon).filter(|_| colon + 1 != written.len()).unwrap_or(written);
    let shown = String::from_utf8_lossy(shown.get(..LONGEST_SHOWN).unwrap_or(shown));
    let finding = RULE.finding(command.name.at, format!("`{shown}` is not a command"));
    if let Some(line) = assigned(command) {
        return finding.help("write a space in place of the `=`").fix(line);
    }
    match directive::similar(written) {
        Some(name) => finding.help(format!("write `{name}`")).fix(Fix::replace(
            format!("write `{name}`"),
            Safety::Unsafe,
            command.name.at,
            name,
        )),
        None if is_user(written) => finding.help("if it is a user, write `users` before it"),
        None if written.starts_with("№".as_bytes()) => {
            finding.help("start the line with `#` to leave it out")
        }
        None if written.starts_with(b"-") || command.arguments.is_empty() => {
            finding.help("if it belongs to the line before, put it there: 3proxy has no line continuation")
        }
        None => finding.help("remove the line, or start it with `#`"),
    }
}

/// Of `NAME=VALUE`, where `NAME` is a command, with a space in place of the `=`.
fn assigned(command: &Command<'_>) -> Option<Fix> {
    let (meant, _) = command.split_at_sign()?;
    let at = u32::try_from(meant.name.value.len()).ok()?;
    let sign = command.name.part(Span::new(at, at + 1));
    let blank = if meant.arguments.len() > command.arguments.len() { " " } else { "" };
    let title = "write a space in place of the `=`";
    (sign != command.name.at).then(|| Fix::replace(title, Safety::Safe, sign, blank))
}

/// Whether it has the form of a user: `NAME:TYPE:PASSWORD`.
fn is_user(word: &[u8]) -> bool {
    let mut parts = word.split(|byte| *byte == b':');
    let (name, kind) = (parts.next(), parts.next());
    name.is_some_and(|name| !name.is_empty())
        && matches!(kind, Some(b"CL" | b"CR" | b"NT"))
        && parts.next().is_some()
}
