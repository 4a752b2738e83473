//! `external-is-loopback`
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::{
    reach::{forwards, reaches},
    rule::{Lint, rule},
};
use crate::{
    analysis::witness::Witness,
    finding::Finding,
    program::{
        acl::Ace,
        service::{External, Family, Service},
    },
    sources::Loc,
    table::{Table, oracle::Walk},
};

rule! {
    /// Connections go out from an address of this machine itself, from which no other machine can be reached.
    ///
    /// `external` and `-e` say where connections go out, `internal` and `-i` where clients come in. From 127.0.0.1 the system connects to
    /// this machine only, so requests for all other targets fail. Often the two were mixed up.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// external 127.0.0.1
    /// internal 10.0.0.1
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// external 203.0.113.1
    /// internal 10.0.0.1
    /// proxy
    /// ```
    ///
    /// Parents and targets on this machine can be reached:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 127.0.0.1 9050
    /// proxy -i10.0.0.1 -e127.0.0.1
    /// ```
    "external-is-loopback",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

/// Hosts that clients of a service may ask for.
const ELSEWHERE: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 80)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0x80)),
];

/// At most this many entries are gone through, and values of entries compared, in all: then the rest of a generated file is not asked.
const BUDGET: usize = 3_000_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (mut told, mut budget) = (BTreeSet::new(), BUDGET);
    for service in &program.services {
        for (at, target) in loopback(service) {
            if told.contains(&at) {
                continue;
            }
            // Each service has an address of its own, so that the list of several is asked for each.
            let acl = service.deciding_list();
            let entries = acl.map(|acl| program.acls.entries(acl)).into_iter().flatten();
            let entries: Vec<&Ace> = entries.map(|(_, ace)| ace).take(budget).collect();
            budget -= entries.len();
            let way = reaches(&program.acls, (service, acl), &entries, (target, None), &mut budget);
            let directly = |witness: &Witness| {
                let verdict = Walk { acls: &program.acls, list: acl }.decide(&witness.request());
                // An `extip` gives another address.
                !verdict.entry.and_then(|entry| program.acls.ace(entry)).is_some_and(Ace::redirects)
            };
            if let Some(witness) = way.filter(directly) {
                told.insert(at);
                lint.report(finding(at, service, &witness));
            }
        }
    }
}

/// The loopback addresses that connections go out from, each with a target elsewhere that the service would reach from there.
fn loopback(service: &Service) -> impl Iterator<Item = (Loc, IpAddr)> + use<> {
    let External { v4, v6 } = service.external;
    let [v4_target, v6_target] = ELSEWHERE;
    let family = service.family();
    let chooses = forwards(service.kind) && service.options.transparent.is_none();
    let v4 = v4.at.filter(|_| v4.value.is_loopback() && family != Family::V6).map(|at| (at, v4_target));
    let is_v6 = !matches!(family, Family::Default | Family::V4);
    let v6 = v6.at.filter(|_| v6.value.is_loopback() && is_v6).map(|at| (at, v6_target));
    v4.into_iter().chain(v6).filter(move |_| chooses)
}

fn finding(at: Loc, service: &Service, witness: &Witness) -> Finding {
    let finding = RULE
        .finding(at, "no other machine can be reached from this address")
        .label("connections go out from here")
        .note(format!("For example, {witness} fails."))
        .help("write the address that faces the targets; `internal` and `-i` are for the one that clients connect to");
    if service.at.contains(at) { finding } else { finding.also(service.at, "by this service") }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn services_with_one_list_are_told_each_by_its_own_address() {
        for (lines, count) in [
            ("proxy -i10.0.0.1 -e127.0.0.1\nproxy -p3129 -i10.0.0.1 -e127.0.0.2", 2),
            ("proxy -64 -i10.0.0.1 -e127.0.0.1 -e::1", 2),
            ("external 127.0.0.1\nproxy -i10.0.0.1\nproxy -p3129 -i10.0.0.1", 1),
        ] {
            let found =
                findings("external-is-loopback", &format!("auth iponly\nallow * 10.0.0.0/8\n{lines}\n"));
            assert_eq!(found.len(), count, "{lines}: {found:#?}");
        }
    }

    #[test]
    fn only_who_reaches_other_machines_directly_is_told() {
        for (lines, is_found) in [
            ("allow * 10.0.0.0/8\nproxy -i10.0.0.1 -e127.0.0.1", true),
            ("allow * 10.0.0.0/8\nexternal 127.0.0.2\nsocks -i10.0.0.1\nproxy -i10.0.0.1", true),
            ("allow * 10.0.0.0/8\nproxy -6 -i10.0.0.1 -e::1", true),
            ("proxy -i10.0.0.1 -e127.0.0.1", true),
            ("allow * 10.0.0.0/8 127.0.0.1\nproxy -i10.0.0.1 -e127.0.0.1", false),
            ("allow * 10.0.0.0/8\nparent 1000 extip 192.0.2.1 0\nproxy -i10.0.0.1 -e127.0.0.1", false),
            ("allow * 10.0.0.0/8\nparent 1000 http 127.0.0.1 3129\nproxy -i10.0.0.1 -e127.0.0.1", false),
            ("allow * 10.0.0.0/8\nproxy -6 -i10.0.0.1 -e127.0.0.1", false),
            ("allow * 10.0.0.0/8\ntcppm -e127.0.0.1 2222 127.0.0.1 22", false),
            ("allow * 10.0.0.0/8\nproxy -i127.0.0.1 -e192.0.2.1", false),
        ] {
            let found = findings("external-is-loopback", &format!("auth iponly\n{lines}\n"));
            assert_eq!(found.len(), usize::from(is_found), "{lines}");
        }
    }
}
