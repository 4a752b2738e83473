//! The rules at work: all of them, and one by its name.
use std::sync::Arc;

use grammar::directive::closest;

use super::{Lint, RULES, Rule};
use crate::{finding::Finding, options::CompileOptions, program::Program, sources::Sources};

/// All findings of all rules that read the Program; those of lowering are in it already.
#[must_use]
pub fn check(sources: &Sources, program: &Arc<Program>, options: &CompileOptions) -> Vec<Finding> {
    check_each(sources, program, options, Vec::new(), |_| ())
}

/// The same, put behind the findings that there are; `ran` is told of each rule when it has run.
pub fn check_each(
    sources: &Sources,
    program: &Arc<Program>,
    options: &CompileOptions,
    findings: Vec<Finding>,
    mut ran: impl FnMut(&'static Rule),
) -> Vec<Finding> {
    let mut lint = Lint::new(sources, program, options, findings);
    for rule in RULES {
        lint.run(rule);
        ran(rule);
    }
    lint.into_findings()
}

/// Every rule, by name.
#[must_use]
pub fn all() -> &'static [&'static Rule] {
    RULES
}

/// The rule that has this name, or had it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.is_called(name) || rule.has_part(name)).copied()
}

/// The rule whose name is most like `name`, or else has it as a part; if one is like it at all.
#[must_use]
pub fn similar(name: &str) -> Option<&'static Rule> {
    let asked = name.to_ascii_lowercase().replace('_', "-");
    let contained = || RULES.iter().find(|rule| asked.len() > 3 && rule.name.contains(&asked)).copied();
    let names =
        |rule: &'static Rule| [rule.name].into_iter().chain(rule.aliases.iter().chain(rule.parts).copied());
    let near = closest(asked.as_bytes(), RULES.iter().copied().flat_map(names));
    near.and_then(find).or_else(contained)
}
