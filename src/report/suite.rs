//! How the results of policy tests look.
mod json;
mod junit;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};

use compiler::{
    Compiled,
    query::{self, Query, moment_name, operation_name},
    suite::{Difference, Ran, coverage::Coverage},
};

use crate::args::SuiteFormat;

/// The tests of one file that were run.
pub(crate) struct SuiteFile<'a> {
    /// The file.
    pub(crate) path: &'a str,
    /// How many tests stand in it.
    pub(crate) tests: usize,
    /// Those that were run, in file order.
    pub(crate) ran: Vec<Ran<'a>>,
}

/// What is reported.
pub(crate) struct Results<'a> {
    /// The configuration that was asked.
    pub(crate) compiled: &'a Compiled,
    /// The tests.
    pub(crate) files: &'a [SuiteFile<'a>],
    /// What they reached, if that is wanted.
    pub(crate) coverage: Option<&'a [Coverage]>,
}

impl Results<'_> {
    /// How many tests were run.
    fn ran(&self) -> usize {
        self.files.iter().map(|file| file.ran.len()).sum()
    }

    /// How many tests failed.
    pub(crate) fn failed(&self) -> usize {
        self.files.iter().map(SuiteFile::failed).sum()
    }

    /// What a query asks, as `HTTP_CONNECT example.com:443` by `bob` from 10.0.0.7.
    fn asked(&self, query: &Query) -> String {
        let service = query::describe(&self.compiled.sources, &self.compiled.program, query.service);
        let mut text = format!("`{service}` is asked for `{}", operation_name(query.operation));
        match query.host() {
            Some(host) if host.contains(':') => text += &format!(" [{host}]:{}", query.port),
            Some(host) => text += &format!(" {host}:{}", query.port),
            None => {}
        }
        text.push('`');
        if let Some(user) = &query.user {
            text += &format!(" by `{user}`");
        }
        if let Some(from) = query.from {
            text += &format!(" from {from}");
        }
        if let Some(at) = query.at {
            text += &format!(" at {}", moment_name(at));
        }
        text
    }
}

impl SuiteFile<'_> {
    fn failed(&self) -> usize {
        self.ran.iter().filter(|ran| !ran.differences.is_empty()).count()
    }
}

/// What differs, as lines of a test file: what the test says, and what it would have to say.
enum Lines {
    /// Of one key.
    Differ { expected: String, got: String },
    /// There is no answer, and why.
    Missing(String),
}

impl Lines {
    fn of(difference: &Difference) -> Self {
        match difference {
            Difference::Value { key, expected, got } => Self::Differ {
                expected: format!("{key} = {}", in_toml(key, expected)),
                got: format!("{key} = {}", in_toml(key, got)),
            },
            Difference::Missing(parts) => {
                let names: Vec<_> = parts.iter().map(|part| format!("`{}`", part.name())).collect();
                Self::Missing(format!("the result depends on {}: add it to the test", names.join(" and ")))
            }
        }
    }
}

/// A value as it stands in a test file.
fn in_toml(key: &str, value: &str) -> String {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match key {
        "entry" if is_number => value.to_owned(),
        "parent" if value.contains(", ") => format!("[\"{}\"]", value.replace(", ", "\", \"")),
        _ => format!("\"{value}\""),
    }
}

/// Writes the results.
pub(crate) fn write(
    out: &mut dyn Write,
    results: &Results<'_>,
    format: SuiteFormat,
    color: bool,
) -> io::Result<()> {
    match format {
        SuiteFormat::Text => text::write(out, results, color),
        SuiteFormat::Json => json::write(out, results),
        SuiteFormat::Junit => junit::write(out, results),
    }
}
