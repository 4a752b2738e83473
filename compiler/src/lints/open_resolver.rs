//! `open-resolver`
use std::net::{IpAddr, Ipv4Addr};

use super::{
    open_proxy::{Reach, beyond_this_machine},
    rule::{Lint, rule},
};
use crate::{
    finding::Finding,
    policy::witness::{OFFICE_HOURS, Target, Witness},
    program::{
        acl::Operation,
        auth::{AuthStep, AuthType},
        service::{Service, ServiceKind},
    },
    table::{Table, oracle::Walk},
};

rule! {
    /// Anyone on the network may ask this `dnspr` for names.
    ///
    /// Open resolvers are used to flood others: a short question from a forged address sends a long answer there. Name the clients, or
    /// listen on an address that only they reach.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth iponly
    /// dnspr
    /// ```
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// dnspr
    /// flush
    /// dnspr -i192.168.0.1
    /// ```
    "open-resolver",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

/// Unrelated clients: a resolver that does not answer one of them has a list of clients.
const STRANGERS: [Ipv4Addr; 3] =
    [Ipv4Addr::new(203, 0, 113, 7), Ipv4Addr::new(94, 130, 3, 4), Ipv4Addr::new(186, 7, 7, 8)];

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for service in program.services.iter().filter(|service| service.kind == ServiceKind::Dnspr) {
        let open = beyond_this_machine(service) == Some(Reach::World);
        if let Some(step) = service.chain.value.iter().find(|step| open && answers(lint, service, step)) {
            lint.report(finding(service, step));
        }
    }
}

fn answers(lint: &Lint<'_>, service: &Service, step: &AuthStep) -> bool {
    let list = Walk { acls: &lint.program.acls, list: service.acl };
    let passes = |from: Ipv4Addr| {
        let witness = Witness {
            user: None,
            source: IpAddr::V4(from),
            target: Target::default(),
            port: 0,
            operation: Operation::DnsResolve,
            time: OFFICE_HOURS,
        };
        list.decide(&witness.request()).passes()
    };
    match step.kind {
        AuthType::None => true,
        AuthType::IpOnly | AuthType::DnsName => STRANGERS.into_iter().all(passes),
        _ => false,
    }
}

fn finding(service: &Service, step: &AuthStep) -> Finding {
    let finding = RULE.finding(service.at, "anyone may ask this service for names").label("open");
    let finding = match step.at {
        Some(at) => finding.also(at, format!("`{}` asks for nothing", step.kind.name())),
        None => finding.note("There is no `auth` line, so the access list decides alone."),
    };
    finding.help("name the clients (`allow * 10.0.0.0/8`), or listen where only they are (`-i192.168.0.1`)")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_list_of_clients_or_a_near_address_closes_it() {
        check("open-resolver", "auth none\ndnspr\n#^ anyone may ask\ndnspr -p54 -i127.0.0.1\n");
        for text in [
            "allow * 192.168.0.0/16\ndnspr\n",
            "deny *\ndnspr\n",
            "dnspr -i10.0.0.1\n",
            "allow * * * * HTTP\ndnspr\n",
        ] {
            check("open-resolver", text);
        }
    }
}
