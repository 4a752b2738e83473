//! `ipv6-source-on-ipv4-listener`
use std::{
    collections::HashSet,
    net::{IpAddr, Ipv4Addr},
};

use super::rule::{Lint, rule};
use crate::{
    finding::{Finding, Level},
    options::Runner,
    program::{
        acl::{Ace, Action, AddressRange},
        service::{Arriving, ListenAddress, Service},
    },
};

rule! {
    /// Clients of an IPv4 listener have no IPv6 addresses.
    ///
    /// Who may connect is listed by IPv6 address, and the services listen on IPv4 ones: nobody gets in.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * ::1
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * ::1,127.0.0.1
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Nor are they in IPv6 form there: 3proxy lets 192.0.2.7 pass a `deny` of `::ffff:192.0.2.7`. (`cfgc run` takes one for the other.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * ::ffff:192.0.2.7
    /// allow *
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * 192.0.2.7
    /// allow *
    /// proxy -i10.0.0.1
    /// ```
    "ipv6-source-on-ipv4-listener",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let by_cfgc = lint.options.runner == Runner::Cfgc;
    for list in lint.asked_lists().iter() {
        let ipv4 = |service: &Service| {
            let address = &service.listen.address.value;
            address.arriving() == Arriving::V4 && matches!(address, ListenAddress::Ip(_))
        };
        if !list.services(program).all(ipv4) {
            continue;
        }
        let Some(service) = list.services(program).next() else { continue };
        let entries = || program.acls.entries(list.acl).map(|(_, ace)| ace);
        let listed = |ace: &&Ace| sources(ace).iter().any(|range| range.first.is_ipv6());
        if !entries().any(|ace| listed(&ace)) {
            continue;
        }
        let admits = |ace: &Ace| ace.action == Action::Allow && !only_v6(ace, by_cfgc);
        let admitted = entries().any(admits);
        let denied: HashSet<(IpAddr, IpAddr)> = entries()
            .filter(|ace| ace.action == Action::Deny)
            .flat_map(sources)
            .map(|range| (range.first, range.last))
            .collect();
        let passes = |ace: &&Ace| {
            let mut forms = sources(ace).iter().filter_map(ipv4_form);
            ace.action == Action::Deny && !by_cfgc && forms.any(|form| !denied.contains(&form))
        };
        let never = entries().find(|ace| ace.action == Action::Allow && !admitted && only_v6(ace, by_cfgc));
        let passed = entries().find(passes);
        for finding in never.map(never_in).into_iter().chain(passed.map(passed_by)) {
            lint.report(finding.also(service.listen.address.at.unwrap_or(service.at), "it listens here"));
        }
    }
}

fn sources(ace: &Ace) -> &[AddressRange] {
    ace.matcher.sources.as_deref().unwrap_or_default()
}

/// Whether no client with an IPv4 address is listed. To cfgc an address in IPv6 form is such.
fn only_v6(ace: &Ace, by_cfgc: bool) -> bool {
    let v6 = |range: &AddressRange| range.first.is_ipv6() && !(by_cfgc && ipv4_form(range).is_some());
    !sources(ace).is_empty() && sources(ace).iter().all(v6)
}

/// The IPv4 addresses that a range has in IPv6 form.
fn ipv4_form(range: &AddressRange) -> Option<(IpAddr, IpAddr)> {
    let v4 = |address: IpAddr| match address {
        IpAddr::V6(address) => address.to_ipv4_mapped().map(Ipv4Addr::into),
        IpAddr::V4(_) => None,
    };
    Some((v4(range.first)?, v4(range.last)?))
}

fn never_in(ace: &Ace) -> Finding {
    let mapped = sources(ace).iter().any(|range| ipv4_form(range).is_some());
    let finding = if mapped {
        RULE.finding(
            ace.at,
            "3proxy admits nobody here: clients of an IPv4 listener have no addresses in IPv6 form",
        )
        .help("list them as IPv4 addresses: `192.0.2.7` for `::ffff:192.0.2.7`")
    } else {
        RULE.finding(
            ace.at,
            "this entry admits nobody, because no client of this IPv4 listener has an IPv6 address",
        )
        .help("list the clients' IPv4 addresses, or listen on an IPv6 address as well")
    };
    let mut finding = finding.label("never matches");
    // Of cfgc they are let in.
    if mapped {
        finding.level = Level::Warn;
    }
    finding
}

fn passed_by(ace: &Ace) -> Finding {
    RULE.finding(
        ace.at,
        "3proxy lets IPv4 clients pass this `deny`: on an IPv4 listener they have no addresses in IPv6 form",
    )
    .label("never matches under 3proxy")
    .help("list them as IPv4 addresses: `192.0.2.7` for `::ffff:192.0.2.7`")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn entries_for_both_families_are_right() {
        for lines in [
            "allow * ::1\nallow * 127.0.0.1\nproxy -i127.0.0.1",
            "allow * ::1\nproxy -i127.0.0.1\nproxy -i::1",
            "allow * ::1\nproxy -i::",
            "deny * fd00::/8\nallow * 10.0.0.0/8\nproxy -i10.0.0.1",
            "deny * 192.0.2.0/24\ndeny * ::ffff:192.0.2.0/120\nallow *\nproxy -i10.0.0.1",
            "deny * 192.0.2.0/24,::ffff:192.0.2.0/120\nallow *\nproxy -i10.0.0.1",
            "auth none\nallow * ::1\nproxy -i127.0.0.1",
        ] {
            check("ipv6-source-on-ipv4-listener", &format!("{lines}\n"));
        }
    }

    #[test]
    fn a_list_is_told_once() {
        check(
            "ipv6-source-on-ipv4-listener",
            r"
internal 127.0.0.1
allow * ::1
#^ no client of this IPv4 listener
allow * fd00::/8
deny * 192.0.2.1,::ffff:192.0.2.7
#^ 3proxy lets IPv4 clients pass
proxy
socks
flush
allow * ::ffff:127.0.0.0/104
#^ 3proxy admits nobody
proxy -p3129
",
        );
    }
}
