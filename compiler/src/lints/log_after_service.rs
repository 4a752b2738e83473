//! A service that stands before the first `log` line.
use super::rule::{Lint, rule};
use crate::program::log::LogTarget;

rule! {
    /// A service that starts before the first `log` line logs nowhere.
    ///
    /// Others that follow do log, so this one was probably meant to.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// log /var/log/3proxy/3proxy.log D
    /// socks -i192.168.0.1
    /// ```
    ///
    /// Right (`log /dev/null` says that nothing is to be logged):
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// log /dev/null
    /// proxy -i192.168.0.1
    /// log /var/log/3proxy/3proxy.log D
    /// socks -i192.168.0.1
    /// ```
    "log-after-service",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let nowhere = program
        .services
        .iter()
        .filter(|service| service.log.target.value == LogTarget::Nowhere && service.log.target.at.is_none());
    // Where none logs, none was meant to; behind the last one `setting-after-service` speaks.
    let logs = program
        .services
        .iter()
        .find_map(|service| service.log.target.at.filter(|_| service.log.target.value != LogTarget::Nowhere));
    let Some(log) = logs.filter(|log| program.process.log_files.log_lines.contains(log)) else { return };
    for service in nowhere {
        lint.report(
            RULE.finding(service.at, "this service writes no log: the first `log` line comes after it")
                .also(log, "the first `log` line")
                .help("move `log` above it, or write `log /dev/null` there if it should not log"),
        );
    }
}
