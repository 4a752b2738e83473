//! The source address that was drawn.
use std::net::{IpAddr, Ipv6Addr};

use compiler::program::acl::ParentHost;

use crate::random;

/// The address that an `extip` stands for: zeros are the client's own, and below a prefix the bits are random.
pub(super) fn external(host: &ParentHost, client: IpAddr) -> IpAddr {
    match host {
        ParentHost::Address(address) | ParentHost::Prefix(address, _) if address.is_unspecified() => client,
        ParentHost::Prefix(IpAddr::V6(address), length) => {
            let random = (0..4).fold(0_u128, |bits, _| bits << 32 | u128::from(random::below(u32::MAX)));
            let host_bits = u128::MAX.checked_shr(u32::from(*length)).unwrap_or(0);
            Ipv6Addr::from_bits(address.to_bits() | random & host_bits).into()
        }
        ParentHost::Address(address) | ParentHost::Prefix(address, _) => *address,
        // An `extip` is an address, says lowering; a name would be an address that can't be bound.
        ParentHost::Name(_) | ParentHost::Unix(_) => Ipv6Addr::from_bits(u128::MAX).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_address_of_zeros_is_the_client_s_and_bits_below_a_prefix_are_random() {
        let client = IpAddr::from([127, 0, 0, 9]);
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        for (host, expected) in [
            (ParentHost::Address(ip("127.0.0.7")), ip("127.0.0.7")),
            (ParentHost::Address(ip("0.0.0.0")), client),
            (ParentHost::Prefix(ip("2001:db8::7"), 128), ip("2001:db8::7")),
        ] {
            assert_eq!(external(&host, client), expected);
        }
        let drawn = |_| external(&ParentHost::Prefix(ip("2001:db8:1::"), 48), client);
        let drawn: std::collections::HashSet<_> = (0..100).map(drawn).collect();
        assert!(drawn.len() > 90, "80 random bits: {drawn:?}");
        assert!(drawn.iter().all(|address| address.to_string().starts_with("2001:db8:1:")));
    }
}
