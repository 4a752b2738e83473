//! A `*` that stands for itself.
use grammar::value::TargetTrap;

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A `*` is a wildcard only at either end of a name; in the middle it is an ordinary character.
    ///
    /// No host has a `*` in its name, so the entry never matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * ads.*.example
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * ads.*,*.ads.example,*tracker*
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "wildcard-in-the-middle",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Target(TargetTrap::WildcardInside) => finding,
}

fn finding(item: Misread<'_>) -> Finding {
    RULE.finding(item.at, format!("the `*` inside `{}` is not a wildcard", item.cited()))
        .label("never matches")
        .help("write the `*` at an end: `*.example`, `ads.*`, `*ads*`")
}
