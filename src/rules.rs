//! `cfgc rules`: the rules of `cfgc check`, as a table or for programs.
use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use compiler::lints::{self, Group, Rule};
use serde::Serialize;

use crate::{args::Rules, report};

/// Goes up when something in the form is removed or means something else. The form is described in docs/json.md.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    version: u32,
    rules: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    /// Names of rules that it has taken in.
    aliases: Vec<&'static str>,
    level: &'static str,
    group: &'static str,
    since: &'static str,
    refused: bool,
    fix: bool,
    summary: String,
    /// Markdown.
    docs: String,
}

/// Prints every rule.
pub(crate) fn run(args: &Rules) -> Result<ExitCode> {
    let mut out = report::stdout();
    if args.json {
        let rules = lints::all().iter().map(|rule| row(rule)).collect();
        report::write_json(&mut out, &Document { version: VERSION, rules })?;
    } else {
        table(&mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// A line for each rule, and the names of their groups.
pub(crate) fn table(out: &mut dyn Write) -> io::Result<()> {
    lines(out, lints::all().iter().copied())?;
    let groups = Group::ALL.map(Group::name).join(", ");
    writeln!(
        out,
        "\nA single finding may have another level than its rule, where it matters more or less.\n\
         Groups for --allow, --warn and --deny: {groups}. `cfgc explain RULE` explains a rule."
    )
}

/// A line for each of these rules, below a heading.
pub(crate) fn lines(out: &mut dyn Write, rules: impl Iterator<Item = &'static Rule>) -> io::Result<()> {
    let width = lints::all().iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    writeln!(out, "{:width$}  level  group        fix  finds", "rule")?;
    for rule in rules {
        let (level, group) = (rule.level.name(), rule.group.name());
        let fix = if rule.has_fix() { "yes" } else { "" };
        writeln!(out, "{:width$}  {level:5}  {group:11}  {fix:3}  {}", rule.name, one_line(rule.summary()))?;
    }
    Ok(())
}

/// A summary may be written in several lines.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn row(rule: &Rule) -> Row {
    Row {
        name: rule.name,
        aliases: rule.aliases.iter().chain(rule.parts).copied().collect(),
        level: rule.level.name(),
        group: rule.group.name(),
        since: rule.since,
        refused: rule.refused,
        fix: rule.has_fix(),
        summary: one_line(rule.summary()),
        docs: rule.markdown(),
    }
}

#[cfg(test)]
mod tests {
    use compiler::lints;

    use super::{one_line, row, table};

    #[test]
    fn every_rule_has_a_line_and_a_row() {
        let mut out = Vec::new();
        table(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for rule in lints::all() {
            let level = rule.level.name();
            let line = text.lines().find(|line| line.split(' ').next() == Some(rule.name)).unwrap();
            assert!(line.contains(level) && line.ends_with('.'), "{line}");
            let row = row(rule);
            assert!(one_line(&row.docs).starts_with(&row.summary), "{}", row.docs);
            assert!(!row.docs.contains("```3proxy"), "{}", row.docs);
        }
        assert!(text.contains("correctness, security, portability, performance, style"), "{text}");
    }
}
