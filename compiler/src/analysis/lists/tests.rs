//! Which entries are gone through, and how often.
use std::path::Path;

use super::Once;
use crate::sources::MemoryFiles;

#[test]
fn each_version_of_an_entry_is_asked_once() {
    let text = "allow a\nproxy\nproxy\nparent 1000 extip 192.0.2.1 0\nproxy\nallow b\nallow c\nsocks\nflush\nallow d\nproxy\n";
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    let compiled = crate::compile(Path::new("3proxy.cfg"), &files);
    let acls = &compiled.program.acls;
    let (mut once, mut skipping) = (Once::default(), Once::default());
    let lists: Vec<_> = compiled.program.services.iter().filter_map(|service| service.acl).collect();
    let name = |entry: &crate::program::acl::Ace| {
        let users = entry.matcher.users.as_ref().unwrap();
        (String::from_utf8(users.iter().next().unwrap().to_vec()).unwrap(), entry.redirects())
    };
    let asked: Vec<Vec<_>> =
        lists.iter().map(|list| once.fresh(acls, *list).map(|(_, entry)| name(entry)).collect()).collect();
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
    assert_eq!(asked, wanted);
    skipping.skip(lists[2]);
    assert_eq!(skipping.fresh(acls, lists[3]).count(), 2);
    skipping.skip(lists[3]);
    assert_eq!(skipping.fresh(acls, lists[2]).count(), 0);
    assert_eq!(skipping.fresh(acls, lists[4]).count(), 1);
}
