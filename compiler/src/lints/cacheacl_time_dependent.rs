//! `cacheacl-time-dependent`
use std::collections::{BTreeMap, BTreeSet};

use super::rule::{Lint, rule};
use crate::{
    analysis::{
        cached::{Cached, services},
        lists::Once,
        witness::{Space, Witness},
    },
    finding::Finding,
    fix::{Fix, Safety},
    policy::Policy,
    program::{
        acl::{Ace, AceId},
        auth::AuthType,
    },
    sources::Loc,
    table::WeekTime,
};

rule! {
    /// `cacheacl` repeats a verdict after the hour or day for which it was given.
    ///
    /// Weekdays and periods can be in no key. A request that an entry lets pass until six o'clock is let pass for as long after it as the
    /// `authcache` line says. `cache` asks the list each time.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// authcache user,pass 3600
    /// auth cacheacl strong
    /// allow alice * * * * 1-5 09:00:00-18:00:00
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland
    /// authcache user,pass 3600
    /// auth cache strong
    /// allow alice * * * * 1-5 09:00:00-18:00:00
    /// proxy
    /// ```
    ///
    /// A time that makes no difference does no harm:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// authcache user,pass 3600
    /// auth cacheacl strong
    /// allow alice * * * * 1-5
    /// allow alice
    /// proxy
    /// ```
    "cacheacl-time-dependent",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Everything,
    of_3proxy: true,
    check: check,
}

/// At most this many requests are tried for each entry, and at most this many for all of them.
const BASES: usize = 8;
const BUDGET: usize = 40_000;

fn check(lint: &mut Lint<'_>) {
    let Some(policy) = lint.caching_policy() else { return };
    let program = lint.program;
    let mut once: BTreeMap<Loc, Once> = BTreeMap::new();
    let (mut told, mut budget) = (BTreeSet::new(), BUDGET);
    let mut findings = Vec::new();
    for cached in services(program).filter(|cached| cached.step.kind == AuthType::CacheAcl) {
        let (Some(at), Some(acl)) = (cached.step.at, cached.service.asked_list()) else { continue };
        let timed = |ace: &Ace| ace.matcher.weekdays.is_some() || ace.matcher.periods.is_some();
        for (id, ace) in once.entry(at).or_default().fresh(&program.acls, acl).filter(|(_, ace)| timed(ace)) {
            if told.contains(&at) {
                break;
            }
            if let Some(pair) = pair(policy, &cached, id, &mut budget) {
                told.insert(at);
                findings.push(finding(at, &cached, ace, &pair));
            }
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// A request that passes at one time, and the time at which the list refuses it.
fn pair(policy: &Policy, cached: &Cached<'_>, id: AceId, budget: &mut usize) -> Option<(Witness, WeekTime)> {
    let ace = policy.program().acls.ace(id)?;
    let times = times(ace);
    let passes = |witness: &Witness| policy.decide(cached.index, &witness.request()).passes();
    cached.real().find_map(|step| {
        let space = Space::accepted(&ace.matcher, cached.service, step, policy);
        space.requests(BASES).find_map(|base| {
            *budget = budget.checked_sub(times.len() + 1)?;
            let first = passes(&base);
            let at = |time: WeekTime| Witness { time, ..base.clone() };
            let other = times.iter().copied().find(|time| passes(&at(*time)) != first)?;
            Some(if first { (base.clone(), other) } else { (at(other), base.time) })
        })
    })
}

/// Moments just before, in and just after what an entry lists.
fn times(ace: &Ace) -> Vec<WeekTime> {
    const DAY: u32 = 24 * 60 * 60;
    let periods = ace.matcher.periods.as_deref().unwrap_or_default();
    let bounds = periods.iter().take(BASES).flat_map(|period| {
        [period.from.checked_sub(1), Some(period.from), Some(period.to)].into_iter().flatten()
    });
    let seconds: Vec<u32> = bounds.filter(|second| *second < DAY).chain([0, DAY / 2]).collect();
    (0..7).flat_map(|day| seconds.iter().map(move |second| WeekTime { day, second: *second })).collect()
}

fn finding(at: Loc, cached: &Cached<'_>, ace: &Ace, (witness, time): &(Witness, WeekTime)) -> Finding {
    let seconds = cached.settings.seconds;
    let mut finding = RULE
        .finding(at, format!("a verdict is repeated for {seconds} seconds, whatever the time is by then"))
        .label("a hit here does not check the time")
        .also(ace.at, "this entry matches only at certain times");
    if let Some(at) = cached.settings.at {
        finding = finding.also(at, "how long it is remembered");
    }
    finding
        .also(cached.service.at, "in this service")
        .note(format!(
            "For example, {witness} passes {}, and is refused {}.",
            shown(witness.time),
            shown(*time)
        ))
        .help("write `cache`, which remembers the client's identity and checks the access list each time")
        .fix(Fix::replace("write `cache` for `cacheacl`", Safety::Safe, at, "cache"))
}

fn shown(time: WeekTime) -> String {
    const DAYS: [&str; 7] = [
        "on Sundays",
        "on Mondays",
        "on Tuesdays",
        "on Wednesdays",
        "on Thursdays",
        "on Fridays",
        "on Saturdays",
    ];
    let day = DAYS.get(usize::from(time.day)).copied().unwrap_or_default();
    let (hour, minute, second) = (time.second / 3600, time.second / 60 % 60, time.second % 60);
    format!("{day} at {hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_time_counts_only_where_the_verdict_changes() {
        let users = "users alice:CL:x\nauthcache user\n";
        for (acl, found) in [
            ("allow alice * * * * 1-5", true),
            ("deny alice * * * * * 00:00:00-08:00:00\nallow *", true),
            ("allow * * * * * 6\nallow alice", false),
            ("allow alice\nallow alice * * * * 6", false),
            ("allow carol * * * * 6", false),
            ("allow alice * * * * 0-7", false),
        ] {
            let mark = if found { "#    ^ whatever the time" } else { "# -" };
            check(
                "cacheacl-time-dependent",
                &format!("{users}auth cacheacl strong\n{mark}\n{acl}\nproxy\nsocks\n"),
            );
        }
        check(
            "cacheacl-time-dependent",
            &format!("{users}auth cache strong\nallow alice * * * * 1\nproxy\n"),
        );
    }
}
