//! Static records that the system is not told of.
use super::rule::{Lint, rule};
use crate::program::{auth::AuthType, service::ServiceKind};

rule! {
    /// Without an `nserver`, names are looked up by the system, which does not know the static records.
    ///
    /// The cache of names, in which `nsrecord` puts its records, is asked only on the way to a name server, by `dnspr` and by the
    /// `dnsname` type.
    ///
    /// ```3proxy,fires
    /// nscache 65536
    /// nsrecord intranet.example.com 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// nsrecord intranet.example.com 192.0.2.1
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nsrecord-without-nserver",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // Of one that has no cache another rule tells, and a plugin may look names up.
    let mut kept = program.resolver.records.iter().filter(|record| !record.before_cache);
    let Some(first) = kept.next() else { return };
    let has_servers = program.commands.iter().any(|ran| ran.row.name == "nserver");
    let asks = program.services.iter().any(|service| {
        service.kind == ServiceKind::Dnspr
            || service.chain.value.iter().any(|step| step.kind == AuthType::DnsName)
    });
    if has_servers || asks || !program.process.plugins.is_empty() || program.services.is_empty() {
        return;
    }
    let finding = RULE
        .finding(first.at, "this record is never looked up, because there is no `nserver`")
        .label("has no effect")
        .lacking("nserver")
        .help("write `nserver` with the address of a name server, or put the name into the system's file of hosts");
    lint.report(match kept.count() {
        0 => finding,
        1 => finding.note("The same is true of one more record."),
        more => finding.note(format!("The same is true of {more} more records.")),
    });
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn who_looks_into_the_cache_finds_records() {
        let record = "nscache 65536\nnsrecord a.example 192.0.2.1\nnsrecord b.example 192.0.2.2\n";
        for lines in [
            "nserver 192.0.2.53\nproxy",
            "auth dnsname\nallow *\nproxy",
            "dnspr",
            "proxy\ndnspr",
            "plugin p.so start\nproxy",
            // A part of a file, which others include.
            "",
        ] {
            check("nsrecord-without-nserver", &format!("{record}{lines}\n"));
        }
        let found = findings("nsrecord-without-nserver", &format!("{record}fakeresolve\nproxy\n"));
        assert!(found.len() == 1 && found[0].notes.len() == 1, "{found:#?}");
    }
}
