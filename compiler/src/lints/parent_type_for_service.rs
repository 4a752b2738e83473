//! `parent-type-for-service`
use std::collections::{BTreeSet, HashSet};

use super::{
    columns,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        decided,
        lists::{self, Entry},
        witness::Witness,
    },
    finding::{Finding, Level},
    fix::{Fix, Safety},
    program::{
        Program,
        acl::{Ace, Operation, Parent, ParentKind},
        service::{Service, ServiceKind},
    },
    sources::{Loc, Sources},
    way,
};

rule! {
    /// A parent's type does not suit what this kind of service carries.
    ///
    /// `http` sends whole HTTP requests to the parent, as the `proxy` service has them. Other services carry bytes: there `http` acts as
    /// `tcp`, and the parent, an HTTP proxy, gets what was meant for the target. `connect` opens a tunnel to the target first.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 http 192.0.2.10 3128
    /// socks
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect 192.0.2.10 3128
    /// socks
    /// ```
    ///
    /// UDP goes through parents of type `socks5` only:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * * UDPASSOC
    /// parent 1000 connect 192.0.2.10 3128
    /// socks
    /// ```
    ///
    /// Queries through `dnspr` and requests to `admin` have no target, so there is no way through a parent: 3proxy refuses them.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// dnspr
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * * UDPASSOC
    /// parent 1000 socks5 192.0.2.10 1080
    /// allow * 10.0.0.0/8
    /// parent 1000 connect 192.0.2.10 3128
    /// socks
    /// ```
    "parent-type-for-service",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// At most this many requests are tried for each entry.
const TRIED: usize = 64;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let suspect = |parent: &Parent| way::is_hop(parent) && !carries_udp(parent.kind);
    let has_no_target = program.services.iter().any(|service| !service.kind.has_target());
    if program.acls.parents.is_empty() || !has_no_target && !program.acls.parents.iter().any(suspect) {
        return;
    }
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    let entries =
        lists::entries(program, |service| (service.kind != ServiceKind::Proxy).then_some(service.kind));
    for Entry { at, service, id, ace } in entries.filter(|entry| entry.ace.redirects()) {
        let hops = program.acls.parents(ace).iter().filter(|parent| way::is_hop(parent));
        let asks = |operation| {
            let of = |witness: Witness| (witness.operation == operation).then_some(witness);
            decided::by_any_as(lint.policy(), at, id, TRIED, of)
        };
        let without_target = || {
            let of = |witness: Witness| (!witness.operation.has_target()).then_some(witness);
            let witness = decided::by_any_as(lint.policy(), at, id, TRIED, of)?;
            let parent = program.acls.parents(ace).first()?;
            Some((parent, no_way_without_target(parent, service, &witness)))
        };
        let http = hops.clone().find(|parent| parent.kind == ParentKind::Http);
        let no_udp = unfit_for_udp(ace, service, hops);
        let bytes = || {
            let parent = http?;
            Some((parent, bytes_to_http(lint.sources, parent, &asks(Operation::Connect)?)))
        };
        let found = if service.kind.has_target() { bytes() } else { without_target() };
        let found = found.or_else(|| {
            no_udp.and_then(|parent| Some((parent, no_way_for_udp(parent, &asks(Operation::UdpAssociate)?))))
        });
        if let Some((parent, finding)) = found.filter(|(parent, _)| told.insert(parent.at)) {
            let finding =
                finding.also(service.at, "in this service").also(ace.at, "for what this entry matches");
            findings.push((parent.at, finding));
        }
    }
    keep_for_proxies(program, &mut findings);
    for (_, finding) in findings {
        lint.report(finding);
    }
}

/// A parent that a `proxy` uses as well is right for it: through `connect` it would ask for tunnels to where parents let none.
fn keep_for_proxies(program: &Program, findings: &mut [(Loc, Finding)]) {
    if findings.iter().all(|(_, finding)| finding.fix.is_none()) {
        return;
    }
    let proxies = |service: &Service| (service.kind == ServiceKind::Proxy).then_some(());
    let aces = lists::entries(program, proxies).map(|entry| entry.ace);
    let used: HashSet<Loc> = aces.flat_map(|ace| program.acls.parents(ace)).map(|parent| parent.at).collect();
    for (_, finding) in findings.iter_mut().filter(|(at, finding)| finding.fix.is_some() && used.contains(at))
    {
        finding.fix = None;
        finding.help =
            Some("begin a list of its own for this service, with a parent of type `connect`".into());
    }
}

