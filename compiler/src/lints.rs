//! Every lint rule, one file each, named as the rule is.
//!
//! To add one, write `lints/my_rule.rs` and run `UPDATE=1 cargo test -p compiler registry`: it writes the lines between the
//! `@generated` markers. To drop one, delete its file and its two lines here. A rule that lowering finds (a line that
//! 3proxy refuses, a word that it misreads) is declared `from lowering`, and lowering calls [`Rule::finding`].

pub mod rule;
#[cfg(test)]
pub(crate) mod tests;

// @generated from the files in `lints/`: run `UPDATE=1 cargo test -p compiler registry`.
pub(crate) mod indented_directive;

#[rustfmt::skip]
static RULES: &[&Rule] = &[
    &indented_directive::RULE,
];
// @end

pub use rule::{Group, Lint, Rule};

use std::sync::Arc;

use crate::{finding::Finding, program::Program, sources::Sources};

/// All findings of all rules that read the Program; those of lowering are in it already.
#[must_use]
pub fn check(sources: &Sources, program: &Arc<Program>) -> Vec<Finding> {
    let mut lint = Lint::new(sources, program);
    for rule in RULES {
        lint.run(rule);
    }
    lint.into_findings()
}

/// Every rule, by name.
#[must_use]
pub fn all() -> &'static [&'static Rule] {
    RULES
}

/// The rule of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name).copied()
}

/// The rule whose name is most like `name`, if one is like it at all.
#[must_use]
pub fn similar(name: &str) -> Option<&'static Rule> {
    let asked = name.to_ascii_lowercase().replace('_', "-");
    let near = |rule: &&'static Rule| (distance(asked.as_bytes(), rule.name.as_bytes()), *rule);
    let (edits, rule) = RULES.iter().map(near).min_by_key(|(edits, _)| *edits)?;
    let contained = || RULES.iter().find(|rule| asked.len() > 3 && rule.name.contains(&asked)).copied();
    if edits <= 1 + asked.len() / 4 { Some(rule) } else { contained() }
}

/// How many bytes must be inserted, removed or replaced to make `from` into `to`.
fn distance(from: &[u8], to: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (at, left) in from.iter().enumerate() {
        let mut diagonal = at;
        let mut before = at + 1;
        let mut next = vec![before];
        for (right, above) in to.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal + usize::from(left != right);
            before = replaced.min(above + 1).min(before + 1);
            next.push(before);
            diagonal = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
