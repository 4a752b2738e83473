//! The clients' own network in the target column.
use std::{collections::HashSet, net::IpAddr};

use super::RULE;
use crate::{
    finding::Level,
    fix::{Edit, Fix, Safety},
    lints::{Lint, columns::columns},
    program::{
        acl::{Ace, AclRef, Action, Matcher},
        auth::AuthType,
        service::{ListenAddress, Service, ServiceKind},
    },
};

/// A longer list is no slip.
const LONGEST: u32 = 8;

/// Reports lists that let clients from anywhere reach nothing but the network that the service listens in: those who are in it
/// need no proxy to get there, so it was most likely meant as the source. Not certain, so the finding warns.
pub(super) fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut seen: HashSet<(AclRef, IpAddr)> = HashSet::new();
    for service in program.services.iter().filter(|service| is_forward(service) && is_open(service)) {
        let (Some(list), ListenAddress::Ip(address)) = (service.acl, &service.listen.address.value) else {
            continue;
        };
        if list.len > LONGEST || !seen.insert((list, *address)) {
            continue;
        }
        let mut allows =
            program.acls.entries(list).map(|(_, ace)| ace).filter(|ace| ace.action == Action::Allow);
        let Some(entry) = allows.next() else { continue };
        if only_target_is_around(entry, *address) && allows.next().is_none() {
            report(lint, entry, service);
        }
    }
}

/// Whether clients say where they want to go.
fn is_forward(service: &Service) -> bool {
    matches!(service.kind, ServiceKind::Proxy | ServiceKind::Socks | ServiceKind::Auto | ServiceKind::Tlspr)
}

/// Whether nobody is asked for a password.
fn is_open(service: &Service) -> bool {
    let asks = |kind| matches!(kind, AuthType::Strong | AuthType::Radius | AuthType::DnsName);
    !service.chain.value.iter().any(|step| asks(step.kind))
}

fn only_target_is_around(entry: &Ace, address: IpAddr) -> bool {
    let Some(targets) = &entry.matcher.targets else { return false };
    let others = Matcher { targets: None, ..entry.matcher.clone() };
    let private = match address {
        IpAddr::V4(address) => address.is_private(),
        IpAddr::V6(address) => address.is_unique_local(),
    };
    let around =
        matches!(&*targets.addresses, [range] if range.first != range.last && range.contains(address));
    private
        && around
        && targets.names.is_empty()
        && others == Matcher::default()
        && entry.parents.0 == entry.parents.1
}

fn report(lint: &mut Lint<'_>, entry: &Ace, service: &Service) {
    let columns = columns(lint.sources, entry.at);
    let (source, target) = (columns.get(1).copied(), columns.get(2).copied());
    let place = target.unwrap_or(entry.at);
    let network = String::from_utf8_lossy(lint.sources.text(place)).into_owned();
    let mut finding = RULE
        .finding(place, format!("clients from anywhere may reach `{network}`, and nothing else"))
        .label("this is the target column")
        .also(service.at, "this service listens inside that network")
        .note("The columns are: users, sources, targets, target ports, operations, weekdays, periods.")
        .help("if these are the clients, write the network in the source column: `allow * NETWORK`");
    finding.level = Level::Warn;
    if let (Some(source), Some(target)) = (source, target) {
        let edits = vec![Edit { at: source, text: network }, Edit { at: target, text: "*".to_owned() }];
        finding = finding.fix(Fix { title: "move it to the sources".into(), safety: Safety::Unsafe, edits });
    }
    lint.report(finding);
}
