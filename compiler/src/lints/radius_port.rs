//! `radius-port`
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// 3proxy 1.0.0 refuses a RADIUS server with a port, although its manual has it.
    ///
    /// It takes the port for a part of the name. `cfgc run` reads the port as the manual says; for both, use the
    /// default port, 1812.
    ///
    /// ```3proxy,fires
    /// radius secret-of-sixteen-bytes 192.0.2.5:1812
    /// auth radius
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// auth radius
    /// proxy
    /// ```
    "radius-port",
    level: Deny,
    group: Portability,
    since: "0.1.0",
    trap: Trap::RadiusPort => finding,
}

fn finding(part: Misread<'_>) -> Finding {
    RULE.finding(part.at, "3proxy 1.0.0 reads the port as part of the name and refuses the file")
        .help("write the address alone, and let the server listen on port 1812")
}
