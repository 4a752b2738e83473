//! `time-rule-void-at-start`
use super::rule::{Lint, rule};
use crate::program::acl::{Ace, Action};

rule! {
    /// In its first second 3proxy does not know what day it is, and entries with weekdays never match.
    ///
    /// What such a `deny` refuses passes then, if an entry behind it lets it. An `allow` of the working hours has no such gap, nor has
    /// `cfgc run`.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * *.games.example * * 1-5
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 *.games.example * * 6,0
    /// deny * * *.games.example
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "time-rule-void-at-start",
    level: Allow,
    group: Security,
    since: "0.1.0",
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let mut entries = program.acls.entries(list.acl).map(|(_, ace)| ace);
        let denies = |ace: &&Ace| ace.action == Action::Deny && ace.matcher.weekdays.is_some();
        let Some(ace) = entries.find(denies) else { continue };
        if entries.any(|later| later.action == Action::Allow) {
            lint.report(
                RULE.finding(
                    ace.at,
                    "for about a second after its start, 3proxy allows what this entry refuses",
                )
                .label("no weekday matches then")
                .help("write `allow` entries with the days, and a `deny` without days for the rest"),
            );
        }
    }
}
