//! Targets that no host can have for a name.
use grammar::value::TargetTrap;

use super::rule::{Lint, rule};
use crate::program::trap::Trap;

rule! {
    /// A target is a host or an address, not a URL and not a host with a port.
    ///
    /// 3proxy compares the whole item with the name of the host; with a `:` or `/` in it, it never matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * ads.example:443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * ads.example 443
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "target-is-no-name",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (item, trap) in lint.traps() {
        if trap == Trap::Target(TargetTrap::NeverAName) {
            lint.report(
                RULE.finding(item.at, format!("no host is called `{}`", item.cited()))
                    .label("never matches")
                    .help("write the host alone here, and a port in the field behind it"),
            );
        }
    }
}
