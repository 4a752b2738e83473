//! Who can connect to a service.
use std::net::{IpAddr, Ipv4Addr};

use crate::program::service::{ListenAddress, Service, ServiceKind};

/// Who can connect to a service that does not listen on this machine only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Anyone.
    World,
    /// Those in a private network, and whoever is forwarded to it.
    Network,
}

/// Who can reach a service that forwards to targets of the client's choice; `None`: nobody, or it does not.
pub(super) fn reach(service: &Service) -> Option<Reach> {
    let options = &service.options;
    let forwards = match service.kind {
        ServiceKind::Proxy
        | ServiceKind::Socks
        | ServiceKind::Auto
        | ServiceKind::Tlspr
        | ServiceKind::Ftppr => true,
        _ => is_mail(service.kind) && options.default_host.is_none(),
    };
    let certified = service.tls.serve.is_some()
        && (options.require_certificate.is_some() || service.tls.server.verify.is_some());
    if !forwards || certified || options.connect_back.is_some() {
        return None;
    }
    beyond_this_machine(service)
}

/// Who can connect to a service; `None`: this machine only.
pub(super) fn beyond_this_machine(service: &Service) -> Option<Reach> {
    match &service.listen.address.value {
        ListenAddress::Unix(_) => None,
        ListenAddress::Ip(address) => match address.to_canonical() {
            address if address.is_loopback() => None,
            IpAddr::V4(address) if address.is_private() || address.is_link_local() || is_shared(address) => {
                Some(Reach::Network)
            }
            IpAddr::V6(address) if address.is_unique_local() || address.is_unicast_link_local() => {
                Some(Reach::Network)
            }
            _ => Some(Reach::World),
        },
    }
}

pub(super) const fn is_mail(kind: ServiceKind) -> bool {
    matches!(kind, ServiceKind::Pop3p | ServiceKind::Imapp | ServiceKind::Smtpp)
}

/// 100.64.0.0/10, behind a carrier's translation.
const fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0xc0 == 64
}
