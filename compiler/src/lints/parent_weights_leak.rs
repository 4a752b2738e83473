//! `parent-weights-leak`
use std::collections::BTreeSet;

use super::{
    columns::weight_at,
    rule::{Lint, rule},
};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    program::acl::{Ace, AceId, Parent, ParentKind},
    sources::Sources,
};

rule! {
    /// The weights of an entry's parents do not add up to 1000, so a share of the requests uses none of them.
    ///
    /// Consecutive parents form a group until their weights add up to 1000, and one is drawn from each group, with its weight
    /// in thousandths as probability. What a group lacks to 1000 is the probability that nobody is drawn: then the request goes
    /// direct, or skips this hop of the chain. And when a parent fails, the draw is repeated (`parentretries`), so the
    /// share grows with each failure.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 500 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// Two groups, each complete:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 500 extip 192.0.2.1 0
    /// parent 500 extip 192.0.2.2 0
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    "parent-weights-leak",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    let copied = lint.program.services.iter().filter_map(|service| service.acl).map(|acl| acl.last);
    let entries: BTreeSet<AceId> = acls
        .lists
        .iter()
        .flatten()
        .copied()
        .chain(copied)
        .filter(|id| acls.ace(*id).is_some_and(Ace::redirects))
        .collect();
    let refused = &lint.program.history.refused_parents;
    let leaks = entries.into_iter().filter_map(|id| acls.ace(id)).filter(|ace| !refused.contains(&ace.at));
    let findings =
        leaks.filter_map(|ace| leak(acls.parents(ace)).map(|leak| finding(lint.sources, ace, &leak)));
    for finding in findings.collect::<Vec<_>>() {
        lint.report(finding);
    }
}

/// A last group that is not complete.
struct Leak<'a> {
    group: &'a [Parent],
    /// In thousandths.
    missing: u16,
    /// A complete group of parents stands before it, so that a request that skips it is not direct.
    behind: bool,
}

/// What 3proxy's draw leaves to nobody.
fn leak(parents: &[Parent]) -> Option<Leak<'_>> {
    let mut left = 1000_i32;
    let mut start = 0;
    for (parent, at) in parents.iter().zip(1..) {
        left -= i32::from(parent.weight);
        // A group that is too full makes another one short: that is another rule's.
        if left < 0 {
            return None;
        }
        if left == 0 {
            left += 1000;
            start = at;
        }
    }
    let (before, group) = parents.split_at_checked(start)?;
    let behind = before.iter().any(|parent| parent.kind != ParentKind::ExternalAddress);
    let missing = u16::try_from(left).ok()?;
    (!group.is_empty()).then_some(Leak { group, missing, behind })
}

fn finding(sources: &Sources, ace: &Ace, leak: &Leak<'_>) -> Finding {
    let Leak { group, missing, behind } = leak;
    let share = percent(*missing);
    let addresses = group.iter().all(|parent| parent.kind == ParentKind::ExternalAddress);
    let where_to = match (addresses, behind) {
        (true, _) => "keep the default external address",
        (false, true) => "skip this hop of the chain",
        (false, false) => "go direct",
    };
    let sum = 1000 - missing;
    let last = group.last();
    let at = last.map_or(ace.at, |parent| parent.at);
    let mut finding = RULE
        .finding(at, format!("`{share}` of the requests {where_to}: the weights add up to `{sum}`, not 1000"))
        .label(format!("the group ends here, {missing} short of 1000"))
        .also(ace.at, "of the requests that this entry matches");
    for parent in group.iter().rev().skip(1).take(3) {
        finding = finding.also(parent.at, "of the same group");
    }
    if !addresses {
        finding = finding.note(
            "When the parent that was drawn fails, 3proxy draws again (`parentretries`, 2 by default), so failures raise the share.",
        );
    }
    let weight = last.map_or(0, |parent| parent.weight) + missing;
    finding =
        finding.help(format!("write `{weight}` as the last weight, or add a parent of weight {missing}"));
    match weight_at(sources, at) {
        Some(word) => finding.fix(Fix::replace(
            format!("write `{weight}` as the last weight"),
            Safety::Unsafe,
            word,
            weight.to_string(),
        )),
        None => finding,
    }
}

/// Thousandths as a percentage.
fn percent(thousandths: u16) -> String {
    match (thousandths / 10, thousandths % 10) {
        (whole, 0) => format!("{whole} %"),
        (whole, tenths) => format!("{whole}.{tenths} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::percent;
    use crate::lints::tests::{check, findings};

    #[test]
    fn says_which_share_skips_the_hop() {
        check(
            "parent-weights-leak",
            r"
auth iponly
allow *
parent 1000 socks5 192.0.2.10 1080
parent 250 http 192.0.2.11 3128
parent 245 http 192.0.2.12 3128
#^ `50.5 %` of the requests skip this hop of the chain: the weights add up to `495`
proxy
",
        );
    }

    #[test]
    fn an_external_address_does_not_make_a_request_less_direct() {
        check(
            "parent-weights-leak",
            r"
auth iponly
allow *
parent 1000 extip 192.0.2.1 0
parent 500 socks5 192.0.2.10 1080
#^ go direct
proxy
allow * 10.0.0.0/8
parent 100 extip 192.0.2.1 0
#^ keep the default external address
socks
",
        );
    }

    #[test]
    fn with_a_parent_that_is_refused_nothing_is_known_of_the_groups() {
        for refused in
            ["parent 300 sox 192.0.2.13 1080", "parent 3000 http 192.0.2.13 80", "parent 300 http 192.0.2 80"]
        {
            for lines in
                [["parent 700 http 192.0.2.12 3128", refused], [refused, "parent 700 http 192.0.2.12 3128"]]
            {
                let text = format!("auth iponly\nallow *\n{}\nproxy -i127.0.0.1\n", lines.join("\n"));
                assert!(findings("parent-weights-leak", &text).is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn complete_groups_and_sums_above_do_not_leak() {
        check(
            "parent-weights-leak",
            "allow *\nparent 600 socks5 192.0.2.1 1\nparent 600 socks5 192.0.2.2 1\nproxy\n",
        );
    }

    #[test]
    fn thousandths_are_printed_as_they_are() {
        assert_eq!([percent(5), percent(500), percent(999)], ["0.5 %", "50 %", "99.9 %"]);
    }
}
