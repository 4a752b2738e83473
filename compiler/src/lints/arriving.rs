//! Which clients come to the address on which a service listens.
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::program::{
    acl::AddressRange,
    service::{ListenAddress, Service},
};

/// The clients of a service, by their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Clients {
    /// Any: it listens everywhere, or something else says who they are.
    Any,
    /// Those with a loopback address of the service's family.
    Loopback { v6: bool },
    /// Those with another one of its family.
    Others { v6: bool },
}

const LOOPBACK_V4: AddressRange = AddressRange {
    first: IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)),
    last: IpAddr::V4(Ipv4Addr::new(127, 255, 255, 255)),
};
const LOOPBACK_V6: AddressRange =
    AddressRange { first: IpAddr::V6(Ipv6Addr::LOCALHOST), last: IpAddr::V6(Ipv6Addr::LOCALHOST) };

impl Clients {
    pub(super) fn of(service: &Service) -> Self {
        let options = &service.options;
        // A balancer says who its client is, and the system may pass on what was meant for another address.
        let told_otherwise = options.proxy_protocol.is_some()
            || options.connect_back.is_some()
            || options.transparent.is_some()
            || options.listen_socket.is_some();
        match service.listen.address.value {
            _ if told_otherwise => Self::Any,
            ListenAddress::Ip(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => Self::Any,
            ListenAddress::Ip(address) if address.is_unspecified() => Self::Any,
            ListenAddress::Ip(address) if address.is_loopback() => Self::Loopback { v6: address.is_ipv6() },
            ListenAddress::Ip(address) => Self::Others { v6: address.is_ipv6() },
            ListenAddress::Unix(_) => Self::Any,
        }
    }

    /// Whether none of them is in one of the ranges, some of which are of their family: else that is what is wrong.
    pub(super) fn are_none_of(self, ranges: &[AddressRange]) -> bool {
        let (v6, is_loopback) = match self {
            Self::Any => return false,
            Self::Loopback { v6 } => (v6, true),
            Self::Others { v6 } => (v6, false),
        };
        let loopback = if v6 { LOOPBACK_V6 } else { LOOPBACK_V4 };
        let other = |range: &AddressRange| {
            if is_loopback {
                range.last < loopback.first || loopback.last < range.first
            } else {
                loopback.contains(range.first) && loopback.contains(range.last)
            }
        };
        let mut own = ranges.iter().filter(|range| range.first.is_ipv6() == v6).peekable();
        own.peek().is_some() && own.all(other)
    }

    /// What is said of such a service.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Loopback { .. } => {
                "listens on a loopback address, to which only programs of this machine connect, from such an address"
            }
            _ => "listens on this address alone, to which no client connects from a loopback address",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn only_clients_that_cannot_come_are_none() {
        for (listens, sources, is_closed) in [
            ("-i127.0.0.1", "203.0.113.0/24", true),
            ("-i127.0.0.2", "10.0.0.0/8,192.168.0.0/16", true),
            ("-i127.0.0.1", "10.0.0.0/8,127.0.0.1", false),
            ("-i127.0.0.1", "0.0.0.0/0", false),
            ("-i127.0.0.1", "126.0.0.0-127.0.0.1", false),
            ("-i127.0.0.1 -H", "203.0.113.0/24", false),
            ("-i127.0.0.1 -olIP_TRANSPARENT", "203.0.113.0/24", false),
            ("-i127.0.0.1", "::1", false),
            ("-i::1 -6", "2001:db8::/32", true),
            ("-i::1 -6", "::1", false),
            ("-i203.0.113.1", "127.0.0.1", true),
            ("-i203.0.113.1", "127.0.0.0/8,203.0.113.1", false),
            ("-i2001:db8::1 -6", "::1", true),
            ("-i0.0.0.0", "127.0.0.1", false),
            ("", "127.0.0.1", false),
            ("-iunix:/run/proxy", "203.0.113.0/24", false),
        ] {
            let found = findings(
                "service-admits-nobody",
                &format!("auth iponly\nallow * {sources}\nproxy {listens}\n"),
            );
            assert_eq!(found.len(), usize::from(is_closed), "{listens} {sources}: {found:#?}");
        }
    }
}
