//! One line a finding, for grep and editors.
use compiler::{finding::Finding, sources::Sources};

use super::{place, printable};

/// `path:line:column: level[rule]: message`.
pub(super) fn finding(sources: &Sources, finding: &Finding) -> String {
    let Finding { rule, level, at, message, count, .. } = finding;
    let times = if *count > 1 { format!(" (found {count} times)") } else { String::new() };
    format!("{}: {}[{rule}]: {}{times}", place(sources, *at), level.name(), printable(message))
}
