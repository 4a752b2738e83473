//! `bandlim-shared-channel`
use super::rule::{Lint, rule};
use crate::{
    program::{acl::Matcher, limits::Limit},
    sources::Loc,
};

rule! {
    /// Clients share this bandwidth: an entry is one channel, however many it is for.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// For a limit of each client by itself, write an entry for each:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.5,10.0.0.6
    /// bandlimin 1000000 * 10.0.0.5
    /// bandlimin 1000000 * 10.0.0.6
    /// proxy -i10.0.0.1
    /// ```
    "bandlim-shared-channel",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let limits = &lint.program.limits;
    let mut shared: Vec<Loc> = Vec::new();
    shared.extend(limits.bandwidth_in.iter().filter(|line| is_shared(line)).map(|line| line.at));
    shared.extend(limits.bandwidth_out.iter().filter(|line| is_shared(line)).map(|line| line.at));
    for at in shared {
        lint.report(
            RULE.finding(at, "all clients of this limit share its bandwidth")
                .label("one channel")
                .help("write an entry for each client that is to have its own"),
        );
    }
}

/// Whether several clients may match.
fn is_shared<T>(line: &Limit<T>) -> bool {
    let Matcher { users, sources, .. } = &line.matcher;
    let one_user = users.as_ref().is_some_and(|users| users.iter().nth(1).is_none());
    let one_source = match sources.as_deref() {
        Some([only]) => only.first == only.last,
        _ => false,
    };
    line.limit.is_some() && !one_user && !one_source
}
