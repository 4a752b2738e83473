//! `open-resolver`
use super::{
    reach::{Reach, beyond_this_machine},
    rule::{Lint, rule},
    strangers::{Decider, open_without_target},
};
use crate::{
    finding::Finding,
    program::{
        acl::Operation,
        auth::AuthStep,
        service::{Service, ServiceKind},
    },
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
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let is_resolver = |service: &Service| service.kind == ServiceKind::Dnspr;
    let decider = Decider::new(lint, is_resolver);
    let services = lint.program.services.iter().enumerate().filter(|(_, service)| is_resolver(service));
    let open = services.filter_map(|(at, service)| {
        let (step, _) = open_without_target(&decider, at, Operation::DnsResolve)?;
        (beyond_this_machine(service) == Some(Reach::World)).then(|| finding(service, step))
    });
    for finding in open.collect::<Vec<_>>() {
        lint.report(finding);
    }
}

fn finding(service: &Service, step: &AuthStep) -> Finding {
    let finding = RULE.finding(service.at, "anyone can send queries to this service").label("open");
    let finding = match step.at {
        Some(at) => finding.also(at, format!("`{}` asks for nothing", step.kind.name())),
        None => finding.note("There is no `auth` line, so the access list decides alone."),
    };
    finding.help(
        "list the clients (`allow * 10.0.0.0/8`), or listen where only they can connect (`-i192.168.0.1`)",
    )
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_list_of_clients_or_a_near_address_closes_it() {
        check("open-resolver", "auth none\ndnspr\n#^ anyone can send\ndnspr -p54 -i127.0.0.1\n");
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
