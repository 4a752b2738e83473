//! `bandlim-unit`
use super::rule::{Lint, rule};

rule! {
    /// The rate of a `bandlim` line is in bits per second, and this one is probably a mistake.
    ///
    /// `1024` is 128 bytes per second: a page takes minutes.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1024 * 10.0.0.7
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// One megabit per second:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 1000000 * 10.0.0.7
    /// proxy -i10.0.0.1
    /// ```
    "bandlim-unit",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// Below this no modem was: more likely kilobits or bytes were meant.
const LOWEST_LIKELY: u32 = 9_600;

fn check(lint: &mut Lint<'_>) {
    let limits = &lint.program.limits;
    for line in limits.bandwidth_in.iter().chain(&limits.bandwidth_out) {
        let Some(rate) = line.limit.map(|limit| limit.bits_per_second).filter(|rate| *rate < LOWEST_LIKELY)
        else {
            continue;
        };
        lint.report(
            RULE.finding(line.at, format!("{rate} bits per second are only {} bytes per second", rate / 8))
                .label("the rate is in bits per second")
                .help("write the rate in bits per second: 1000000 is one megabit per second"),
        );
    }
}
