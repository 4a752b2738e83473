//! `cfgc explain NAME`: the documentation of a rule, a group of rules, or whatever else a finding is called by.
use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use compiler::lints::{self, Group, Rule};

use crate::{
    args::Explain,
    doctor::checks,
    names::{self, Named},
    report, rules,
};

/// Prints a rule's documentation, or a list of all rules.
pub(crate) fn run(args: &Explain) -> Result<ExitCode> {
    let mut out = report::stdout();
    match &args.rule {
        Some(name) => match names::find(name)? {
            Named::Rule(rule) => {
                names::tell_renamed(name);
                out.write_all(explanation(rule).as_bytes())?;
            }
            Named::Group(group) => explain_group(&mut out, group)?,
            Named::Word(found) => {
                writeln!(out, "# Rules with `{name}` in their names\n")?;
                rules::lines(&mut out, found.into_iter())?;
                writeln!(out, "\n`cfgc explain RULE` explains a rule.")?;
            }
            Named::Check(check) => {
                write!(out, "# {} (from `cfgc doctor` only)\n\n{}", check.name, unindented(check.docs))?
            }
            Named::Run(finding) => {
                write!(out, "# {} (deny, from `cfgc run` only)\n\n{}", finding.name, finding.docs)?
            }
        },
        None => {
            rules::table(&mut out)?;
            let names: Vec<_> = checks::ALL.iter().map(|check| check.name).collect();
            writeln!(out, "\nChecks of `cfgc doctor`: {}.", names.join(", "))?;
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// What a group is, with a line for each of its rules.
fn explain_group(out: &mut dyn Write, group: Group) -> io::Result<()> {
    let name = group.name();
    writeln!(out, "# {name} (a group of rules)\n\n{}\n", group.summary())?;
    rules::lines(out, lints::all().iter().copied().filter(|rule| rule.group == group))?;
    writeln!(
        out,
        "\n`--deny {name}` and a line `{name} = \"deny\"` in `cfgc.toml` are for all of them (`warn` and `allow` too); \
         `cfgc explain RULE` explains a rule."
    )
}

/// Documentation without the blank that stands behind `///`.
fn unindented(docs: &str) -> String {
    docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

/// A rule's documentation with a heading, as Markdown.
fn explanation(rule: &Rule) -> String {
    let Rule { name, level, group, since, .. } = rule;
    // What 3proxy refuses is always denied.
    let others = if rule.refused {
        ""
    } else {
        "\nA single finding may have another level than its rule, where it matters more or less.\n"
    };
    format!("# {name} ({}, {}, since {since})\n\n{}{others}", level.name(), group.name(), rule.markdown())
}

#[cfg(test)]
mod tests {
    use compiler::lints::{self, Group};

    use super::{explain_group, explanation};

    #[test]
    fn a_group_is_explained_with_all_its_rules() {
        for group in Group::ALL {
            let mut out = Vec::new();
            explain_group(&mut out, group).unwrap();
            let text = String::from_utf8(out).unwrap();
            for rule in lints::all() {
                let is_listed = text.lines().any(|line| line.split(' ').next() == Some(rule.name));
                assert_eq!(is_listed, rule.group == group, "{text}");
            }
            assert!(text.starts_with(&format!("# {} (a group of rules)\n", group.name())), "{text}");
            assert!(text.contains(group.summary()), "{text}");
        }
    }

    #[test]
    fn every_rule_explains_itself() {
        for rule in lints::all() {
            let text = explanation(rule);
            assert!(text.starts_with(&format!("# {} (", rule.name)), "{text}");
            // What is for the tests of the examples.
            for mark in ["```3proxy", "{NUL}", "{BOM}", "{CR}", "{LATIN1}", "{EOF}", "{REP:"] {
                assert!(!text.contains(mark), "{text}");
            }
            assert_eq!(text.matches("```").count() % 2, 0, "{text}");
        }
    }
}
