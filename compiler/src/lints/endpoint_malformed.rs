//! A port or transport of a name server that is none.
use grammar::value::EndpointTrap;

use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A port or transport of a name server that 3proxy can't read is replaced by the default.
    ///
    /// A port that is not a number becomes 53, one above 65535 wraps, and any transport but `tcp` is UDP.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53:dns/tls
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53:5353/tcp
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "endpoint-malformed",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Endpoint(fault) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: EndpointTrap) -> Option<Finding> {
    let cited = part.cited();
    let (message, help) = match fault {
        EndpointTrap::Port(_) => {
            (format!("`{cited}` is not a port of a name server"), "write a number from 1 to 65535")
        }
        EndpointTrap::Transport => (
            format!("`{cited}` is not a transport, so 3proxy may read it as UDP or TCP"),
            "write `/tcp` or nothing: 3proxy has no DNS over TLS or HTTPS",
        ),
        EndpointTrap::Unbracketed => return None,
    };
    Some(RULE.finding(part.at, message).help(help))
}