const fn carries_udp(kind: ParentKind) -> bool {
    matches!(kind, ParentKind::Socks5 | ParentKind::Socks5Name)
}

/// A parent that can't carry the datagrams that an entry is certainly meant for.
fn unfit_for_udp<'a>(
    ace: &Ace,
    service: &Service,
    mut hops: impl Iterator<Item = &'a Parent>,
) -> Option<&'a Parent> {
    let named = ace.matcher.operations.is_some_and(|operations| operations.has(Operation::UdpAssociate));
    let udp = service.kind == ServiceKind::Udppm || named;
    hops.find(|parent| udp && !carries_udp(parent.kind))
}

fn bytes_to_http(sources: &Sources, parent: &Parent, witness: &Witness) -> Finding {
    RULE.finding(parent.at, "a parent of type `http` acts as `tcp` here: no proxy is asked to connect")
        .label("gets the data that is meant for the target")
        .note(format!(
            "For example, {witness}: what the client sends then goes to `{}` as it is.",
            parent.host
        ))
        .help("write `connect`, which asks the parent for a tunnel to the target")
        .fix(connect(sources, parent.at))
}

fn no_way_without_target(parent: &Parent, service: &Service, witness: &Witness) -> Finding {
    let kind = service.kind.name();
    let mut finding = RULE
        .finding(
            parent.at,
            format!("requests to `{kind}` have no target, so that none can go through a parent"),
        )
        .label("makes 3proxy refuse what the entry allows")
        .note(format!("For example, {witness} is refused."))
        .help("write `flush` above the service, and an entry without a parent");
    finding.level = Level::Deny;
    finding
}

fn no_way_for_udp(parent: &Parent, witness: &Witness) -> Finding {
    RULE.finding(parent.at, format!("UDP can't go through a parent of type `{}`", parent.kind.name()))
        .label("carries no UDP")
        .note(format!("For example, {witness} fails."))
        .help("use a parent of type `socks5`, or leave UDP to an entry without a parent")
}

/// Writes `connect` as the type.
fn connect(sources: &Sources, line: Loc) -> Option<Fix> {
    let at = columns::parent_type_at(sources, line)?;
    (sources.text(at) == b"http").then(|| Fix::replace("write `connect`", Safety::Unsafe, at, "connect"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn what_a_service_does_not_send_there_is_no_matter() {
        for text in [
            "allow *\nparent 1000 http 192.0.2.1 3128\nproxy\n",
            "allow * * * * HTTP,HTTPS\nparent 1000 http 192.0.2.1 3128\nallow *\nsocks\nauto\nproxy\n",
            "allow * * * 80\nparent 1000 http 0.0.0.0 0\nallow *\nsocks\n",
            "allow *\nparent 1000 connect 192.0.2.1 3128\nsocks\n",
            "allow *\nparent 1000 socks5+ 192.0.2.1 1080\nudppm 53 192.0.2.9 53\n",
            "auth none\nallow *\nparent 1000 socks5 192.0.2.1 1080\nsocks\n",
        ] {
            check("parent-type-for-service", text);
        }
    }

    #[test]
    fn a_parent_that_a_proxy_uses_too_stays_as_it_is() {
        for (services, fixed) in
            [("proxy\nsocks", false), ("socks\nproxy", false), ("socks\nflush\nproxy", true)]
        {
            let text = format!("auth iponly\nallow *\nparent 1000 http 192.0.2.1 3128\n{services}\n");
            let found = findings("parent-type-for-service", &text);
            let [finding] = found.as_slice() else { panic!("{services}: {found:#?}") };
            assert_eq!(finding.fix.is_some(), fixed, "{services}");
        }
    }

    #[test]
    fn each_kind_of_service_is_asked() {
        check(
            "parent-type-for-service",
            r"
allow *
parent 1000 http 192.0.2.1 3128
#^ acts as `tcp`
proxy
auto
socks
flush
allow *
parent 1000 socks4 192.0.2.1 1080
#^ UDP can't go
udppm 53 192.0.2.9 53
",
        );
    }
}
