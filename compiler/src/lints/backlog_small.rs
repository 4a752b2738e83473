//! A short queue of waiting connections.
use std::collections::HashSet;

use super::rule::{Lint, rule};

rule! {
    /// The queue of connections that wait to be accepted is short.
    ///
    /// It is an eighth of `maxconn`, unless `backlog` sets another value. A burst that is longer is dropped, and those clients try again only
    /// after a second or more.
    ///
    /// ```3proxy,fires
    /// maxconn 10000
    /// backlog 64
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// maxconn 10000
    /// backlog 4096
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "backlog-small",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

/// What Linux cuts a queue at, if `net.core.somaxconn` was not changed.
const SOMAXCONN: i32 = 4096;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = HashSet::new();
    for service in &program.services {
        // Longer ones are cut by the kernel, unless it was told otherwise.
        let usual = (1 + service.maxconn.value / 8).min(SOMAXCONN);
        let backlog = service.backlog.value;
        let Some(at) = service.backlog.at.filter(|_| (1..usual).contains(&backlog)) else { continue };
        if !told.insert((at, service.maxconn.at)) {
            continue;
        }
        let finding = RULE
            .finding(at, format!("a queue of {backlog} is shorter than the default, {usual}"))
            .also(service.at, "of this service");
        let finding = match service.maxconn.at {
            Some(maxconn) => finding
                .also(maxconn, format!("the default is an eighth of {}, plus 1", service.maxconn.value)),
            None => finding,
        };
        lint.report(
            finding.help(format!(
                "write `backlog {usual}` or more, and raise `net.core.somaxconn` if it is less"
            )),
        );
    }
}
