//! An allowance by an old name of a rule.
use super::rule::{Rule, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    sources::Loc,
};

rule! {
    /// A comment allows a rule by an old name.
    ///
    /// The comment counts as before. `--allow`, `--warn`, `--deny`, `cfgc.toml` and `cfgc explain` take old names, too. The name of a rule that
    /// another has replaced is still valid: it means that part of the other.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// # cfgc: allow(deny-all-missing) closed for the holidays
    /// deny * * *.example
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// # cfgc: allow(implicit-deny-surprise) closed for the holidays
    /// deny * * *.example
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
    RULE.finding(at, format!("the rule `{old}` is now called `{name}`"))
        .help(format!("write `{name}`"))
        .fix(Fix::replace(format!("write `{name}`"), Safety::Safe, at, name))
}
