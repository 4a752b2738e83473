//! What is said to be shadowed is: no request of small universes is decided by it.
use std::{collections::BTreeSet, path::Path};

use proptest::prelude::*;

use super::{Shadowed, find};
use crate::{
    analysis::{
        lists,
        requests::testing::{line, universe},
    },
    compile,
    policy::Policy,
    program::acl::Operation,
    sources::MemoryFiles,
    table::{Request, Subject, oracle},
};

fn shadowed(text: &str) -> (Policy, Vec<Shadowed>) {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    let policy = Policy::compile(&compile(Path::new("3proxy.cfg"), &files).program);
    let found = find(policy.program(), &lists::asked(policy.program()), || &policy);
    (policy, found)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_request_is_decided_by_an_entry_that_is_shadowed(
        lines in prop::collection::vec(line(), 2..8),
        again in any::<prop::sample::Index>(),
        universe in universe(),
    ) {
        // A line that comes twice is shadowed the second time, if nothing else is.
        let again = again.get(&lines).clone();
        let (policy, found) = shadowed(&format!("auth iponly useronly\n{}{again}socks -46 -p1080\n", lines.concat()));
        for one in &found {
            for shadow in &one.by {
                let request = shadow.witness.request();
                prop_assert_eq!(policy.decide(0, &request).entry, Some(shadow.entry));
                let own = policy.program().acls.ace(one.entry).unwrap();
                prop_assert!(oracle::matches(&own.matcher, &Subject::new(&request)));
            }
            // What an earlier walk left counts as well: of another authentication type, or under 3proxy of another request.
            let left: BTreeSet<i32> = policy.program().acls.aces.iter().map(|ace| ace.weight.max(0)).collect();
            universe.each(|request| {
                for weight in left.iter().copied().chain([0]) {
                    let request = Request { weight, ..request };
                    let other = policy.decide(0, &request).entry != Some(one.entry);
                    prop_assert!(other || one.but_bind && request.operation == Operation::Bind, "{:?}", request);
                }
                Ok(())
            })?;
        }
    }
}

#[test]
fn long_lists_are_asked_by_their_index() {
    let lines = (0..200).map(|number| format!("allow * 10.0.{number}.0/24\n"));
    let text = format!(
        "{}deny * 10.0.7.7\ndeny * 10.0.0.0/17\nallow * 10.0.1.0/24\nproxy\n",
        lines.collect::<String>()
    );
    let places: Vec<(u32, usize)> = shadowed(&text).1.iter().map(|one| (one.place, one.by.len())).collect();
    // The second `deny` is shadowed by more entries than are followed.
    assert_eq!(places, [(200, 1), (202, 1)]);
}

#[test]
fn entries_with_weights_shadow_while_none_is_heavier() {
    let places = |lines: &str| -> Vec<u32> {
        let text = format!("auth iponly\n{lines}\nproxy\n");
        shadowed(&text).1.iter().map(|one| one.place).collect()
    };
    assert_eq!(places("allow *\nweight 5\ndeny * 10.0.0.0/8"), [1]);
    assert_eq!(places("allow * 10.0.0.1\nweight 9\nallow *\nweight 9\ndeny * 10.0.0.0/8"), [2]);
    assert_eq!(places("allow * 10.0.0.1\nweight 9\nallow *\ndeny * 10.0.0.0/8"), [2]);
    assert_eq!(places("allow * 10.0.0.1\nweight 9\nallow *\nweight 5\ndeny * 10.0.0.0/8"), [0_u32; 0]);
    assert_eq!(places("allow *\nweight -1\ndeny * 10.0.0.0/8"), [0_u32; 0]);
}
