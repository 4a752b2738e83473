//! `auth dnsname` with no name server.
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::auth::AuthType;

rule! {
    /// `auth dnsname` needs a name server to ask.
    ///
    /// The system is never asked for the names of clients: without `authnserver` or `nserver` nobody is known by this type.
    ///
    /// ```3proxy,fires
    /// auth dnsname
    /// allow client.example.com
    /// deny *
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// auth dnsname
    /// allow client.example.com
    /// deny *
    /// proxy -i192.168.0.1
    /// ```
    "dnsname-without-resolver",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // One whose address only the network can tell is one.
    if program.commands.iter().any(|ran| matches!(ran.row.name, "nserver" | "authnserver")) {
        return;
    }
    let steps = program.services.iter().flat_map(|service| service.chain.value.iter());
    let places: BTreeSet<_> =
        steps.filter(|step| step.kind == AuthType::DnsName).filter_map(|step| step.at).collect();
    for at in places {
        let finding = RULE.finding(at, "there is no name server to look up the names of clients");
        lint.report(
            finding.label("finds no names").help("write `nserver ADDRESS`, or `authnserver ADDRESS`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_finding_for_each_line_and_none_with_a_server() {
        check("dnsname-without-resolver", "auth dnsname strong\n#    ^ no name server\nproxy\nsocks\n");
        for text in
            ["authnserver 192.0.2.53\nauth dnsname\nproxy\n", "auth strong\nproxy\n", "auth dnsname\n"]
        {
            check("dnsname-without-resolver", text);
        }
    }
}
