//! Reads `cfgc.toml`, in which every key is known.
use std::{ops::Range, path::PathBuf};

use compiler::{
    finding::Level,
    options::{Allowances, Runner},
};
use glob::Pattern;
use grammar::{LineColumn, LineIndex};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{Covered, Override, Settings};
use crate::{
    levels::RuleLevels,
    names::{self, guess},
};

/// The keys of a file, and those of an override.
const KEYS: [&str; 4] = ["target", "inline-allowances", "rules", "overrides"];
const OVERRIDE: [&str; 2] = ["paths", "rules"];
const LEVELS: [Level; 3] = [Level::Allow, Level::Warn, Level::Deny];

/// Something to be said of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    pub(super) at: LineColumn,
    pub(super) message: String,
}

/// The settings that `text` holds, for the files in and below `folder`.
pub(super) fn read(text: &str, folder: PathBuf) -> Result<Settings, Vec<Fault>> {
    let mut reader = Reader { index: LineIndex::new(text.as_bytes()), faults: Vec::new(), hints: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        reader.fault(error.span().unwrap_or(0..0), error.message());
    }
    let mut settings = Settings { folder, ..Settings::default() };
    if reader.faults.is_empty() {
        reader.file(table.get_ref(), &mut settings);
    }
    if reader.faults.is_empty() {
        settings.hints = reader.hints;
        return Ok(settings);
    }
    reader.faults.sort_by_key(|fault| (fault.at.line, fault.at.column));
    Err(reader.faults)
}

struct Reader {
    index: LineIndex,
    faults: Vec<Fault>,
    hints: Vec<Fault>,
}

type Value<'a> = Spanned<DeValue<'a>>;

impl Reader {
    fn place(&self, at: Range<usize>) -> LineColumn {
        self.index.line_column(u32::try_from(at.start).unwrap_or(u32::MAX))
    }

    fn fault(&mut self, at: Range<usize>, message: impl Into<String>) {
        let at = self.place(at);
        self.faults.push(Fault { at, message: message.into() });
    }

    fn file(&mut self, table: &DeTable<'_>, settings: &mut Settings) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "target" => {
                    let runner = self.one_of("target", value, &Runner::ALL, Runner::name);
                    settings.runner = runner.unwrap_or_default();
                }
                name @ "inline-allowances" => {
                    let allowances = self.one_of(name, value, &Allowances::ALL, Allowances::name);
                    settings.allowances = allowances.unwrap_or_default();
                }
                "rules" => settings.rules = self.rules(value),
                "overrides" => settings.overrides = self.overrides(value),
                unknown => self.unknown(key.span(), unknown, &KEYS),
            }
        }
    }

    fn overrides(&mut self, value: &Value<'_>) -> Vec<Override> {
        let DeValue::Array(tables) = value.get_ref() else {
            self.wrong_type("overrides", value, "an array of tables: write `[[overrides]]`");
            return Vec::new();
        };
        tables.iter().filter_map(|table| self.one_override(table)).collect()
    }

    fn one_override(&mut self, value: &Value<'_>) -> Option<Override> {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type("overrides", value, "an array of tables: write `[[overrides]]`");
            return None;
        };
        let (mut paths, mut rules) = (None, None);
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "paths" => paths = Some(self.paths(value)),
                "rules" => rules = Some(self.rules(value)),
                unknown => self.unknown(key.span(), unknown, &OVERRIDE),
            }
        }
        for (key, is_there) in [("paths", paths.is_some()), ("rules", rules.is_some())] {
            if !is_there {
                self.fault(value.span(), format!("these overrides have no `{key}`"));
            }
        }
        Some(Override { paths: paths?, rules: rules? })
    }

    fn paths(&mut self, value: &Value<'_>) -> Vec<Covered> {
        let DeValue::Array(items) = value.get_ref() else {
            self.wrong_type("paths", value, "an array of patterns");
            return Vec::new();
        };
        if items.is_empty() {
            self.fault(value.span(), "`paths` is empty, so these overrides apply to no file");
        }
        let mut patterns = Vec::new();
        for item in items {
            let DeValue::String(text) = item.get_ref() else {
                self.wrong_type("paths", item, "an array of patterns");
                continue;
            };
            match covered(text) {
                Ok(covered) => patterns.push(covered),
                Err(why) => self.fault(item.span(), why),
            }
        }
        patterns
    }

    fn rules(&mut self, value: &Value<'_>) -> RuleLevels {
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type("rules", value, "a table: write `[rules]`");
            return RuleLevels::default();
        };
        let mut asked = Vec::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            if let Err(error) = names::rules(name) {
                self.fault(key.span(), error.to_string());
            }
            if let Some(message) = names::renamed(name) {
                let at = self.place(key.span());
                self.hints.push(Fault { at, message });
            }
            let level = self.one_of(name, value, &LEVELS, Level::name);
            if let Some(message) = level.and_then(|level| names::stays_denied(name, level)) {
                let at = self.place(key.span());
                self.hints.push(Fault { at, message });
            }
            asked.extend(level.map(|level| (name.to_owned(), level)));
        }
        RuleLevels::new(asked)
    }

    /// The one of `all` that a text names.
    fn one_of<T: Copy>(
        &mut self,
        key: &str,
        value: &Value<'_>,
        all: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let names = || all.iter().map(|one| name(*one));
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_type(key, value, &format!("one of `{}`", names().collect::<Vec<_>>().join("`, `")));
            return None;
        };
        let found = all.iter().copied().find(|one| name(*one) == text.as_ref());
        if found.is_none() {
            let help = guess(text, &names().collect::<Vec<_>>(), "values");
            self.fault(value.span(), format!("`{key}` can't be `{text}`: {help}"));
        }
        found
    }

    fn unknown(&mut self, at: Range<usize>, key: &str, known: &[&'static str]) {
        self.fault(at, format!("there is no key `{key}` here: {}", guess(key, known, "keys")));
    }

    fn wrong_type(&mut self, key: &str, value: &Value<'_>, wanted: &str) {
        let found = value.get_ref().type_str();
        self.fault(value.span(), format!("`{key}` is a TOML {found}, but should be {wanted}"));
    }
}

