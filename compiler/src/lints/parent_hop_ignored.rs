//! Hops behind the end of a chain.
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    program::acl::{Parent, ParentKind},
};

rule! {
    /// A parent of type `http` or `tcp` ends the chain: hops after it are never used.
    ///
    /// Parents whose weights add up to 1000 are one hop; the next ones are the hop after it, not a replacement for it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 http 192.0.2.1 3128
    /// parent 1000 socks5 192.0.2.2 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// parent 1000 connect 192.0.2.1 3128
    /// parent 1000 socks5 192.0.2.2 1080
    /// proxy -i127.0.0.1
    /// ```
    "parent-hop-ignored",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let mut told = BTreeSet::new();
    for ace in &acls.aces {
        let mut last: Option<&Parent> = None;
        let (mut weight, mut end) = (0, None);
        for parent in acls.parents(ace) {
            let ends = matches!(parent.kind, ParentKind::Http | ParentKind::Tcp) && !parent.is_local();
            if let Some(last) = last
                && parent.kind != ParentKind::ExternalAddress
                && told.insert(parent.at)
            {
                lint.report(found(parent, last));
            }
            end = end.or(ends.then_some(parent));
            weight += parent.weight;
            if weight >= 1000 {
                (last, weight) = (last.or(end), 0);
            }
        }
    }
}

fn found(parent: &Parent, last: &Parent) -> Finding {
    RULE.finding(parent.at, "this parent is never used")
        .label("after the end of the chain")
        .also(last.at, "this one ends it")
        .help("write `connect` for the hop before, or share the weight 1000 between parents that replace each other")
}
