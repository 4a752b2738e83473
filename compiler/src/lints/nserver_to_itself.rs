//! `nserver-to-itself`
use std::net::{IpAddr, SocketAddr};

use super::rule::{Lint, rule};
use crate::program::{
    Set,
    resolve::NameServer,
    service::{ListenAddress, Service, ServiceKind},
};

rule! {
    /// A name server is the `dnspr` of the same file, which asks the name servers itself.
    ///
    /// Each question that 3proxy can't answer from its cache comes back to it as a new one, until the service has no room for more clients.
    ///
    /// ```3proxy,fires
    /// nserver 127.0.0.1
    /// nscache 65536
    /// auth iponly
    /// allow * 127.0.0.1
    /// dnspr -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth iponly
    /// allow * 127.0.0.1
    /// dnspr -i127.0.0.1
    /// ```
    "nserver-to-itself",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for server in &program.resolver.servers {
        let Set { value: NameServer { address, tcp: false }, at: Some(at) } = server else { continue };
        let gets = |service: &&std::sync::Arc<Service>| gets(service, *address);
        if let Some(service) = program.services.iter().find(gets) {
            let finding = RULE
                .finding(*at, "this name server is the service that asks it, so each question loops")
                .also(service.at, "listens there")
                .help("write the address of the name server that is meant");
            lint.report(finding);
        }
    }
}

/// Whether a service gets the questions that are sent to a name server.
fn gets(service: &Service, server: SocketAddr) -> bool {
    let address = server.ip().to_canonical();
    let is_there = match service.listen.address.value {
        ListenAddress::Ip(listen) if listen.is_unspecified() => {
            address.is_loopback() && (listen.is_ipv6() || address.is_ipv4())
        }
        ListenAddress::Ip(listen) => listen.to_canonical() == address,
        ListenAddress::Unix(_) => false,
    };
    let is_somewhere = |address: IpAddr| !address.is_unspecified();
    service.kind == ServiceKind::Dnspr
        && service.listen.port.value == server.port()
        && is_somewhere(address)
        && is_there
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_address_and_the_port_count() {
        check(
            "nserver-to-itself",
            r"
nserver 127.0.0.1
#       ^ each question loops
nserver 10.0.0.1:5353
#       ^ each question loops
nserver 127.0.0.1/tcp
nserver 127.0.0.2
nserver 10.0.0.1
dnspr -i127.0.0.1
dnspr -i10.0.0.1 -p5353
",
        );
        check(
            "nserver-to-itself",
            r"
nserver 127.0.0.5
#       ^ each question loops
nserver 192.0.2.53
dnspr
udppm 5353 127.0.0.1 53
",
        );
    }
}
