//! `countall-counts-one-way`
use super::rule::{Lint, rule};
use crate::{options::Runner, program::limits::Direction};

rule! {
    /// 3proxy 1.0 counts only what comes from servers for a `countall`.
    ///
    /// It looks at what goes to servers only if some `countout`, `nocountout` or `nocountin` line is there. (`cfgc run` counts both.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// countall 0 D 1000 *
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// countin 0 D 1000 *
    /// countout 0 D 1000 *
    /// proxy -i10.0.0.1
    /// ```
    "countall-counts-one-way",
    level: Warn,
    group: Portability,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let traffic = &lint.program.limits.traffic;
    let both = traffic.iter().any(|line| {
        line.direction == Direction::Out || line.direction == Direction::In && line.limit.limit.is_none()
    });
    let all = traffic.iter().find(|line| line.direction == Direction::All && line.limit.limit.is_some());
    if let (Some(line), false, true) = (all, both, lint.options.runner != Runner::Cfgc) {
        lint.report(
            RULE.finding(line.limit.at, "3proxy counts only traffic from servers here, not traffic to them")
                .label("counts one direction")
                .help("count each direction separately, with `countin` and `countout`"),
        );
    }
}
