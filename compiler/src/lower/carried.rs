//! IPv4 targets in IPv6 form: `::ffff:192.0.2.7` among the targets of an entry.
//!
//! A target that is asked for in this form is the IPv4 address for cfgc, so such a range has nothing to match, but for a SOCKS
//! service with `-6`: there 3proxy has every IPv4 target in this form. So for its lists the range stands for the IPv4 one, too.
use std::collections::{BTreeSet, HashSet};

use super::Lowering;
use crate::{
    program::{
        acl::{Ace, AceId, AddressRange},
        service::Family,
    },
    table::oracle::canonical,
};

impl Lowering<'_> {
    /// Adds the IPv4 ranges where they count.
    pub(super) fn finish_carried_targets(&mut self) {
        let carries = self.program.services.iter().filter(|service| {
            service.kind.speaks_socks() && service.family() == Family::V6 && service.acl.is_some()
        });
        let copies: Vec<_> = carries.filter_map(|service| service.acl).collect();
        let lists: BTreeSet<_> = copies.iter().map(|acl| acl.list.0).collect();
        let acls = &mut self.program.acls;
        let listed = lists.into_iter().filter_map(|list| acls.lists.get(list as usize)).flatten().copied();
        // An entry that got a parent behind the service stands in the list with it.
        let entries: BTreeSet<AceId> = listed.chain(copies.iter().map(|acl| acl.last)).collect();
        for id in entries {
            if let Some(ace) = acls.aces.get_mut(id.0 as usize) {
                add_ipv4_ranges(ace);
            }
        }
    }
}

fn add_ipv4_ranges(ace: &mut Ace) {
    let Some(targets) = &mut ace.matcher.targets else { return };
    let written = &targets.addresses;
    let ipv4 = |range: &AddressRange| Some(canonical(*range)).filter(|ipv4| ipv4 != range);
    let mut added: Vec<AddressRange> = written.iter().filter_map(ipv4).collect();
    if added.is_empty() {
        return;
    }
    let mut known: HashSet<AddressRange> = written.iter().copied().collect();
    added.retain(|range| known.insert(*range));
    targets.addresses = written.iter().copied().chain(added).collect();
}
