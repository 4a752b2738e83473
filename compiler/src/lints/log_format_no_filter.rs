//! A log that clients can write to.
use std::collections::HashSet;

use grammar::value::log_format;

use super::rule::{Lint, rule};
use crate::program::log::LogTarget;

rule! {
    /// Control characters in what clients send are written to the log as they are, unless the log format filters them.
    ///
    /// A user or host name with a line end in it forges a record. `-XX+R` before the format replaces the characters XX, and all
    /// control characters with them, by R. cfgc never writes them.
    ///
    /// ```3proxy,fires
    /// log /var/log/3proxy/3proxy.log D
    /// logformat "L%Y-%m-%d %H:%M:%S %U %n %T"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// log /var/log/3proxy/3proxy.log D
    /// logformat "-""+_L%Y-%m-%d %H:%M:%S %U %n %T"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "log-format-no-filter",
    level: Allow,
    group: Security,
    since: "0.1.0",
    reads: Line,
    of_3proxy: true,
    check: check,
}

/// The fields that hold what clients send.
const FROM_CLIENTS: [&[u8]; 3] = [b"%U", b"%n", b"%T"];

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = HashSet::new();
    for service in &program.services {
        let Some(format) =
            service.log.format.as_ref().filter(|_| service.log.target.value != LogTarget::Nowhere)
        else {
            continue;
        };
        let Some(at) = format.at.filter(|at| !told.contains(at)) else { continue };
        told.insert(at);
        let read = log_format(format.value.as_bytes()).value;
        let holds = |field: &[u8]| read.body.as_bytes().windows(field.len()).any(|part| part == field);
        if read.filter.is_none() && FROM_CLIENTS.into_iter().any(holds) {
            lint.report(
                RULE.finding(at, "control characters from clients are written to the log unchanged")
                    .help("write a filter before the format: `-\"\"+_L…` replaces control characters by `_`"),
            );
        }
    }
}
