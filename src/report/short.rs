//! One line a finding, for grep and editors.
use compiler::{finding::Finding, sources::Sources};

use super::{level_name, place, printable};

/// `path:line:column: level[rule]: message`.
pub(super) fn finding(sources: &Sources, finding: &Finding) -> String {
    let Finding { rule, level, at, message, count, .. } = finding;
    let times = if *count > 1 { format!(" (found {count} times)") } else { String::new() };
    format!("{}: {}[{rule}]: {}{times}", place(sources, *at), level_name(*level), printable(message))
}
