//! `weight-negative`
use super::rule::{Lint, rule};

rule! {
    /// An entry with a weight below 0 never matches.
    ///
    /// An entry matches only while its weight is at least that of an earlier match of the same request, which is 0 at first.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// weight -1
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// weight 1
    /// proxy -i10.0.0.1
    /// ```
    "weight-negative",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for ace in lint.program.acls.aces.iter().filter(|ace| ace.weight < 0) {
        let weight = ace.weight;
        lint.report(
            RULE.finding(ace.at, format!("this entry never matches, because its weight is {weight}"))
                .label("never matches")
                .help("write a weight of 0 or more"),
        );
    }
}
