//! `connlim-shared`
use super::rule::{Lint, rule};

rule! {
    /// All clients that match this entry share its number of connections.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 100 60 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// To limit each client separately, write an entry for each:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.5,10.0.0.6
    /// connlim 100 60 * 10.0.0.5
    /// connlim 100 60 * 10.0.0.6
    /// proxy -i10.0.0.1
    /// ```
    "connlim-shared",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for line in lint.program.limits.connections.iter().filter(|line| line.is_shared()) {
        lint.report(
            RULE.finding(line.at, "all clients of this limit are counted together")
                .label("one count")
                .help("write an entry for each client that should have its own limit"),
        );
    }
}
