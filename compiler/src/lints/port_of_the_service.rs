//! `port-of-the-service`
use std::collections::BTreeMap;

use super::{
    listeners::{is_placed, placed},
    rule::{Lint, rule},
};
use crate::{
    finding::Finding,
    program::{
        acl::{Matcher, PortRange},
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// The port column holds the port of the target, and this is the port that the service listens on.
    ///
    /// An entry can't name the service that a request comes by. Access lists are per service; limits are for all.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 2000000 * * * 10585
    /// socks -p10585 -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// bandlimin 2000000 * 10.0.0.0/8
    /// socks -p10585 -i10.0.0.1
    /// ```
    "port-of-the-service",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

/// Ports that servers elsewhere may have as well.
const COMMON: [u16; 6] = [8000, 8008, 8080, 8443, 8888, 3128];

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let listening = listening(placed(program));
    let limits = &program.limits;
    let lines = limits
        .bandwidth_in
        .iter()
        .chain(&limits.bandwidth_out)
        .map(|line| (line.at, &line.matcher))
        .chain(limits.connections.iter().map(|line| (line.at, &line.matcher)))
        .chain(limits.traffic.iter().map(|line| (line.limit.at, &line.limit.matcher)));
    let mut found: Vec<Finding> = lines
        .filter_map(|(at, matcher)| finding(at, matcher, |port| listening.get(&port).copied()))
        .collect();
    found.extend(of_lists(lint, &listening));
    for finding in found {
        lint.report(finding);
    }
}

fn of_lists(lint: &Lint<'_>, all: &BTreeMap<u16, Loc>) -> Vec<Finding> {
    let program = lint.program;
    let mut found = Vec::new();
    for list in lint.asked_lists().iter() {
        for (place, (_, ace)) in program.acls.entries(list.acl).enumerate() {
            // Most entries list no port, or none that anybody listens on.
            let own = |port: u16| {
                let known = all.contains_key(&port);
                let listens =
                    |service: &Service| service.listen.port.value == port && is_placed(program, service);
                let asking = || list.asking(program, place).find(|service| listens(service));
                if known { asking().map(|service| service.at) } else { None }
            };
            found.extend(finding(ace.at, &ace.matcher, own));
        }
    }
    found
}

/// Ports that services of this file listen on, and that are no port of a target in it.
fn listening<'a>(services: impl Iterator<Item = &'a Service> + Clone) -> BTreeMap<u16, Loc> {
    let mut ports: BTreeMap<u16, Loc> = services
        .clone()
        .filter(|service| service.target.is_none())
        .map(|service| (service.listen.port.value, service.at))
        .filter(|(port, _)| *port > 1024 && !COMMON.contains(port))
        .collect();
    for target in services.filter_map(|service| service.target.as_ref()) {
        ports.remove(&target.port);
    }
    ports
}

fn finding(at: Loc, matcher: &Matcher, listening: impl Fn(u16) -> Option<Loc>) -> Option<Finding> {
    let [PortRange { first, last }] = matcher.ports.as_deref()? else { return None };
    let service = listening(*first).filter(|_| first == last && matcher.targets.is_none())?;
    Some(
        RULE.finding(
            at,
            format!("`{first}` is compared with the target's port, not with that of the service"),
        )
        .label("lists the port of targets")
        .also(service, "this service listens on it")
        .help("leave the port out; to tell services apart, give each an access list of its own"),
    )
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_port_that_targets_have_is_none_of_a_service() {
        check(
            "port-of-the-service",
            r"
internal 127.0.0.1
allow * * * 1081
#^ compared with the target's port
allow * * * 8080,1081
allow * * * 8080
connlim 10 1 * * * 2525
connlim 10 1 * * * 1081
#^ compared with the target's port
connlim 10 1 * * 192.0.2.1 1081
socks -p1081
auto -p8080
tcppm 2525 mail.example.com 2525
",
        );
    }
}
