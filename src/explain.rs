//! `cfgc explain RULE`: the rule's own documentation.
use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Error, Result, anyhow};
use compiler::lints::{self, Rule};
use runtime::findings::EXPLAINED;

use crate::{args::Explain, doctor::checks, rules};

/// Prints a rule's documentation, or a list of all rules.
pub(crate) fn run(args: &Explain) -> Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match &args.rule {
        Some(name) => match EXPLAINED.iter().find(|finding| finding.name == name) {
            Some(finding) => {
                write!(out, "# {} (deny, from `cfgc run` only)\n\n{}", finding.name, finding.docs)?
            }
            None => match checks::ALL.iter().find(|check| check.name == name) {
                Some(check) => {
                    write!(out, "# {} (from `cfgc doctor` only)\n\n{}", check.name, unindented(check.docs))?
                }
                None => out.write_all(explanation(rule(name)?).as_bytes())?,
            },
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

/// Documentation without the blank that stands behind `///`.
fn unindented(docs: &str) -> String {
    docs.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect()
}

fn rule(name: &str) -> Result<&'static Rule> {
    lints::find(name).ok_or_else(|| unknown(name))
}

/// That no rule is called `name`, and what may have been meant.
pub(crate) fn unknown(name: &str) -> Error {
    if EXPLAINED.iter().any(|finding| finding.name == name) {
        return anyhow!("`{name}` can't be allowed: cfgc would not do what the configuration says");
    }
    if checks::ALL.iter().any(|check| check.name == name) {
        return anyhow!("`{name}` is a check of `cfgc doctor`, no rule");
    }
    match lints::similar(name) {
        Some(rule) => anyhow!("there is no rule `{name}`: did you mean `{}`?", rule.name),
        None if name.contains(',') => {
            anyhow!("there is no rule `{name}`: give the option once for each rule")
        }
        None => anyhow!("there is no rule `{name}`: `cfgc explain` lists all"),
    }
}

/// A rule's documentation with a heading, as Markdown.
fn explanation(rule: &Rule) -> String {
    let Rule { name, level, group, since, .. } = rule;
    format!("# {name} ({}, {}, since {since})\n\n{}", level.name(), group.name(), rule.markdown())
}

#[cfg(test)]
mod tests {
    use compiler::lints;

    use super::{explanation, rule};

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

    #[test]
    fn an_unknown_rule_is_refused_with_a_guess() {
        let error = |name| rule(name).unwrap_err().to_string();
        assert!(error("indented_directive").ends_with("did you mean `indented-directive`?"));
        assert!(error("qqqqqqqqqq").ends_with("`cfgc explain` lists all"));
        assert!(error("open-proxy,user-dropped").ends_with("once for each rule"));
        assert!(error("not-executed").starts_with("`not-executed` can't be allowed"));
        assert!(error("open-files").ends_with("is a check of `cfgc doctor`, no rule"));
    }
}
