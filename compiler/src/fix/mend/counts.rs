//! What is found in a configuration, before and after a fix.
use std::collections::BTreeMap;

use crate::{
    Compiled,
    finding::{Finding, Level},
    fix::Safety,
};

/// How much each rule finds.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// And at which level, at most.
    rules: BTreeMap<&'static str, (u64, Level)>,
    /// What 3proxy refuses.
    refused: u64,
}

/// What fixes may bring.
#[derive(Clone, Copy)]
pub(super) enum Bearable {
    Nothing,
    /// What is less bad than that 3proxy refuses the file.
    LessThanRefused,
}

impl Bearable {
    /// What the fixes of these findings may.
    pub(super) fn of(findings: &[&Finding]) -> Self {
        let is_safe = |finding: &Finding| finding.fix.as_ref().is_some_and(|fix| fix.safety == Safety::Safe);
        let reads = findings.iter().all(|finding| finding.refused && is_safe(finding));
        if reads && !findings.is_empty() { Self::LessThanRefused } else { Self::Nothing }
    }
}

impl Counts {
    pub(super) fn of(compiled: &Compiled) -> Self {
        let mut counts = Self::default();
        for finding in &compiled.findings {
            let (count, level) = counts.rules.entry(finding.rule).or_insert((0, finding.level));
            *count += u64::from(finding.count);
            *level = finding.level.max(*level);
            counts.refused += if finding.refused { u64::from(finding.count) } else { 0 };
        }
        counts
    }

    /// The rules that find more now than `before`, and more than is bearable.
    pub(super) fn more_than(&self, before: &Self, bearable: Bearable) -> Vec<&'static str> {
        let is_more = |(rule, (count, level)): &(&&'static str, &(u64, Level))| {
            let is_borne = matches!(bearable, Bearable::LessThanRefused) && *level < Level::Deny;
            !is_borne && *count > before.rules.get(*rule).map_or(0, |(count, _)| *count)
        };
        self.rules.iter().filter(is_more).map(|(rule, _)| *rule).collect()
    }

    /// How much less is found now than `before`, or refused where something else may come for it.
    pub(super) fn less_than(&self, before: &Self, bearable: Bearable) -> u64 {
        let total = |counts: &Self| counts.rules.values().map(|(count, _)| count).sum::<u64>();
        match bearable {
            Bearable::Nothing => total(before).saturating_sub(total(self)),
            Bearable::LessThanRefused => before.refused.saturating_sub(self.refused),
        }
    }
}
