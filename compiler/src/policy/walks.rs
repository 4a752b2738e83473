//! Which entries services walk, each once, and whether a request gets as far as one.
use std::collections::{HashMap, HashSet};

use super::{
    Policy,
    witness::{Space, Witness},
};
use crate::program::{
    acl::{Ace, AceId, AclRef, Acls, ListId},
    auth::AuthType,
};

/// So many requests are tried to reach an entry.
const TRIED: usize = 64;

/// Entries that were walked already: of lists that grow from service to service only what is new is gone through.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    /// So many entries of each list.
    searched: HashMap<ListId, u32>,
    /// Last entries, as services copied them.
    last: HashSet<AceId>,
}

impl Walks {
    /// The entries of a list as a service copied it that were not walked before, in order.
    pub(crate) fn fresh<'a>(
        &mut self,
        acls: &'a Acls,
        acl: AclRef,
    ) -> impl Iterator<Item = (AceId, &'a Ace)> + use<'a> {
        let list = acls.lists.get(acl.list.0 as usize).map_or(&[][..], Vec::as_slice);
        let before = acl.len.saturating_sub(1);
        let from = self.searched.entry(acl.list).or_default();
        let new = list.get(*from as usize..before as usize).unwrap_or_default();
        let known = before < *from && list.get(before as usize) == Some(&acl.last);
        *from = before.max(*from);
        let mut ids: Vec<AceId> = new.iter().copied().filter(|id| !self.last.contains(id)).collect();
        if self.last.insert(acl.last) && !known {
            ids.push(acl.last);
        }
        ids.into_iter().filter_map(|id| Some((id, acls.ace(id)?)))
    }

    /// Takes a list for walked.
    pub(crate) fn skip(&mut self, acl: AclRef) {
        let from = self.searched.entry(acl.list).or_default();
        *from = acl.len.saturating_sub(1).max(*from);
        self.last.insert(acl.last);
    }
}

/// A request that an entry decides at a service, when `step` of its chain walks the list.
pub(crate) fn decided_by(policy: &Policy, service: usize, step: AuthType, id: AceId) -> Option<Witness> {
    let program = policy.program();
    let (ace, at) = (program.acls.ace(id)?, program.services.get(service)?);
    let space = Space::accepted(&ace.matcher, at, step, policy);
    space.requests(TRIED).find(|witness| policy.decide(service, &witness.request()).entry == Some(id))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Walks;
    use crate::sources::MemoryFiles;

    #[test]
    fn each_version_of_an_entry_is_walked_once() {
        let text = "allow a\nproxy\nproxy\nparent 1000 extip 192.0.2.1 0\nproxy\nallow b\nallow c\nsocks\nflush\nallow d\nproxy\n";
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", text);
        let compiled = crate::compile(Path::new("3proxy.cfg"), &files);
        let acls = &compiled.program.acls;
        let (mut walks, mut skipping) = (Walks::default(), Walks::default());
        let lists: Vec<_> = compiled.program.services.iter().filter_map(|service| service.acl).collect();
        let name = |entry: &crate::program::acl::Ace| {
            let users = entry.matcher.users.as_ref().unwrap();
            (String::from_utf8(users.iter().next().unwrap().to_vec()).unwrap(), entry.redirects())
        };
        let walked: Vec<Vec<_>> = lists
            .iter()
            .map(|list| walks.fresh(acls, *list).map(|(_, entry)| name(entry)).collect())
            .collect();
        let of = |names: &[(&str, bool)]| {
            names.iter().map(|(name, redirects)| ((*name).to_owned(), *redirects)).collect::<Vec<_>>()
        };
        let wanted = [
            of(&[("a", false)]),
            of(&[]),
            of(&[("a", true)]),
            of(&[("b", false), ("c", false)]),
            of(&[("d", false)]),
        ];
        assert_eq!(walked, wanted);
        skipping.skip(lists[2]);
        assert_eq!(skipping.fresh(acls, lists[3]).count(), 2);
        skipping.skip(lists[3]);
        assert_eq!(skipping.fresh(acls, lists[2]).count(), 0);
        assert_eq!(skipping.fresh(acls, lists[4]).count(), 1);
    }
}
