//! Two services on one address and port.
use std::{
    collections::{HashMap, hash_map::Entry},
    fmt,
};

use super::{
    listeners::{alike, on_purpose, placed},
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    program::service::{ListenAddress, Service, ServiceKind},
};

rule! {
    /// Two services that listen on one address and port share its connections at random.
    ///
    /// 3proxy sets `SO_REUSEPORT` on its listening sockets, so the second service starts without an error, and the kernel gives
    /// each new connection to either of them. What a client may do then depends on which one it reached. Services that treat every client
    /// alike are only reported at level warn: most likely a line was written twice. `cfgc run` serves neither such pair.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -p3128
    /// flush
    /// allow * 10.0.0.0/8
    /// proxy -i192.168.0.1 -p3128
    /// ```
    ///
    /// Give each its own port:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -p3128
    /// flush
    /// allow * 10.0.0.0/8
    /// proxy -i192.168.0.1 -p3129
    /// ```
    ///
    /// Services that treat every client alike may share a port, to spread connections over outgoing addresses. Say so with
    /// `-olSO_REUSEPORT` on each:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -olSO_REUSEPORT -i192.168.0.1 -p1080 -e192.0.2.1
    /// socks -olSO_REUSEPORT -i192.168.0.1 -p1080 -e192.0.2.2
    /// ```
    "duplicate-listener",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Services,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut taken: HashMap<(bool, &ListenAddress, u16), &Service> = HashMap::new();
    // An address or port that is none has a finding of its own, and is not the one that is meant.
    for service in placed(program) {
        let (address, port) = (&service.listen.address.value, service.listen.port.value);
        let unix = matches!(address, ListenAddress::Unix(_));
        if port == 0 && !unix {
            continue;
        }
        let udp = matches!(service.kind, ServiceKind::Udppm | ServiceKind::Dnspr);
        let first = match taken.entry((udp, address, if unix { 0 } else { port })) {
            Entry::Vacant(place) => {
                place.insert(service);
                continue;
            }
            Entry::Occupied(place) => *place.get(),
        };
        if !on_purpose(program, first, service) {
            let alike = alike(program, first, service);
            lint.report(finding(first, service, Place { address, port }, alike));
        }
    }
}

fn finding(first: &Service, second: &Service, place: Place<'_>, alike: bool) -> Finding {
    if alike {
        let message =
            format!("this service listens on `{place}`, but an identical service already listens there");
        let mut finding = RULE.finding(second.at, message);
        finding.level = Level::Warn;
        return finding
            .label("its only effect is a second `maxconn`")
            .also(first.at, "the other one")
            .help("remove it; if both are meant, write `-olSO_REUSEPORT` on each");
    }
    RULE.finding(
        second.at,
        format!("this service listens on `{place}`, but another service already listens there"),
    )
    .label("connections go to either service at random")
    .also(first.at, "the other one")
    .note("3proxy sets `SO_REUSEPORT`, so both start and the kernel chooses for each connection.")
    .help("give it a port of its own: `-pPORT`")
}

/// An address and port as users write them.
struct Place<'a> {
    address: &'a ListenAddress,
    port: u16,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            ListenAddress::Ip(address) => std::net::SocketAddr::new(*address, self.port).fmt(f),
            ListenAddress::Unix(path) => path.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn two_uplinks_on_one_port_are_no_choice() {
        check(
            "duplicate-listener",
            r"
auth iponly
allow * 10.0.0.0/8
proxy -p8001 -e192.0.2.8
proxy -p8001 -e192.0.2.9
#^ this service listens on `0.0.0.0:8001`
",
        );
    }

    #[test]
    fn what_is_no_port_or_address_is_no_duplicate() {
        check(
            "duplicate-listener",
            r"
auth iponly
allow * 10.0.0.0/8
socks -p1080
allow * 192.168.0.0/16
socks -pabc
socks -p66616
proxy -i192.0.2.01
proxy -i192.0.2.02
",
        );
    }

    #[test]
    fn transports_and_addresses_differ() {
        check(
            "duplicate-listener",
            r"
proxy -p53 -i127.0.0.1
dnspr -p53 -i127.0.0.1
proxy -p53 -i127.0.0.2
proxy -p53
proxy -p0
socks -p0
",
        );
    }

    #[test]
    fn default_ports_collide_too() {
        check(
            "duplicate-listener",
            r"
internal 127.0.0.1
proxy
tcppm 3128 192.0.2.1 80
#^ `127.0.0.1:3128`
",
        );
    }

    #[test]
    fn equal_services_are_one_line_too_many() {
        check(
            "duplicate-listener",
            r"
allow * 10.0.0.0/8
proxy
flush
allow * 10.0.0.0/8
proxy
#^ an identical service already
allow * 172.16.0.0/12
proxy
#^ another service already
",
        );
    }

    #[test]
    fn a_shared_port_is_asked_for_by_all_that_share_it() {
        check(
            "duplicate-listener",
            r"
allow * 10.0.0.0/8
proxy -olSO_REUSEPORT
proxy -olSO_REUSEPORT
proxy
#^ an identical service already
flush
proxy -olSO_REUSEPORT
#^ another service already
",
        );
    }
}
