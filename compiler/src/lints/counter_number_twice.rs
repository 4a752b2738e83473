//! `counter-number-twice`
use std::collections::HashMap;

use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// Two quotas are kept under one number of the counter file.
    ///
    /// The number is the place of the record in the file. Both write to it, and after a restart both go on with what one has counted.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// counter /var/lib/3proxy/counters
    /// countin 1 M 1000 alice
    /// countin 1 M 5000 bob
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Give each its own; 0 is for one that is not kept:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// counter /var/lib/3proxy/counters
    /// countin 1 M 1000 alice
    /// countin 2 M 5000 bob
    /// countin 0 M 100 carol
    /// countin 0 M 100 dave
    /// proxy -i10.0.0.1
    /// ```
    "counter-number-twice",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut first: HashMap<u32, Loc> = HashMap::new();
    for line in &lint.program.limits.traffic {
        let at = line.limit.at;
        let Some(number) = line.limit.limit.as_ref().map(|quota| quota.number).filter(|number| *number != 0)
        else {
            continue;
        };
        let earlier = *first.entry(number).or_insert(at);
        if earlier != at {
            lint.report(
                RULE.finding(
                    at,
                    format!("another quota already has the number {number}, so both share one record"),
                )
                .label("shares the record")
                .also(earlier, "the other quota")
                .help("give each quota its own number, or 0 if it need not be saved"),
            );
        }
    }
}
