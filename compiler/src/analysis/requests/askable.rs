//! What the clients of services can ask for.
use std::net::IpAddr;

use grammar::Text;

use crate::{
    analysis::witness,
    program::{
        Program,
        acl::Operation,
        auth::AuthType,
        service::{Family, Service, ServiceKind},
    },
};

/// What the clients of some services can ask for: of one service in two versions, or of those that share a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Askable {
    pub(crate) operations: Vec<Operation>,
    /// Targets of a port mapper: name in the form in which it is compared, address, port.
    pub(crate) fixed: Vec<(Text, Option<IpAddr>, u16)>,
    /// Targets have IPv4 addresses.
    pub(crate) v4: bool,
    /// Targets have IPv6 addresses.
    pub(crate) v6: bool,
    /// The service never knows its target.
    pub(crate) no_target: bool,
    /// It is asked for names (`dnspr`), and the list is told them when it has let the rest pass.
    pub(crate) by_name: bool,
    /// A list may be walked for a client that gave no name.
    pub(crate) nobody: bool,
    /// The names of clients.
    pub(crate) names: ClientNames,
}

/// Under which names clients can come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClientNames {
    /// None.
    #[default]
    Hidden,
    /// Any.
    Any,
    /// Of users who have a password in either version.
    Defined,
}

impl Askable {
    /// Everything that a client can ask of some service.
    pub(crate) fn everything() -> Self {
        let all = Operation::ALL.into_iter().filter(|one| *one != Operation::IcmpAssociate);
        Self {
            operations: all.collect(),
            v4: true,
            v6: true,
            nobody: true,
            names: ClientNames::Any,
            ..Self::default()
        }
    }

    /// What can be asked of any of these services.
    pub(crate) fn of<'a>(services: impl IntoIterator<Item = (&'a Program, &'a Service)>) -> Self {
        let mut asked = Self { no_target: true, ..Self::default() };
        let (mut checked, mut named, mut fixed) = (true, false, true);
        for (program, service) in services {
            for operation in service.kind.operations() {
                if !asked.operations.contains(operation) {
                    asked.operations.push(*operation);
                }
            }
            asked.by_name |= service.kind == ServiceKind::Dnspr;
            asked.no_target &= !service.kind.has_target();
            let family = service.family();
            asked.v4 |= family != Family::V6;
            asked.v6 |= !matches!(family, Family::Default | Family::V4);
            match fixed_target(service).filter(|_| fixed) {
                Some(target) if !asked.fixed.contains(&target) => asked.fixed.push(target),
                Some(_) => {}
                // One that goes anywhere has all other targets, too.
                None => {
                    fixed = false;
                    asked.fixed.clear();
                }
            }
            for step in service.chain.value.iter().map(|step| step.kind) {
                asked.nobody |= step == AuthType::IpOnly;
                named |= step.is_real() && step != AuthType::IpOnly;
                checked &= !step.is_real() || matches!(step, AuthType::IpOnly | AuthType::Strong);
            }
            // Without any `users` the file may be a part of one.
            checked &= !program.users.is_empty();
        }
        asked.names = match (named, checked) {
            (false, _) => ClientNames::Hidden,
            (true, false) => ClientNames::Any,
            (true, true) => ClientNames::Defined,
        };
        asked
    }
}

/// A port mapper's target, as it is compared.
fn fixed_target(service: &Service) -> Option<(Text, Option<IpAddr>, u16)> {
    let (target, port) = witness::Target::fixed(service)?;
    let host = target.host.unwrap_or_default().to_ascii_lowercase();
    let host = host.strip_suffix(b".").unwrap_or(&host);
    let literal = std::str::from_utf8(host).ok().and_then(|host| host.parse().ok());
    Some((host.into(), literal, port))
}
