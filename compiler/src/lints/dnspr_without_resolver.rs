//! A DNS proxy with no name server.
use super::rule::{Lint, rule};
use crate::{
    finding::Level,
    program::{resolve::ResolverMode, service::ServiceKind},
};

rule! {
    /// `dnspr` needs a `nserver` to ask.
    ///
    /// It answers by itself only for names with a `nsrecord`: with these and no `nserver` the rule warns.
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
    let program = lint.program;
    let resolver = &program.resolver;
    // An address that only the network can tell may stand in one.
    let unread = program.commands.iter().any(|ran| ran.row.name == "nserver");
    if unread || !resolver.servers.is_empty() || resolver.mode.value == ResolverMode::Fake {
        return;
    }
    // Some may have an address that only the network can tell.
    let unread = program.commands.iter().filter(|ran| ran.row.name == "nsrecord").count();
    let dropped = resolver.records.iter().filter(|record| record.before_cache).count();
    for service in &program.services {
        if service.kind != ServiceKind::Dnspr || service.options.fake_answer.is_some() {
            continue;
        }
        // With `-s` it passes every question on.
        let knows_some = unread > dropped && service.options.single.is_none();
        let message = if knows_some {
            "this service has no name server, so it answers only for names of `nsrecord` lines"
        } else {
            "this service has no name server"
        };
        let mut finding = RULE.finding(service.at, message).help("write `nserver ADDRESS` above it");
        if knows_some {
            finding.level = Level::Warn;
        }
        lint.report(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::{finding::Level, lints::tests::findings};

    #[test]
    fn a_service_that_answers_by_static_records_may_be_meant() {
        for (text, expected) in [
            ("dnspr\n", Some(Level::Deny)),
            ("nscache 65536\ndnspr\nnsrecord a.example 192.0.2.1\n", Some(Level::Warn)),
            ("nscache6 65536\nnsrecord a.example 2001:db8::1\ndnspr\n", Some(Level::Warn)),
            // The record is dropped.
            ("nsrecord a.example 192.0.2.1\nnscache 65536\ndnspr\n", Some(Level::Deny)),
            // `-s` asks no record.
            ("nscache 65536\nnsrecord a.example 192.0.2.1\ndnspr -s\n", Some(Level::Deny)),
            ("nscache 65536\nnsrecord a.example 192.0.2.1\nnserver 192.0.2.53\ndnspr\n", None),
            ("dnspr -F192.0.2.1\n", None),
        ] {
            let found = findings("dnspr-without-resolver", text);
            let levels: Vec<_> = found.iter().map(|finding| finding.level).collect();
            assert_eq!(levels, expected.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }
}
