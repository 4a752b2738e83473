//! Ports that are read otherwise than they are written.
use grammar::value::NumberTrap;

use super::{
    meant,
    rule::{Misread, rule},
};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A port that is not a number from 0 to 65535 is read differently from what is written.
    ///
    /// 3proxy takes the digits at its beginning and keeps the low 16 bits: `-p` and `-phttp` mean the default port, `-p3128x`
    /// is 3128, `-p88556` is 23020. For a parent 0 means the port of the request.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy -p88556 -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -p8855 -i127.0.0.1
    /// ```
    "port-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Port(fault) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: NumberTrap) -> Finding {
    let cited = part.cited();
    let message = match fault {
        NumberTrap::NotANumber if cited.is_empty() => "there is no port here: 3proxy reads 0".to_owned(),
        NumberTrap::NotANumber => format!("`{cited}` is not a port: 3proxy reads 0"),
        NumberTrap::Junk => format!("`{cited}` after the port is not read"),
        NumberTrap::Wraps => format!("`{cited}` is not a port: 3proxy keeps its low 16 bits"),
    };
    let finding = RULE.finding(part.at, message);
    let alone = cited.strip_prefix([':', '=']).filter(|rest| meant::port(rest).is_some());
    if let Some(port) = alone {
        let title = format!("write the number alone: `{port}`");
        return finding.help(title.clone()).fix(part.replaced(title, Safety::Safe, port.to_owned()));
    }
    finding.help(if cited.starts_with([',', '-']) {
        "write one port from 1 to 65535, not a list or a range"
    } else {
        "write a number from 1 to 65535"
    })
}
