//! Test files: TOML, in which every key is known.
use std::{collections::HashMap, ops::Range};

use grammar::{
    LineColumn, LineIndex,
    directive::{closest, did_you_mean},
};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{Deciding, Suite, SuiteError, Test, Written, WrittenRequest};
use crate::query::Outcome;

/// The keys of a test and of the defaults.
const KEYS: [&str; 12] =
    ["name", "service", "from", "user", "to", "op", "at", "resolve", "expect", "entry", "parent", "external"];
/// The keys of a file.
const TABLES: [&str; 2] = ["defaults", "test"];

impl Suite {
    /// Reads a file.
    ///
    /// # Errors
    /// All that is wrong with it, in file order: something that is no TOML, an unknown key, a value of the
    /// wrong type, a test without a name or an expectation, no test at all.
    pub fn read(text: &str) -> Result<Self, Vec<SuiteError>> {
        let mut reader = Reader { index: LineIndex::new(text.as_bytes()), errors: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let at = reader.place(error.span().unwrap_or(0..0));
            reader.errors.push(SuiteError { at, message: error.message().to_owned(), help: None });
        }
        if !reader.errors.is_empty() {
            return Err(reader.errors);
        }
        let suite = reader.suite(table.get_ref());
        if reader.errors.is_empty() { Ok(suite) } else { Err(SuiteError::sorted(reader.errors)) }
    }
}

struct Reader {
    index: LineIndex,
    errors: Vec<SuiteError>,
}

/// The values of a test or of the defaults, each under its key.
type Values<'a> = HashMap<&'static str, &'a Spanned<DeValue<'a>>>;

impl Reader {
    fn place(&self, span: Range<usize>) -> LineColumn {
        self.index.line_column(u32::try_from(span.start).unwrap_or(u32::MAX))
    }

    fn error(&mut self, span: Range<usize>, message: String, help: impl Into<Option<String>>) {
        let at = self.place(span);
        self.errors.push(SuiteError { at, message, help: help.into() });
    }

