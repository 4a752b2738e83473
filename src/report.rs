//! How findings look.
pub(crate) mod diff;
mod difference;
pub(crate) mod doctor;
mod escaped;
mod excerpt;
mod findings;
mod github;
mod guess;
pub(crate) mod ir;
mod json;
mod junit;
mod location;
mod mended;
mod sarif;
mod short;
mod stdout;
mod style;
pub(crate) mod suite;
mod summary;
mod text;
pub(crate) mod trace;
mod unified;
mod xml;

use std::{
    borrow::Cow,
    io::{self, Write},
    path::Path,
};

use compiler::{
    Compiled,
    finding::Finding,
    fix::Changed,
    mask::Script,
    sources::{Loc, Source, Sources},
};

pub(crate) use escaped::write_json;
pub(crate) use findings::Report;
pub(crate) use guess::{guess, root_hint};
use location::{relative, uri};
pub(crate) use mended::withheld;
pub(crate) use stdout::{stdout, unprinted};
pub(crate) use style::Style;
pub(crate) use summary::Summary;
pub(crate) use unified::Look;

/// Writes what changes in a file of `compiled`, as a unified diff without secrets.
pub(crate) fn unified(
    out: &mut dyn Write,
    compiled: &Compiled,
    path: &Path,
    changed: &Changed,
    look: Look,
) -> io::Result<()> {
    let source = compiled.sources.iter().map(|(_, source)| source).find(|source| source.path == path);
    let script = source.map_or(Script::Lines, |source| Script::of(&compiled.sources, source));
    unified::write(out, path, script, (&changed.before, &changed.after), look)
}

/// The same of a file that is no part of another one.
pub(crate) fn unified_alone(
    out: &mut dyn Write,
    path: &Path,
    changed: &Changed,
    look: Look,
) -> io::Result<()> {
    unified::write(out, path, Script::Lines, (&changed.before, &changed.after), look)
}

/// Says on standard error why something could not be done.
pub(crate) fn complain(message: &str) {
    // There is nowhere left to complain to.
    let _ = writeln!(io::stderr(), "cfgc: {}", printable(message));
}

/// A place as `path:line:column`, both from 1, the column in bytes.
fn place(sources: &Sources, at: Loc) -> String {
    let path = sources.get(at.file).map(|source| source.path.display().to_string()).unwrap_or_default();
    let at = sources.line_column(at);
    format!("{}:{}:{}", printable(&path), at.line, at.column)
}

/// The line of a place, from 1, behind the path if it is in a file that is included.
fn line_number(sources: &Sources, at: Loc) -> String {
    let line = sources.line_column(at).line;
    match sources.get(at.file).filter(|source| source.included_at.is_some()) {
        Some(source) => format!("{line} of `{}`", source.path.display()),
        None => line.to_string(),
    }
}

/// How many more there are like it, and up to where. What is said beside labels leaves out those that these point at: `None` if that
/// is all of them.
fn further(sources: &Sources, finding: &Finding, beside_labels: bool) -> Option<String> {
    let last = line_number(sources, finding.last?);
    let more = if beside_labels { finding.unseen() } else { finding.count.saturating_sub(1) };
    (more > 0).then(|| format!("and {} more, up to line {last}", thousands(more as usize)))
}

/// A number with a comma between thousands.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Where the line of a place starts.
fn line_start(sources: &Sources, at: Loc) -> usize {
    (at.span.start + 1).saturating_sub(sources.line_column(at).column) as usize
}

/// The line that starts at `start`, without its line end.
fn line_at(source: &Source, start: usize) -> &[u8] {
    let rest = source.text.get(start..).unwrap_or_default();
    rest.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Text in one line that can't steer a terminal.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let escape = |char: char| if steers(char) { char.escape_unicode().to_string() } else { char.to_string() };
    Cow::Owned(text.chars().map(escape).collect())
}

/// Whether a character can steer a terminal, end a line, or change the order in which others are shown.
fn steers(char: char) -> bool {
    char.is_control()
        || is_private(char)
        || matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character means what its writer and reader agreed on: nothing, in a configuration.
fn is_private(char: char) -> bool {
    matches!(char, '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests;
