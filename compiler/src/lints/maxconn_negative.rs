//! A service that takes no client.
use super::rule::{Lint, rule};

rule! {
    /// 3proxy accepts a negative `maxconn`, but then the service never accepts a client.
    ///
    /// It listens all the same, so clients hang.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// maxconn -1
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// maxconn 1000
    /// proxy -i127.0.0.1
    /// ```
    "maxconn-negative",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = None;
    for service in &lint.program.services {
        let maxconn = service.maxconn;
        // One finding a line, whatever the number of services behind it.
        if maxconn.value >= 0 || maxconn.at == told {
            continue;
        }
        told = maxconn.at;
        lint.report(
            RULE.finding(
                maxconn.at.unwrap_or(service.at),
                format!("with `maxconn {}` no client is ever accepted", maxconn.value),
            )
            .also(service.at, "by this service")
            .help("write a number above 0"),
        );
    }
}
