//! How bad the user thinks a rule's findings are: by `--allow`, `--warn` and `--deny`, and in `cfgc.toml`.
use std::collections::HashMap;

use anyhow::Result;
use compiler::{
    finding::{Finding, Level},
    lints::{self, Rule},
};

use crate::{names, report::complain};

/// Levels from the command line. Each names a rule, a group of rules, or `all`; what names fewer rules wins, and of
/// equals the stricter.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Levels (RULE is a rule, a group of rules or `all`: see `cfgc explain`)")]
pub(crate) struct Levels {
    /// Leave out this rule's findings; may be given more than once. What 3proxy itself refuses stays denied.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Take this rule's findings for warnings.
    #[arg(long, value_name = "RULE")]
    warn: Vec<String>,
    /// Take this rule's findings for errors.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
}

impl Levels {
    /// Refuses a name that no rule and no group has, and says what an old one is now.
    pub(crate) fn validate(&self) -> Result<()> {
        self.allow.iter().chain(&self.warn).chain(&self.deny).try_for_each(|name| {
            names::tell_renamed(name);
            names::rules(name)
        })?;
        for (names, level) in [(&self.allow, Level::Allow), (&self.warn, Level::Warn)] {
            names.iter().filter_map(|name| names::stays_denied(name, level)).for_each(|told| complain(&told));
        }
        Ok(())
    }

    /// The findings with the levels that were asked for, less those that are allowed.
    pub(crate) fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let asked = self.asked();
        leveled(findings, |finding| asked.of(finding))
    }

    /// What was asked for.
    pub(crate) fn asked(&self) -> RuleLevels {
        let named = [(Level::Deny, &self.deny), (Level::Warn, &self.warn), (Level::Allow, &self.allow)];
        let all = named.into_iter().flat_map(|(level, names)| names.iter().map(move |name| (name, level)));
        RuleLevels::new(all.map(|(name, level)| (name.clone(), level)).collect())
    }
}

/// Levels that were asked for, looked up once: of each rule by the narrowest name, and of equals the strictest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RuleLevels {
    /// By the name that was given, which may be that of a part of a rule.
    named: HashMap<String, Level>,
    rules: HashMap<&'static str, Level>,
    /// Of all rules.
    all: Option<Level>,
}

impl RuleLevels {
    /// Each for a rule, a group of rules or all.
    pub(crate) fn new(asked: Vec<(String, Level)>) -> Self {
        let mut named: HashMap<String, Level> = HashMap::new();
        for (name, level) in asked {
            named.entry(name).and_modify(|known| *known = level.max(*known)).or_insert(level);
        }
        if named.is_empty() {
            return Self::default();
        }
        let all = named.get(names::ALL).copied();
        let of = |rule: &Rule| {
            let called = [rule.name].into_iter().chain(rule.aliases.iter().copied());
            let own = called.filter_map(|name| named.get(name)).max();
            own.or_else(|| named.get(rule.group.name())).copied().or(all)
        };
        let rules = lints::all().iter().filter_map(|rule| Some((rule.name, of(rule)?))).collect();
        Self { named, rules, all }
    }

    /// The level that was asked for.
    pub(crate) fn of(&self, finding: &Finding) -> Option<Level> {
        let part = finding.part.and_then(|part| self.named.get(part));
        part.or_else(|| self.rules.get(finding.rule)).copied().or(self.all)
    }
}

/// The findings with the levels that `asked` gives them, less those that are allowed. What 3proxy refuses keeps its own.
pub(crate) fn leveled(findings: Vec<Finding>, asked: impl Fn(&Finding) -> Option<Level>) -> Vec<Finding> {
    let leveled = findings.into_iter().map(|mut finding| {
        if !finding.refused {
            finding.level = asked(&finding).unwrap_or(finding.level);
        }
        finding
    });
    leveled.filter(|finding| finding.level != Level::Allow).collect()
}

#[cfg(test)]
mod tests {
    use compiler::{
        finding::{Finding, Level},
        sources::Loc,
    };

    use super::Levels;

    fn levels(allow: &[&str], warn: &[&str], deny: &[&str]) -> Levels {
        let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Levels { allow: owned(allow), warn: owned(warn), deny: owned(deny) }
    }

    fn level(levels: &Levels, refused: bool) -> Option<Level> {
        let mut finding = Finding::new("indented-directive", Level::Warn, Loc::default(), "x");
        finding.refused = refused;
        levels.apply(vec![finding]).first().map(|finding| finding.level)
    }

    #[test]
    fn the_narrower_name_wins_then_the_stricter_level() {
        let rule = "indented-directive";
        for (levels, expected) in [
            (levels(&[], &[], &[]), Some(Level::Warn)),
            (levels(&[rule], &[], &[]), None),
            (levels(&["all"], &[], &[]), None),
            (levels(&["all"], &[], &[rule]), Some(Level::Deny)),
            (levels(&[rule], &[], &["correctness"]), None),
            (levels(&["correctness"], &["all"], &[]), None),
            (levels(&[rule], &[rule], &[]), Some(Level::Warn)),
            (levels(&["security"], &[], &[]), Some(Level::Warn)),
        ] {
            assert_eq!(level(&levels, false), expected, "{levels:?}");
            assert_eq!(level(&levels, true), Some(Level::Warn), "{levels:?}");
        }
    }

    #[test]
    fn an_old_name_still_counts() {
        let old = levels(&["port-range-reversed"], &[], &[]);
        assert!(old.validate().is_ok());
        let other = Finding::new("port-list-malformed", Level::Deny, Loc::default(), "x");
        let finding = other.clone().part("port-range-reversed");
        assert_eq!(old.apply(vec![finding.clone(), other.clone()]), std::slice::from_ref(&other));
        let but = levels(&["port-list-malformed"], &["port-range-reversed"], &[]);
        let left: Vec<Level> = but.apply(vec![finding, other]).iter().map(|finding| finding.level).collect();
        assert_eq!(left, [Level::Warn]);
        assert_eq!(
            crate::names::renamed("deny-all-missing").unwrap(),
            "the rule `deny-all-missing` is now called `implicit-deny-surprise`"
        );
        assert_eq!(
            (crate::names::renamed("port-range-reversed"), crate::names::renamed("all")),
            (None, None)
        );
    }

    #[test]
    fn an_unknown_name_is_refused() {
        assert!(levels(&["all"], &["security"], &["indented-directive"]).validate().is_ok());
        let error = levels(&["indented-directives"], &[], &[]).validate().unwrap_err().to_string();
        assert_eq!(error, "there is no rule `indented-directives`: did you mean `indented-directive`?");
    }
}
