//! Which findings keep a configuration from running.
use std::collections::HashSet;

use compiler::finding::{Finding, Level};

use crate::supported;

/// Rules whose findings are put up with. What 3proxy itself refuses, and what is not executed, never is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allow {
    /// None.
    #[default]
    Nothing,
    /// These.
    Rules(HashSet<String>),
    /// All.
    All,
}

impl Allow {
    /// Whether a configuration with this finding is not to be run.
    #[must_use]
    pub fn refuses(&self, finding: &Finding) -> bool {
        let allowed = match self {
            Self::Nothing => false,
            Self::Rules(rules) => rules.contains(finding.rule),
            Self::All => true,
        };
        finding.level == Level::Deny && (finding.refused || finding.rule == supported::RULE || !allowed)
    }
}

#[cfg(test)]
mod tests {
    use compiler::{
        finding::{Finding, Level},
        sources::Loc,
    };

    use super::Allow;
    use crate::supported;

    #[test]
    fn what_is_allowed_passes_but_not_what_3proxy_refuses_or_cfgc_can_not_do() {
        let finding = |rule, level| Finding::new(rule, level, Loc::default(), "x");
        let rules = Allow::Rules(["a".to_owned()].into());
        let refused = Finding { refused: true, ..finding("a", Level::Deny) };
        let cases = [
            (finding("a", Level::Warn), [false, false, false]),
            (finding("a", Level::Deny), [true, false, false]),
            (finding("b", Level::Deny), [true, true, false]),
            (finding(supported::RULE, Level::Deny), [true, true, true]),
            (refused, [true, true, true]),
        ];
        for (finding, expected) in cases {
            let refuses = [&Allow::Nothing, &rules, &Allow::All].map(|allow| allow.refuses(&finding));
            assert_eq!(refuses, expected, "{finding:?}");
        }
    }
}
