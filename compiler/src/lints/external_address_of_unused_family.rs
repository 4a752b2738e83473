//! `external-address-of-unused-family`
use std::{collections::BTreeMap, net::IpAddr};

use super::rule::{Lint, rule};
use crate::{
    analysis::lists::Having,
    finding::Finding,
    program::{
        Program,
        acl::{Ace, ParentHost},
        service::{External, Family, Service},
    },
    sources::Loc,
    way,
};

rule! {
    /// An outgoing address of a family that the service never uses.
    ///
    /// Without `-6`, `-46` or `-64` a service looks names up in IPv4 only, and refuses a target that is written as an IPv6 address. So no
    /// connection goes out from the IPv6 address that is given for them: all of them go out from an IPv4 address, and that is one that the
    /// system chooses unless another is given.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// users alice:CL:wonderland
    /// allow alice
    /// proxy -p10000 -i198.51.100.5 -e2001:db8:1::1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users alice:CL:wonderland
    /// allow alice
    /// proxy -6 -p10000 -i198.51.100.5 -e2001:db8:1::1
    /// ```
    ///
    /// And with `-6` a service uses IPv6 only:
    ///
    /// ```3proxy,fires
    /// external 192.0.2.2
    /// proxy -6 -i127.0.0.1
    /// ```
    ///
    /// SOCKS clients can ask for IPv6 addresses without these options, so both addresses can serve there. With the IPv6 address alone, what
    /// they ask for by name goes out from another one.
    ///
    /// ```3proxy,clean
    /// socks -i127.0.0.1 -e192.0.2.2 -e2001:db8:1::1
    /// ```
    "external-address-of-unused-family",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let services = || program.services.iter().map(|service| &**service);
    let (mut v4, mut v6) = (through(program, false), through(program, true));
    let mut is_used = |service: &Service, is_v6: bool| {
        let to_parent = |acl| if is_v6 { v6.holds(acl) } else { v4.holds(acl) };
        uses(service, is_v6) || service.acl.is_some_and(to_parent)
    };
    let mut unused: BTreeMap<Loc, (&Service, bool)> = BTreeMap::new();
    for service in services() {
        for (is_v6, at) in given(service).filter(|(is_v6, _)| !is_used(service, *is_v6)) {
            unused.entry(at).or_insert((service, is_v6));
        }
    }
    if unused.is_empty() {
        return;
    }
    // An `external` line is for all services behind it.
    for service in services() {
        for (_, at) in given(service).filter(|(is_v6, _)| is_used(service, *is_v6)) {
            unused.remove(&at);
        }
    }
    for (at, (service, is_v6)) in unused {
        lint.report(finding(at, service, is_v6));
    }
}

/// The source addresses that are given for a service, by whether they are of IPv6.
fn given(service: &Service) -> impl Iterator<Item = (bool, Loc)> + use<> {
    let External { v4, v6 } = service.external;
    let v4 = v4.at.filter(|_| !v4.value.is_unspecified());
    let v6 = v6.at.filter(|_| !v6.value.is_unspecified());
    v4.map(|at| (false, at)).into_iter().chain(v6.map(|at| (true, at)))
}

/// Whether lists have a parent that may be reached by this family. That is connected to in its own family, whatever the service's is.
fn through(program: &Program, is_v6: bool) -> Having<'_, impl Fn(&Ace) -> bool> {
    Having::new(&program.acls, move |ace| {
        program.acls.parents(ace).iter().filter(|parent| way::is_hop(parent)).any(|parent| {
            match parent.host {
                ParentHost::Address(IpAddr::V4(address)) => !is_v6 && !address.is_unspecified(),
                ParentHost::Address(IpAddr::V6(address)) => is_v6 && !address.is_unspecified(),
                ParentHost::Name(_) => true,
                ParentHost::Prefix(..) | ParentHost::Unix(_) => false,
            }
        })
    })
}

/// Whether a service connects to targets by a family; of those that SOCKS clients give by name, too, if it has no address of the other one.
fn uses(service: &Service, is_v6: bool) -> bool {
    let connects = service.kind.has_target() && service.options.transparent.is_none();
    let both = || service.kind.speaks_socks() && !service.external.v4.value.is_unspecified();
    let by_it = match (service.family(), is_v6) {
        (Family::V4, true) | (Family::V6, false) => false,
        (Family::Default, true) => both(),
        _ => true,
    };
    by_it || !connects
}

fn finding(at: Loc, service: &Service, is_v6: bool) -> Finding {
    let by_address = service.kind.speaks_socks() && service.family() == Family::Default;
    let (message, help) = match (is_v6, by_address) {
        (true, false) => (
            "no connection goes out from this IPv6 address, because the service uses IPv4 only",
            "write `-6` (IPv6 only), `-64` (IPv6 first) or `-46` (IPv4 first) in the service's line",
        ),
        (true, true) => (
            "what clients ask for by name does not go out from this IPv6 address, because the service looks names up in IPv4 only",
            "write `-6` (IPv6 only), `-64` (IPv6 first) or `-46` (IPv4 first) in the service's line",
        ),
        (false, _) => (
            "no connection goes out from this IPv4 address, because the service uses IPv6 only",
            "write an IPv6 address, or `-64` (IPv6 first) or `-46` (IPv4 first) in place of `-6`",
        ),
    };
    let finding = RULE.finding(at, message).label("not used").help(help);
    if service.at.contains(at) { finding } else { finding.also(service.at, "by this service") }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    /// What 3proxy was seen to connect from, for a target of each family and a name that has both.
    #[test]
    fn an_address_that_some_connection_goes_out_from_is_right() {
        for lines in [
            "proxy -6 -e2001:db8::1",
            "proxy -64 -e2001:db8::1",
            "proxy -46 -e2001:db8::1",
            "proxy -46 -e192.0.2.2 -e2001:db8::1",
            "proxy -e192.0.2.2",
            "proxy -6 -e2001:db8::1 -e0.0.0.0",
            "socks -e192.0.2.2 -e2001:db8::1",
            "socks -6 -e2001:db8::1",
            "external 2001:db8::1\nproxy\nproxy -p3129 -6",
            "allow *\nparent 1000 http 2001:db8::9 3128\nproxy -e2001:db8::1",
            "allow *\nparent 1000 http proxy.example 3128\nproxy -e2001:db8::1",
            "allow *\nparent 1000 http 192.0.2.9 3128\nproxy -6 -e192.0.2.2",
            "dnspr -e2001:db8::1",
            "admin -e2001:db8::1",
        ] {
            check("external-address-of-unused-family", &format!("{lines}\n"));
        }
    }

    #[test]
    fn every_other_is_found_once() {
        check(
            "external-address-of-unused-family",
            r"
proxy -e192.0.2.2 -e2001:db8::1
#                 ^ no connection goes out from this IPv6 address
proxy -4 -p3129 -e2001:db8::1
#               ^ IPv4 only
proxy -6 -p3130 -e192.0.2.2
#               ^ no connection goes out from this IPv4 address
socks -e2001:db8::1
#     ^ what clients ask for by name
socks -6 -p1081 -e192.0.2.2
#               ^ IPv6 only
tcppm -e2001:db8::1 25 mail.example 25
#     ^ IPv4 only
external 2001:db8::2
#        ^ IPv4 only
tlspr
ftppr
",
        );
        let parent = "allow *\nparent 1000 http 192.0.2.9 3128\nproxy -e2001:db8::1\nflush\nallow *\nproxy -p3129 -e2001:db8::1\n";
        assert_eq!(findings("external-address-of-unused-family", parent).len(), 2);
    }
}
