//! A letter in a log format that stands for nothing.
use grammar::value::LogFormatTrap;

use super::rule::{Lint, rule};
use crate::program::trap::Trap;

rule! {
    /// A letter after `%` that is not a field is written to the log as it is.
    ///
    /// ```3proxy,fires
    /// log
    /// logformat "L%d.%m.%Y %H:%M:%S %U %P"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right (the port of the service is `%p`):
    ///
    /// ```3proxy,clean
    /// log
    /// logformat "L%d.%m.%Y %H:%M:%S %U %p %%"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "log-format-unknown",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    // A word with quotes is the place of all that is in it: it is told once.
    let mut told = None;
    for (field, trap) in lint.traps() {
        if trap != Trap::LogFormat(LogFormatTrap::UnknownField) || told == Some(field.at) {
            continue;
        }
        told = Some(field.at);
        let unknown = unknown(field.text);
        let (letter, other) = unknown.map_or(('?', '?'), |letter| (letter, swapped(letter)));
        lint.report(
            RULE.finding(field.at, format!("`%{letter}` in a log format has no meaning"))
                .label(format!("`{letter}` is written as it is"))
                .help(if letter == other {
                    "write `%%` for a percent sign; the fields are in the manual".to_owned()
                } else {
                    format!("write `%{other}`, which is a field, if that is meant")
                }),
        );
    }
}

/// The first letter behind a `%` of `text` that is no field.
fn unknown(text: &[u8]) -> Option<char> {
    let body = text.strip_prefix(b"\"").unwrap_or(text);
    let reading = grammar::value::log_format(body);
    let (at, _) = reading.traps.iter().find(|(_, trap)| *trap == LogFormatTrap::UnknownField)?;
    at.of(body).get(1).map(|byte| char::from(*byte))
}

/// The letter of the other case, if that is a field.
fn swapped(letter: char) -> char {
    let other =
        if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
    let known = grammar::value::log_format(format!("L%{other}").as_bytes()).traps.is_empty();
    if known { other } else { letter }
}
