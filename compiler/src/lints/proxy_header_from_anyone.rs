//! Anyone may say where he comes from.

use super::rule::{Lint, rule};
use crate::{finding::Level, program::service::ListenAddress};

rule! {
    /// With `-H`, anyone who can connect can claim any client address.
    ///
    /// The service believes the PROXY header of each client: entries that let in by address are open to those who can reach its
    /// port. And a client without the header is not refused by 3proxy: its first line is lost. Only a load balancer should reach
    /// such a port.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -H -p3128
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -H -i127.0.0.1 -p3128
    /// ```
    "proxy-header-from-anyone",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for service in &program.services {
        let Some(at) = service.options.proxy_protocol else { continue };
        let ListenAddress::Ip(address) = service.listen.address.value else { continue };
        if address.is_loopback() {
            continue;
        }
        let mut finding = RULE
            .finding(at, "any client that reaches this port can claim any source address")
            .label("the client's PROXY header is trusted")
            .help("listen where only the load balancer connects (`-iADDRESS`), or keep others out by a firewall");
        // One address, which may be that of an inner network.
        if !address.is_unspecified() {
            finding.level = Level::Allow;
        }
        lint.report(finding);
    }
}
