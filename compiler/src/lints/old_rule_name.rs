//! An allowance by the name of a rule that another has taken in.
use super::rule::{Rule, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// A comment allows a rule by the name of one that it has taken in.
    ///
    /// The comment counts as before. `--allow`, `--warn`, `--deny`, `cfgc.toml` and `cfgc explain` take old names, too.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// # cfgc: allow(port-range-reversed) the order is meant
    /// allow * * * 90-80
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// # cfgc: allow(port-list-malformed) the order is meant
    /// allow * * * 90-80
    /// proxy -i127.0.0.1
    /// ```
    "old-rule-name",
    level: Warn,
    group: Style,
    since: "0.1.0",
    from lowering,
}

pub(crate) fn finding(at: Loc, old: &str, rule: &Rule) -> Finding {
    let name = rule.name;
    RULE.finding(at, format!("the rule `{old}` is a part of `{name}` now"))
        .help(format!("write `{name}`"))
        .fix(Fix::replace(format!("write `{name}`"), Safety::Safe, at, name))
}
