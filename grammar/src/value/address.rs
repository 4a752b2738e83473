//! Addresses, networks and ranges.
use std::net::IpAddr;

/// An inclusive range of addresses of one family: a single address, a network, or `FROM-TO`.
///
/// IPv4-mapped IPv6 is kept as written: whether it is taken for IPv4 is decided where it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AddressRange {
    /// First address.
    pub first: IpAddr,
    /// Last address; of the same family, not before the first.
    pub last: IpAddr,
}

impl AddressRange {
    /// Whether `address` lies in it; never for another family.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.first.is_ipv4() && self.first <= address && address <= self.last
    }
}
