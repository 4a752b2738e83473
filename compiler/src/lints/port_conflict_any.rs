//! One port on every address, and on one of them.
use std::collections::HashMap;

use super::{
    listeners::{on_purpose, placed},
    rule::{Lint, rule},
};
use crate::program::service::{ListenAddress, Service, ServiceKind};

rule! {
    /// A service on every address and another on one of them share a port.
    ///
    /// Both start, since 3proxy sets `SO_REUSEPORT`. On Linux the narrower one gets the clients that come to its address, and the other one
    /// the rest; other systems behave differently.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// users "alice:CL:correct horse"
    /// allow alice
    /// proxy -p3128
    /// flush
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -i192.168.0.1 -p3128
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users "alice:CL:correct horse"
    /// allow alice
    /// proxy -p3128
    /// flush
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -i192.168.0.1 -p1080
    /// ```
    "port-conflict-any",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let key = |service: &Service| {
        let ListenAddress::Ip(address) = service.listen.address.value else { return None };
        let udp = matches!(service.kind, ServiceKind::Udppm | ServiceKind::Dnspr);
        Some(((udp, address.is_ipv6(), service.listen.port.value), address))
            .filter(|((.., port), _)| *port != 0)
    };
    let mut everywhere = HashMap::new();
    for service in placed(program) {
        if let Some((key, _)) = key(service).filter(|(_, address)| address.is_unspecified()) {
            everywhere.entry(key).or_insert(service);
        }
    }
    if everywhere.is_empty() {
        return;
    }
    for service in placed(program) {
        let Some((key, address)) = key(service).filter(|(_, address)| !address.is_unspecified()) else {
            continue;
        };
        let Some(other) = everywhere.get(&key).filter(|other| !on_purpose(program, other, service)) else {
            continue;
        };
        let port = key.2;
        lint.report(
            RULE.finding(
                service.at,
                format!("another service listens on port {port} of every address, but clients of `{address}` reach this one"),
            )
            .label("on Linux it gets the connections to its address")
            .also(other.at, "this service gets the rest")
            .help("give one of them another port: `-pPORT`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_order_does_not_matter_and_equal_services_may_share_if_they_say_so() {
        check(
            "port-conflict-any",
            "allow * 10.0.0.0/8\nproxy -i10.0.0.1 -p80\n#^ another service listens on port 80\nflush\nallow *\nadmin\n",
        );
        check(
            "port-conflict-any",
            "allow *\nproxy -i10.0.0.1 -p80\n#^ another service listens on port 80\nproxy -p80\n",
        );
        let shared = "allow *\nproxy -olSO_REUSEPORT -i10.0.0.1 -p80\nproxy -olSO_REUSEPORT -p80\n";
        check("port-conflict-any", shared);
        check("port-conflict-any", "allow *\ntcppm 53 192.0.2.1 53\ndnspr -i10.0.0.1\nproxy -i::1 -p53\n");
    }
}
