//! `bandlim-shared-channel`
use super::rule::{Lint, rule};

rule! {
    /// All clients of this entry share its bandwidth.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// To limit each client separately, write an entry for each:
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
    for line in limits.bandwidth_in.iter().chain(&limits.bandwidth_out).filter(|line| line.is_shared()) {
        lint.report(
            RULE.finding(line.at, "all clients of this limit share its bandwidth")
                .label("one channel")
                .help("write an entry for each client that should have its own limit"),
        );
    }
}