/// What a pattern is for, or why no file can be like it.
fn covered(text: &str) -> Result<Covered, String> {
    let fault = |why: &str| Err(format!("`{text}` cannot match any file: {why}"));
    if text.is_empty() {
        return fault("it is empty; write `**` for all");
    }
    if text.starts_with('/') {
        return fault("write the path relative to the folder of `cfgc.toml`, without a leading `/`");
    }
    // A folder covers what is in it.
    let (path, mut inside) = (text.trim_end_matches('/'), text);
    while let Some(rest) = inside.strip_prefix("./") {
        inside = rest.trim_start_matches('/');
    }
    let inside = match inside.trim_end_matches('/') {
        "" | "." => "**",
        inside => inside,
    };
    if inside.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return fault(
            "write a path without `.`, `..` and empty parts; put `cfgc.toml` into a folder above the file",
        );
    }
    let pattern =
        Pattern::new(inside).map_err(|error| format!("`{text}` is not a pattern: {}", error.msg))?;
    Ok(Covered { pattern, anywhere: !path.contains('/') })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("targets = \"cfgc\"", "1:1: there is no key `targets` here: did you mean `target`?"),
            (
                "x = 1",
                "1:1: there is no key `x` here: the keys are `target`, `inline-allowances`, `rules`, `overrides`",
            ),
            ("target = \"3proxy 1\"", "1:10: `target` can't be `3proxy 1`: did you mean `3proxy 1.0`?"),
            (
                "target = 1",
                "1:10: `target` is a TOML integer, but should be one of `3proxy 0.9`, `3proxy 1.0`, `cfgc`",
            ),
            (
                "inline-allowances = \"forbidden\"",
                "1:21: `inline-allowances` can't be `forbidden`: the values are `allow`, `reason`, `forbid`",
            ),
            (
                "[rules]\nopen-proxi = \"warn\"",
                "2:1: there is no rule `open-proxi`: did you mean `open-proxy`?",
            ),
            ("[rules]\nopen-proxy = \"wran\"", "2:14: `open-proxy` can't be `wran`: did you mean `warn`?"),
            ("rules = 1", "1:9: `rules` is a TOML integer, but should be a table: write `[rules]`"),
            (
                "[overrides]\n",
                "1:1: `overrides` is a TOML table, but should be an array of tables: write `[[overrides]]`",
            ),
            ("[[overrides]]\npaths = [\"a\"]", "1:1: these overrides have no `rules`"),
            (
                "[[overrides]]\npaths = [\"[\"]\nrules = {}",
                "2:10: `[` is not a pattern: invalid range pattern",
            ),
            (
                "[[overrides]]\npath = []\npaths = [\"a\"]\nrules = {}",
                "2:1: there is no key `path` here: did you mean `paths`?",
            ),
            (
                "[[overrides]]\npaths = []\nrules = {}",
                "2:9: `paths` is empty, so these overrides apply to no file",
            ),
            (
                "[[overrides]]\npaths = [\"\"]\nrules = {}",
                "2:10: `` cannot match any file: it is empty; write `**` for all",
            ),
            (
                "[[overrides]]\npaths = [\"/\"]\nrules = {}",
                "2:10: `/` cannot match any file: write the path relative to the folder of `cfgc.toml`, without a leading `/`",
            ),
            (
                "[[overrides]]\npaths = [\"../*\"]\nrules = {}",
                "2:10: `../*` cannot match any file: write a path without `.`, `..` and empty parts; put `cfgc.toml` into a folder above the file",
            ),
        ] {
            let faults = read(text, "/".into()).unwrap_err();
            let told = faults
                .iter()
                .map(|fault| format!("{}:{}: {}", fault.at.line, fault.at.column, fault.message));
            assert_eq!(told.collect::<Vec<_>>(), [expected], "{text}");
        }
        assert!(read("target = ", "/".into()).is_err());
    }
}
