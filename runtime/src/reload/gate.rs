//! Which findings keep a configuration from running.
use std::{fmt, sync::Arc};

use compiler::finding::{Finding, Level};

/// How bad the operator thinks findings are: gives each the level that was asked for, and leaves out those that are allowed.
///
/// What 3proxy itself refuses must stay denied. What is not executed is never asked about.
#[derive(Clone)]
pub struct Levels(Arc<dyn Fn(Vec<Finding>) -> Vec<Finding> + Send + Sync>);

impl Levels {
    /// Levels by `apply`.
    pub fn new(apply: impl Fn(Vec<Finding>) -> Vec<Finding> + Send + Sync + 'static) -> Self {
        Self(Arc::new(apply))
    }

    /// Findings with the levels that were asked for.
    pub(super) fn apply(&self, findings: Vec<Finding>) -> Vec<Finding> {
        (self.0)(findings)
    }
}

impl Default for Levels {
    /// Each finding has the level of its rule.
    fn default() -> Self {
        Self::new(|findings| findings)
    }
}

impl fmt::Debug for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Levels")
    }
}

/// Whether a configuration with these findings is not to be run.
pub(super) fn refuses(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.level == Level::Deny)
}
