//! `connlim-zero`
use super::rule::{Lint, rule};
use crate::options::Runner;

rule! {
    /// A `connlim` of 0 connections does not refuse every connection.
    ///
    /// With a period, 3proxy still lets one connection pass in each period. To let nobody pass, write a `deny`.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 0 60 * 10.0.0.66
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * 10.0.0.66
    /// allow * 10.0.0.0/8
    /// connlim 100 60 *
    /// proxy -i10.0.0.1
    /// ```
    "connlim-zero",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for line in &lint.program.limits.connections {
        let Some(rate) = line.limit.filter(|rate| rate.connections == 0) else { continue };
        let leaks = rate.seconds > 0 && lint.options.runner != Runner::Cfgc;
        let message = if leaks {
            format!("under 3proxy, a limit of 0 allows one connection every {} seconds", rate.seconds)
        } else {
            "a limit of 0 connections refuses every connection".to_owned()
        };
        lint.report(
            RULE.finding(line.at, message).help("write a `deny` in the access list to refuse every client"),
        );
    }
}