    fn suite(&mut self, file: &DeTable<'_>) -> Suite {
        let mut defaults = Values::new();
        let mut tests = Vec::new();
        for (key, value) in file {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("defaults", DeValue::Table(table)) => {
                    defaults = self.values(table);
                    if let Some(name) = defaults.remove("name") {
                        let message = "each test has a name of its own".to_owned();
                        self.error(name.span(), message, "write it into the tests".to_owned());
                    }
                }
                ("defaults", other) => self.wrong_type(value.span(), "defaults", other, "a table"),
                ("test", DeValue::Array(array)) => tests.extend(array.iter()),
                ("test", other) => {
                    self.wrong_type(value.span(), "test", other, "an array of tables: write `[[test]]`");
                }
                (unknown, _) => self.unknown(key.span(), unknown, &TABLES),
            }
        }
        let mut suite = Suite::default();
        for test in &tests {
            match test.get_ref() {
                DeValue::Table(table) => suite.tests.extend(self.test(test.span(), table, &defaults)),
                other => self.wrong_type(test.span(), "test", other, "an array of tables: write `[[test]]`"),
            }
        }
        self.refuse_equal_names(&suite);
        if tests.is_empty() && self.errors.is_empty() {
            self.error(0..0, "there is no test in the file".to_owned(), "write `[[test]]`".to_owned());
        }
        suite
    }

    fn refuse_equal_names(&mut self, suite: &Suite) {
        let mut first: HashMap<&str, LineColumn> = HashMap::new();
        for test in &suite.tests {
            let known = *first.entry(&test.name).or_insert(test.at);
            if known != test.at {
                let message = format!("there is a test `{}` already, in line {}", test.name, known.line);
                self.errors.push(SuiteError { at: test.at, message, help: None });
            }
        }
    }

    /// The known keys of a table.
    fn values<'a>(&mut self, table: &'a DeTable<'a>) -> Values<'a> {
        let mut values = Values::new();
        for (key, value) in table {
            let written = key.get_ref().as_ref();
            match KEYS.into_iter().find(|known| *known == written) {
                Some(known) => drop(values.insert(known, value)),
                None => self.unknown(key.span(), written, &KEYS),
            }
        }
        values
    }

    fn unknown(&mut self, span: Range<usize>, key: &str, known: &[&'static str]) {
        let meant = closest(key.as_bytes(), known.iter().copied());
        let help = meant.map_or_else(|| format!("the keys are `{}`", known.join("`, `")), did_you_mean);
        self.error(span, format!("there is no key `{key}` here"), help);
    }

    fn wrong_type(&mut self, span: Range<usize>, key: &str, found: &DeValue<'_>, wanted: &str) {
        let found = found.type_str();
        self.error(span, format!("`{key}` is a TOML {found}, but should be {wanted}"), None);
    }

    fn test(&mut self, span: Range<usize>, table: &DeTable<'_>, defaults: &Values<'_>) -> Option<Test> {
        let own = self.values(table);
        let all: Values<'_> = defaults.iter().chain(&own).map(|(key, value)| (*key, *value)).collect();
        let mut written = |key| self.written(key, all.get(key)?);
        let request = WrittenRequest {
            service: written("service"),
            user: written("user"),
            from: written("from"),
            to: written("to"),
            op: written("op"),
            at: written("at"),
            resolve: written("resolve"),
        };
        let external = written("external").map(|external| external.text);
        let entry = all.get("entry").and_then(|value| self.entry(value));
        let parents = all.get("parent").and_then(|value| self.parents(value));
        let expects = format!("write `expect = \"{}\"`", Outcome::Allow.name());
        let outcome = self.required("expect", &all, &span, "this test expects nothing", &expects);
        let outcome = outcome.and_then(|written| self.outcome(&written));
        let named = "write `name = \"…\"`: what it is about";
        let name = self.required("name", &all, &span, "this test has no name", named)?.text;
        Some(Test { name, at: self.place(span), request, outcome: outcome?, entry, parents, external })
    }

    fn required(
        &mut self,
        key: &str,
        values: &Values<'_>,
        test: &Range<usize>,
        missing: &str,
        help: &str,
    ) -> Option<Written> {
        let value = values.get(key).filter(|value| value.get_ref().as_str() != Some(""));
        match value {
            Some(value) => self.written(key, value),
            None => {
                self.error(test.clone(), missing.to_owned(), help.to_owned());
                None
            }
        }
    }

    /// A text that is not empty; an empty one takes a default back.
    fn written(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Option<Written> {
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(value.span(), key, value.get_ref(), "a string");
            return None;
        };
        (!text.is_empty()).then(|| Written { text: text.to_owned(), at: self.place(value.span()) })
    }

    fn outcome(&mut self, written: &Written) -> Option<Outcome> {
        let names = Outcome::ALL.map(Outcome::name);
        let found = Outcome::ALL.into_iter().find(|outcome| outcome.name() == written.text);
        if found.is_none() {
            let help = match closest(written.text.as_bytes(), names.into_iter()) {
                Some(meant) => did_you_mean(meant),
                None => format!("write one of `{}`", names.join("`, `")),
            };
            let message = format!("`{}` is no outcome", written.text);
            self.errors.push(SuiteError { at: written.at, message, help: Some(help) });
        }
        found
    }

    /// `12`, `"12"`, `"included.cfg:12"`, `"end"` or `"none"`.
    fn entry(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Deciding> {
        let line = |text: &str| text.parse::<u32>().ok().filter(|line| *line > 0);
        let found = match value.get_ref() {
            DeValue::Integer(number) => {
                line(number.as_str()).filter(|_| number.radix() == 10).map(|line| Deciding::Line(None, line))
            }
            DeValue::String(text) => match text.as_ref() {
                "" => return None,
                "end" => Some(Deciding::End),
                "none" => Some(Deciding::Nothing),
                text => match text.rsplit_once(':') {
                    Some((file, number)) => {
                        line(number).map(|line| Deciding::Line(Some(file.to_owned()), line))
                    }
                    None => line(text).map(|line| Deciding::Line(None, line)),
                },
            },
            _ => None,
        };
        if found.is_none() {
            let help =
                "write a line, as `12` or `\"included.cfg:12\"`, or `\"end\"`, or `\"none\"`".to_owned();
            self.error(value.span(), "`entry` is no line".to_owned(), help);
        }
        found
    }

    /// One text or several; blanks are as in a `parent` line.
    fn parents(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let found: Option<Vec<String>> = match value.get_ref() {
            DeValue::String(text) if text.is_empty() => return None,
            DeValue::String(text) => Some(vec![plain(text)]),
            DeValue::Array(array) => array.iter().map(|one| one.get_ref().as_str().map(plain)).collect(),
            _ => None,
        };
        let is_way = |way: &String| way == "direct" || way.split(' ').count() == 3;
        let found = found.filter(|ways| !ways.is_empty() && ways.iter().all(is_way));
        if found.is_none() {
            let help = "write `\"TYPE HOST PORT\"`, `\"direct\"`, or an array of these".to_owned();
            self.error(value.span(), "`parent` names no parent".to_owned(), help);
        }
        found
    }
}
