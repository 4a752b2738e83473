//! `limit-exception-too-late`
use std::collections::BTreeSet;

use super::{
    limit_lines::lists,
    matched::Universe,
    rule::{Lint, rule},
};
use crate::{
    analysis::requests::{askable::Askable, cell::Work},
    sources::Loc,
};

rule! {
    /// This exception changes nothing, because all limits come before it.
    ///
    /// Limits are checked in order, and every one that matches applies, up to the first `no…` line that matches. So an exception must come
    /// before the limit it excepts from:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.0/8
    /// nobandlimin * 10.0.0.5
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// nobandlimin * 10.0.0.5
    /// bandlimin 1000000 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "limit-exception-too-late",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

/// How much work is put into all of them.
const WORK: u64 = 10_000_000;

fn check(lint: &mut Lint<'_>) {
    let lists = lists(&lint.program.limits);
    let asked = Askable::everything();
    let mut work = Work(WORK);
    let mut told: BTreeSet<Loc> = BTreeSet::new();
    let mut useful: BTreeSet<Loc> = BTreeSet::new();
    let mut found = Vec::new();
    for lines in lists.iter().filter(|lines| lines.iter().any(|line| line.ends)) {
        let universe = Universe::of(&asked, lines.iter().map(|line| line.matcher));
        for (place, line) in
            lines.iter().enumerate().filter(|(_, line)| line.ends && !line.matcher.lists_nothing())
        {
            let matched = universe.matched(line.matcher);
            let mut limits = lines.iter().enumerate().filter(|(_, other)| !other.ends);
            let mut first = None;
            let later = limits.any(|(at, other)| {
                let meets = universe.meets(&matched, other.matcher, &mut work);
                if at < place && meets && first.is_none() {
                    first = Some(other.at);
                }
                at > place && meets
            });
            match first.filter(|_| !later && work.spend(1)) {
                Some(limit) => found.push((line.at, limit)),
                None => {
                    useful.insert(line.at);
                }
            }
        }
    }
    // One that is for both directions may be needed in one of them.
    found.retain(|(at, _)| !useful.contains(at) && told.insert(*at));
    for (at, limit) in found {
        lint.report(
            RULE.finding(
                at,
                "this exception changes nothing: no limit that it could except from comes after it",
            )
            .label("too late")
            .also(limit, "this limit has already been applied to its requests")
            .help("move the exception above the limit"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn an_exception_from_what_follows_is_none_too_late() {
        check(
            "limit-exception-too-late",
            r"
connlim 100 1 *
noconnlim alice
#^ changes nothing
bandlimin 100000 alice
nobandlimin alice
bandlimin 1000000 *
bandlimout 100000 *
nobandlimout *
nocountin bob
countin 1 D 10 alice
countall 2 D 10 carol
nocountall carol
#^ changes nothing
proxy -i127.0.0.1
",
        );
    }
}
