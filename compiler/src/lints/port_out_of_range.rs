//! Ports above 65535, which wrap.
use grammar::value::{PortTrap, port};

use super::rule::{Lint, Part, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// In a list of ports, one above 65535 or below 0 stands for another one.
    ///
    /// 3proxy keeps the low 16 bits of the number: 70000 is port 4464, and `1-65536` is the range from 1 to 0, which holds no port.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * * 1-65536
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * * 1-65535
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "port-out-of-range",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (number, trap) in lint.traps() {
        if trap == Trap::Ports(PortTrap::Wraps) {
            lint.report(found(number));
        }
    }
}

fn found(number: Part<'_>) -> Finding {
    let read = port(number.text).value;
    RULE.finding(number.at, format!("port `{}` is out of range, and read as {read}", number.cited()))
        .label("a port is 0 to 65535")
        .note("3proxy keeps the low 16 bits of the number.")
        .help("write the port that you mean; the last one is 65535")
}
