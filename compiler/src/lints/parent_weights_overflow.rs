//! `parent-weights-overflow`
use std::collections::BTreeSet;

use super::{
    columns::weight_at,
    rule::{Lint, rule},
};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    program::acl::Parent,
};

rule! {
    /// The weights of a group of parents add up to more than 1000.
    ///
    /// A group ends with the parent that fills it. That one gets only what is left of the 1000, and what it has too much is taken from the
    /// next group, if there is one: then some requests skip that hop.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 700 socks5 192.0.2.10 1080
    /// parent 700 socks5 192.0.2.11 1080
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 700 socks5 192.0.2.10 1080
    /// parent 300 socks5 192.0.2.11 1080
    /// proxy
    /// ```
    ///
    /// Three parents that share all requests:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 400 socks5 192.0.2.10 1080
    /// parent 300 socks5 192.0.2.11 1080
    /// parent 300 socks5 192.0.2.12 1080
    /// proxy
    /// ```
    "parent-weights-overflow",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let mut told = BTreeSet::new();
    let refused = &lint.program.history.refused_parents;
    for ace in acls.aces.iter().filter(|ace| !refused.contains(&ace.at)) {
        let Some((group, last)) = overflow(acls.parents(ace)) else { continue };
        if told.insert(last.at) {
            lint.report(finding(lint, group, last));
        }
    }
}

/// The first group that is too full: its parents before the one that overfills it, and that one.
fn overflow(parents: &[Parent]) -> Option<(&[Parent], &Parent)> {
    let (mut sum, mut start) = (0_u32, 0);
    for (at, parent) in parents.iter().enumerate() {
        sum += u32::from(parent.weight);
        if sum > 1000 {
            return Some((parents.get(start..at)?, parent));
        }
        if sum == 1000 {
            (sum, start) = (0, at + 1);
        }
    }
    None
}

fn finding(lint: &Lint<'_>, group: &[Parent], last: &Parent) -> Finding {
    let before: u16 = group.iter().map(|parent| parent.weight).sum();
    let left = 1000_u16.saturating_sub(before);
    let sum = u32::from(before) + u32::from(last.weight);
    let mut finding = RULE
        .finding(
            last.at,
            format!("the weights of this group add up to `{sum}`: `{left}` of this `{}` count", last.weight),
        )
        .label(format!("{} too much", sum.saturating_sub(1000)));
    for parent in group.iter().rev().take(3) {
        finding = finding.also(parent.at, "of the same group");
    }
    finding = finding
        .note("One parent is drawn from each group, with its weight in thousandths; any excess of a group is missing in the next one.")
        .help(format!("make the weights of the parents that replace each other add up to 1000, for example by `{left}` here"));
    match weight_at(lint.sources, last.at) {
        Some(word) => {
            finding.fix(Fix::replace(format!("write `{left}`"), Safety::Unsafe, word, left.to_string()))
        }
        None => finding,
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn only_the_first_of_an_entry_is_told_and_no_leak_with_it() {
        let parents = |weights: &[u16]| {
            weights
                .iter()
                .map(|weight| format!("parent {weight} socks5 192.0.2.1 1080\n"))
                .collect::<Vec<_>>()
        };
        for (weights, at) in [
            (&[600, 600, 600][..], Some(1)),
            (&[1000, 1000], None),
            (&[500, 500, 400, 700, 900], Some(3)),
            (&[1000, 999, 2], Some(2)),
            (&[300, 300], None),
        ] {
            let mut lines = parents(weights);
            let text = format!("allow *\n{}proxy\nsocks\n", lines.concat());
            if let Some(at) = at {
                lines.insert(at + 1, "#^ add up to\n".to_owned());
                check("parent-weights-leak", &text);
            }
            check("parent-weights-overflow", &format!("allow *\n{}proxy\nsocks\n", lines.concat()));
        }
    }
}
