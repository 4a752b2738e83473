//! Addresses, networks and ranges: which entries have one that an address lies in.
use std::net::IpAddr;

use super::intervals::{Intervals, Lists};
use crate::program::acl::AddressRange;

/// Address ranges and the entries that have them.
#[derive(Debug)]
pub(super) struct Networks {
    v4: Intervals<u32>,
    v6: Intervals<u128>,
}

impl Networks {
    /// Of ranges, with the entries ascending.
    pub(super) fn new(ranges: impl Iterator<Item = (AddressRange, u32)>) -> Self {
        let mut v4 = Vec::new();
        let mut v6 = Vec::new();
        for (range, entry) in ranges {
            match range {
                AddressRange { first: IpAddr::V4(first), last: IpAddr::V4(last) } => {
                    v4.push((first.to_bits(), last.to_bits(), entry));
                }
                AddressRange { first: IpAddr::V6(first), last: IpAddr::V6(last) } => {
                    v6.push((first.to_bits(), last.to_bits(), entry));
                }
                // Of two families: holds nothing.
                AddressRange { .. } => {}
            }
        }
        Self { v4: Intervals::new(&v4), v6: Intervals::new(&v6) }
    }

    /// Adds the lists of the entries that have a range with `address` in it.
    pub(super) fn find<'a>(&'a self, address: IpAddr, lists: &mut Lists<'a>) {
        match address {
            IpAddr::V4(address) => self.v4.find(address.to_bits(), lists),
            IpAddr::V6(address) => self.v6.find(address.to_bits(), lists),
        }
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.v4.bytes() + self.v6.bytes()
    }
}
