//! `limit-entry-unreachable`
use std::collections::{BTreeMap, BTreeSet};

use super::{
    limit_lines::{Line, lists},
    matched::Universe,
    rule::{Lint, rule},
};
use crate::{
    analysis::requests::{askable::Askable, cell::Work},
    finding::Finding,
    sources::Loc,
};

rule! {
    /// This limit is never applied: a `no…` line before it covers all its requests.
    ///
    /// Limits are checked in order. Every one that matches applies, up to the first `nobandlimin`, `nobandlimout`, `noconnlim` or `nocount…`
    /// that matches.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// nobandlimin * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.66
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.66
    /// nobandlimin * 10.0.0.0/8
    /// bandlimin 5000000 *
    /// proxy -i10.0.0.1
    /// ```
    "limit-entry-unreachable",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

/// How much work is put into all of them.
const WORK: u64 = 20_000_000;

fn check(lint: &mut Lint<'_>) {
    let lists = lists(&lint.program.limits);
    let asked = Askable::everything();
    let mut work = Work(WORK);
    // By line: in how many lists it stands, and what was found in each.
    let mut stands: BTreeMap<Loc, usize> = BTreeMap::new();
    let mut found: BTreeMap<Loc, (usize, BTreeSet<Loc>)> = BTreeMap::new();
    for lines in lists.iter().filter(|lines| lines.iter().any(|line| line.ends)) {
        let universe = Universe::of(&asked, lines.iter().map(|line| line.matcher));
        for (place, line) in lines.iter().enumerate() {
            *stands.entry(line.at).or_default() += 1;
            let ends = lines.iter().take(place).filter(|line| line.ends);
            if let Some(by) = ended(&universe, line, ends, &mut work) {
                let (times, all) = found.entry(line.at).or_default();
                *times += 1;
                all.extend(by);
            }
        }
    }
    found.retain(|at, (times, _)| stands.get(at) == Some(times));
    for (at, (_, by)) in found {
        lint.report(finding(at, &by));
    }
}

/// The `no…` lines that end the walk for all that a line matches.
fn ended<'a>(
    universe: &Universe<'a>,
    line: &Line<'a>,
    ends: impl Iterator<Item = &'a Line<'a>>,
    work: &mut Work,
) -> Option<BTreeSet<Loc>> {
    let mut ends = ends.peekable();
    ends.peek()?;
    let mut open = universe.matched(line.matcher);
    let mut by = BTreeSet::new();
    if open.iter().all(Vec::is_empty) {
        return None;
    }
    for end in ends {
        if universe.take(&mut open, end.matcher, work)? {
            by.insert(end.at);
        }
        if open.iter().all(Vec::is_empty) {
            return Some(by);
        }
    }
    None
}

fn finding(at: Loc, by: &BTreeSet<Loc>) -> Finding {
    let mut finding = RULE
        .finding(at, "this limit is never applied: an exception before it covers all its requests")
        .label("never applies")
        .help("move the limit above the `no…` line, or remove it");
    for end in by.iter().take(2) {
        finding = finding.also(*end, "this exception covers its requests");
    }
    finding
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{
        analysis::requests::testing::{line, universe},
        compile,
        lints::tests::check,
        policy::{LimitList, Policy},
        sources::MemoryFiles,
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        #[test]
        fn no_request_has_a_limit_that_is_reported(lines in prop::collection::vec(line(), 2..9), universe in universe()) {
            // Without what extends an entry, and with a limit for an `allow`, an exception for a `deny`.
            let lines = lines.iter().filter_map(|line| line.lines().next()).map(|line| {
                line.replacen("allow", "bandlimin 64000", 1).replacen("deny", "nobandlimin", 1)
            });
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", lines.collect::<Vec<_>>().join("\n") + "\nsocks\n");
            let compiled = compile(std::path::Path::new("3proxy.cfg"), &files);
            let policy = Policy::compile(&compiled.program);
            let told = compiled.findings.iter().filter(|finding| finding.rule == "limit-entry-unreachable");
            let told: Vec<_> = told.map(|finding| finding.at).collect();
            let limits = &compiled.program.limits.bandwidth_in;
            universe.each(|request| {
                for at in policy.limits(LimitList::BandwidthIn, &request) {
                    prop_assert!(!told.contains(&limits[at].at), "{:?}", request);
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn one_or_several_exceptions_end_the_walk() {
        check(
            "limit-entry-unreachable",
            r"
allow *
nobandlimin alice
bandlimin 100000 alice * * 443
#^ this limit is never applied
bandlimin 100000 alice,bob
noconnlim * 10.0.0.0/9
noconnlim * 10.128.0.0/9
connlim 10 1 * 10.1.0.0-10.200.0.0
#^ this limit is never applied
connlim 10 1 * 10.1.0.0-11.0.0.0
bandlimout 100000 *
proxy -i127.0.0.1
",
        );
    }

    #[test]
    fn a_quota_of_both_directions_needs_both_to_end() {
        check(
            "limit-entry-unreachable",
            r"
nocountin alice
countin 1 D 100 alice
#^ this limit is never applied
countout 2 D 100 alice
countall 3 D 100 alice
nocountall bob
countall 4 D 100 bob
#^ this limit is never applied
proxy -i127.0.0.1
",
        );
    }
}
