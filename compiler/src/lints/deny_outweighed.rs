//! `deny-outweighed`
use super::rule::{Lint, rule};
use crate::program::acl::{Ace, Action};

rule! {
    /// 3proxy skips this `deny` for a client whose last request matched an entry of more weight.
    ///
    /// An entry with a weight matches only if the entry that was matched before it has no more. 3proxy keeps the weight of one request for
    /// the next on the same connection, and from one authentication type to the next. (`cfgc run` does not.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 *.example.com * * * * 10
    /// deny * * *.bad.example * * * * 5
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// An entry of weight 0 is never skipped:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 *.example.com * * * * 10
    /// deny * * *.bad.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "deny-outweighed",
    level: Warn,
    group: Security,
    since: "0.1.0",
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let entries = || program.acls.entries(list.acl).map(|(_, ace)| ace);
        let Some(heaviest) = entries().max_by_key(|ace| ace.weight).filter(|ace| ace.weight > 0) else {
            continue;
        };
        let skipped =
            |ace: &&Ace| ace.action == Action::Deny && ace.weight > 0 && ace.weight < heaviest.weight;
        if let Some(ace) = entries().find(skipped) {
            lint.report(
                RULE.finding(
                    ace.at,
                    "3proxy skips this `deny` after a request that matched an entry of more weight",
                )
                .label(format!("has the weight {}", ace.weight))
                .also(heaviest.at, format!("has the weight {}", heaviest.weight))
                .help("leave out the weight of a `deny`, or give it the highest"),
            );
        }
    }
}
