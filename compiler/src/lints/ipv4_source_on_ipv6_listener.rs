//! `ipv4-source-on-ipv6-listener`
use std::net::{IpAddr, Ipv6Addr};

use super::rule::{Lint, rule};
use crate::{
    finding::Level,
    options::Runner,
    program::{
        acl::{Ace, Action, AddressRange},
        service::{Arriving, Service},
    },
};

rule! {
    /// Clients of an IPv6 listener have no IPv4 addresses.
    ///
    /// Who may connect is listed by IPv4 address, and the service listens on an IPv6 one: nobody gets in.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.0.2.0/24
    /// proxy -6 -i2001:db8::1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.0.2.0/24,2001:db8:1::/48
    /// proxy -6 -i2001:db8::1
    /// ```
    ///
    /// On `::` clients of both families arrive. 3proxy takes an IPv4 client for `::ffff:192.0.2.7` there, which is in no IPv4 network,
    /// so that a `deny` of one is passed by. (`cfgc run` compares such an address with IPv4 networks.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * 192.0.2.0/24
    /// allow *
    /// proxy -i::
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * 192.0.2.0/24,::ffff:192.0.2.0/120
    /// allow *
    /// proxy -i::
    /// ```
    "ipv4-source-on-ipv6-listener",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    for list in lint.asked_lists().iter() {
        let mut services = list.services(program);
        if services.all(|service| arriving(service) == Arriving::V4) {
            continue;
        }
        let v6 = |(_, ace): (_, &Ace)| ace.action == Action::Allow && takes_v6(ace);
        let admits_v6 = program.acls.entries(list.acl).any(v6);
        let mut told = (admits_v6, lint.options.runner == Runner::Cfgc);
        for (place, (_, ace)) in program.acls.entries(list.acl).enumerate() {
            let with = |wanted: &[Arriving]| {
                list.asking(program, place).find(|service| wanted.contains(&arriving(service)))
            };
            if !only_v4(ace) || told == (true, true) {
                continue;
            }
            let never = !takes_v6(ace)
                && list.asking(program, place).all(|service| arriving(service) == Arriving::V6);
            if let (Some(service), false, true, Action::Allow) =
                (with(&[Arriving::V6]), told.0, never, ace.action)
            {
                told.0 = true;
                lint.report(
                    RULE.finding(
                        ace.at,
                        "this entry admits nobody, because no client of this IPv6 listener has an IPv4 address",
                    )
                    .label("never matches")
                    .also(service.listen.address.at.unwrap_or(service.at), "it listens here")
                    .help("list the clients' IPv6 addresses, or add a service that listens on an IPv4 address (`-i`)"),
                );
            }
            if let (Some(service), false) = (with(&[Arriving::Mapped, Arriving::Both]), told.1) {
                told.1 = true;
                let denies = ace.action == Action::Deny;
                let message = if denies {
                    "3proxy lets IPv4 clients pass this `deny`: on an IPv6 listener they have addresses in IPv6 form"
                } else {
                    "3proxy does not let IPv4 clients in here: on an IPv6 listener they have addresses in IPv6 form"
                };
                let mut finding = RULE
                    .finding(ace.at, message)
                    .label("never matches under 3proxy")
                    .also(service.listen.address.at.unwrap_or(service.at), "it listens here")
                    .note(
                        "An IPv4 client arrives as `::ffff:192.0.2.7`, and no IPv4 network has that address.",
                    )
                    .help("list the IPv6 form too: `::ffff:192.0.2.0/120` for `192.0.2.0/24`");
                if !denies {
                    finding.level = Level::Warn;
                }
                lint.report(finding);
            }
        }
    }
}

fn arriving(service: &Service) -> Arriving {
    service.listen.address.value.arriving()
}

/// Whether IPv4 sources are listed without their IPv6 form beside them. `::1` is none: it is this machine's own.
fn only_v4(ace: &Ace) -> bool {
    let v6 =
        |range: &AddressRange| matches!(range.first, IpAddr::V6(address) if address != Ipv6Addr::LOCALHOST);
    let sources = ace.matcher.sources.as_deref().unwrap_or_default();
    sources.iter().any(|range| range.first.is_ipv4()) && !sources.iter().any(v6)
}

/// Whether some client of IPv6 matches.
fn takes_v6(ace: &Ace) -> bool {
    ace.matcher.sources.as_deref().is_none_or(|sources| sources.iter().any(|range| range.last.is_ipv6()))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn entries_for_both_families_are_right() {
        for lines in [
            "allow * 10.0.0.0/8\nallow * fd00::/8\nproxy -ifd00::1",
            "allow * 10.0.0.0/8\nproxy -ifd00::1\nproxy -i10.0.0.1",
            "deny * 10.0.0.0/8\nproxy -ifd00::1",
            "allow alice\nproxy -i::",
            "allow * 10.0.0.0/8\nproxy",
            "allow * ::1\nproxy -i::1",
            "allow * ::1/128\nproxy -6",
            "allow * 127.0.0.1,::1\nproxy -i::1",
        ] {
            check("ipv4-source-on-ipv6-listener", &format!("{lines}\n"));
        }
    }

    #[test]
    fn a_list_is_told_once() {
        check(
            "ipv4-source-on-ipv6-listener",
            r"
internal ::
allow * 10.0.0.0/8
#^ 3proxy does not let IPv4 clients in
allow * 192.168.0.0/16
proxy
",
        );
    }
}
