//! A port below 1024 behind `setuid`.
use std::collections::HashMap;

use super::{
    listeners::placed,
    privileges::gives_up,
    rule::{Lint, rule},
};
use crate::{
    program::service::{ListenAddress, Service},
    sources::Loc,
};

rule! {
    /// A service after `setuid` can't listen on a port below 1024.
    ///
    /// Such a port takes rights that the new user does not have. 3proxy goes on without the service.
    ///
    /// ```3proxy,fires
    /// setuid 65534
    /// auth iponly
    /// allow *
    /// dnspr -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// dnspr -i127.0.0.1
    /// setuid 65534
    /// proxy -i127.0.0.1
    /// ```
    "privileged-port-after-setuid",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let Some(from) = program.commands.iter().position(|ran| gives_up(lint, ran)) else {
        return;
    };
    let behind = program.commands.get(from..).unwrap_or_default();
    let Some(user) = behind.first() else { return };
    let services: HashMap<Loc, &Service> = placed(program).map(|service| (service.at, service)).collect();
    for service in behind.iter().filter_map(|ran| services.get(&ran.at)) {
        let port = service.listen.port.value;
        let unix = matches!(service.listen.address.value, ListenAddress::Unix(_));
        if (1..1024).contains(&port) && !unix {
            lint.report(
                RULE.finding(
                    service.listen.port.at.unwrap_or(service.at),
                    format!("port {port} requires privileges that were given up"),
                )
                .label("can't be listened on")
                .also(user.at, "given up here")
                .help("move `setuid` below this service, or choose a port above 1023"),
            );
        }
    }
}
