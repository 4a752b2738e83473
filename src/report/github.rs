//! Findings as annotations of a GitHub workflow: <https://docs.github.com/actions/reference/workflow-commands-for-github-actions>.
use std::{borrow::Cow, path::Path};

use compiler::{
    finding::{Finding, Level},
    sources::Sources,
};

use super::{further, location::Location, printable, relative};

/// The command that makes an annotation of a finding.
pub(super) fn finding(sources: &Sources, finding: &Finding) -> String {
    let command = if finding.level == Level::Deny { "error" } else { "warning" };
    let Location { path, start, end } = Location::of(sources, finding.at);
    let mut message = finding.message.to_string();
    if let Some(further) = further(sources, finding, false) {
        message += &format!(" ({further})");
    }
    for note in &finding.notes {
        message += &format!("\n{note}");
    }
    if let Some(help) = &finding.help {
        message += &format!("\nhelp: {help}");
    }
    // Columns count only within a line.
    let columns = match start.0 == end.0 {
        true => format!(",col={},endColumn={}", start.1, end.1),
        false => String::new(),
    };
    format!(
        "::{command} file={},line={},endLine={}{columns},title={}::{}",
        property(&path),
        start.0,
        end.0,
        property(&format!("cfgc: {}", finding.rule)),
        data(&message)
    )
}

/// The same of a file that could not be checked.
pub(super) fn failed(path: &Path, why: &str) -> String {
    format!("::error file={},title=cfgc::{}", property(&relative(path)), data(why))
}

/// A message as it is written.
fn data(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.split('\n').map(printable).collect();
    lines.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property as it is written.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::{data, property};

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(data("50 %\nnot, here: ::"), "50 %25%0Anot, here: ::");
        assert_eq!(data("a\r::error::x"), "a\\u{d}::error::x");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }
}
