//! Ranges of ports that hold no port.
use grammar::value::PortTrap;

use super::rule::{Lint, Part, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A range of ports that ends before it begins holds no port.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * * 443-80
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// The lower port stands first:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * * 80-443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * * 80-80
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "port-range-reversed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (range, trap) in lint.traps() {
        if trap == Trap::Ports(PortTrap::Reversed) {
            lint.report(found(range));
        }
    }
}

/// `range` holds no port.
fn found(range: Part<'_>) -> Finding {
    let cited = range.cited();
    let turned = cited.split_once('-').map(|(first, last)| format!("{last}-{first}"));
    RULE.finding(range.at, format!("the range `{cited}` holds no port"))
        .label("ends before it begins")
        .help("write the lower port first")
        .fix(turned.and_then(|turned| range.replaced("turn the range round", Safety::Safe, turned)))
}
