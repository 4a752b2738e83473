//! `connlim-slot-kept`
use super::rule::{Lint, rule};

rule! {
    /// 3proxy does not always give back what this limit of simultaneous connections has counted.
    ///
    /// When a client's connection ends, 3proxy uses its last request to find the limits that counted it. Over HTTP a client may
    /// ask for another host on the same connection; then a limit that lists targets goes on counting it for ever, until nobody
    /// gets in. (`cfgc run` gives back what it has counted.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 100 0 * * www.example.com
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Limit clients, or a rate:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// connlim 100 0 * 10.0.0.0/8
    /// connlim 100 60 * * www.example.com
    /// proxy -i10.0.0.1
    /// ```
    "connlim-slot-kept",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    of_3proxy: true,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let Some(service) = program.services.iter().find(|service| service.kind.speaks_http()) else { return };
    for line in &program.limits.connections {
        let by_request = line.matcher.targets.is_some()
            || line.matcher.ports.is_some()
            || line.matcher.operations.is_some();
        if line.limit.is_some_and(|rate| rate.seconds == 0) && by_request {
            lint.report(
                RULE.finding(
                    line.at,
                    "3proxy does not decrease this count when the client moves on to another host",
                )
                .label("counts simultaneous connections by target")
                .also(service.at, "clients of this service ask for several hosts on one connection")
                .help("limit clients by address, or give a period"),
            );
        }
    }
}
