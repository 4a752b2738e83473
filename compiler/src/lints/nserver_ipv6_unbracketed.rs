//! An IPv6 name server without brackets.
use grammar::value::{EndpointTrap, endpoint};

use super::rule::{Misread, rule};
use crate::{
    finding::{Finding, Level},
    fix::Safety,
    program::trap::Trap,
};

rule! {
    /// In a name server's IPv6 address without brackets, the number after the first colon is read as the port.
    ///
    /// The address itself is read whole, so 3proxy asks the right host at a wrong port, and no name resolves. Where no number stands there
    /// (`2001:db8::53`), the port is 53, by luck.
    ///
    /// ```3proxy,fires
    /// nserver 3fff:53::1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// nserver [3fff:53::1]
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// nserver [3fff:53::1]:5353/tcp
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nserver-ipv6-unbracketed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Endpoint(EndpointTrap::Unbracketed) => finding,
}

fn finding(address: Misread<'_>) -> Finding {
    let bracketed = format!("[{}]", address.cited());
    let port = endpoint(address.text).ok().and_then(|reading| reading.value.port);
    let title = format!("write `{bracketed}`");
    let message = match port {
        Some(port) => format!("`{}` has no brackets, so 3proxy uses port {port}", address.cited()),
        None => format!("`{}` has no brackets, so its port is 53 only by luck", address.cited()),
    };
    let mut finding = RULE
        .finding(address.at, message)
        .label("what follows the first colon is read as the port")
        .help(title.clone())
        .fix(address.replaced(title, Safety::Safe, bracketed));
    if port.is_none() {
        finding.level = Level::Allow;
    }
    finding
}
