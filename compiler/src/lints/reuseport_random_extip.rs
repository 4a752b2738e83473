//! Outgoing addresses at random.
use std::collections::HashMap;

use super::{
    listeners::placed,
    rule::{Lint, rule},
};
use crate::program::service::ServiceKind;

rule! {
    /// Services that share a port but not their outgoing address give each connection of a client another address.
    ///
    /// The kernel spreads connections over them. That is right for many connections that have nothing to do with each other. A web site
    /// sees one visitor with several addresses, and may end the session.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -olSO_REUSEPORT -i192.168.0.1 -p1080 -e192.0.2.1
    /// socks -olSO_REUSEPORT -i192.168.0.1 -p1080 -e192.0.2.2
    /// ```
    ///
    /// An address for each user stays the same:
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users "alice:CL:correct horse" "bob:CL:battery staple"
    /// allow alice
    /// parent 1000 extip 192.0.2.1 0
    /// allow bob
    /// parent 1000 extip 192.0.2.2 0
    /// socks -i192.168.0.1 -p1080
    /// ```
    "reuseport-random-extip",
    level: Allow,
    group: Performance,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut first = HashMap::new();
    for service in placed(program) {
        let udp = matches!(service.kind, ServiceKind::Udppm | ServiceKind::Dnspr);
        let key = (udp, service.kind, &service.listen.address.value, service.listen.port.value);
        let exit = (service.external.v4.value, service.external.v6.value);
        let (at, others, told) = first.entry(key).or_insert((service.at, exit, false));
        if *others != exit && !*told {
            *told = true;
            lint.report(
                RULE.finding(service.at, "the connections of a client leave by different addresses at random")
                    .label("shares its port, but not its outgoing address")
                    .also(*at, "with this one")
                    .help("choose the address by user or client: `parent 1000 extip ADDRESS 0` after an `allow` entry"),
            );
        }
    }
}
