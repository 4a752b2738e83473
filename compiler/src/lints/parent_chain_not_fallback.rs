//! `parent-chain-not-fallback`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{finding::Finding, program::acl::Parent, way};

rule! {
    /// Two parents of weight 1000 are two hops of one chain: the second is not a fallback for the first.
    ///
    /// If either is down, nothing goes through. Parents that replace each other share one 1000, and one of them is drawn; when it fails
    /// another draw is made (`parentretries`).
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// parent 1000 socks5 192.0.2.11 1080
    /// proxy
    /// ```
    ///
    /// Two that replace each other:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 500 socks5 192.0.2.10 1080
    /// parent 500 socks5 192.0.2.11 1080
    /// proxy
    /// ```
    "parent-chain-not-fallback",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let mut told = BTreeSet::new();
    for ace in &acls.aces {
        let groups = way::groups(acls.parents(ace));
        let hops: Vec<Option<&Parent>> = groups
            .iter()
            .map(|group| match group.members.as_slice() {
                [(parent, 1000)] if way::is_hop(parent) => Some(*parent),
                _ => None,
            })
            .collect();
        for pair in hops.windows(2) {
            let [Some(first), Some(second)] = pair else { continue };
            let alike = first.kind == second.kind && first.host != second.host;
            if alike && told.insert(second.at) {
                lint.report(finding(first, second));
            }
        }
    }
}

fn finding(first: &Parent, second: &Parent) -> Finding {
    RULE.finding(second.at, "this parent is the next hop after the previous one, not a replacement for it")
        .label("is reached through the first")
        .also(first.at, "the first hop")
        .help("if they replace each other, write `500` for both weights")
}
