//! A DNS proxy with no name server.
use super::rule::{Lint, rule};
use crate::program::{resolve::ResolverMode, service::ServiceKind};

rule! {
    /// `dnspr` needs a `nserver` to ask.
    ///
    /// Without one 3proxy can resolve names for itself, by the system, but has nobody to pass its clients' questions to.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// dnspr -i192.168.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// dnspr -i192.168.0.1
    /// ```
    "dnspr-without-resolver",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program.clone();
    let resolver = &program.resolver;
    // An address that only the network can tell may stand in one.
    let unread = program.commands.iter().any(|ran| ran.row.name == "nserver");
    if unread || !resolver.servers.is_empty() || resolver.mode.value == ResolverMode::Fake {
        return;
    }
    for service in &program.services {
        if service.kind == ServiceKind::Dnspr && service.options.fake_answer.is_none() {
            lint.report(
                RULE.finding(service.at, "this service has no name server to ask")
                    .help("write `nserver ADDRESS` above it"),
            );
        }
    }
}
