//! Services: which are the same, what of them differs, and which of their lists are to be compared.
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{
    Changes, Class, ListChange, ServiceChange,
    align::{ContentId, Numbers},
    settings,
    verdicts::Comparison,
};
use crate::{
    analysis::requests::{askable::Askable, cell::Work},
    policy::Policy,
    program::{
        Program,
        acl::AclRef,
        service::{ListenAddress, Service, ServiceKind},
    },
    table::{Decision, Verdict},
};

/// How much work is put into all lists together.
const WORK: u64 = 400_000_000;

/// Which services are the same: indexes into both. The others are noted as opened or closed.
pub(super) fn pair(old: &Program, new: &Program, changes: &mut Changes) -> Vec<(usize, usize)> {
    type Key<'a> = (ServiceKind, &'a ListenAddress, u16);
    fn key(service: &Arc<Service>) -> Key<'_> {
        (service.kind, &service.listen.address.value, service.listen.port.value)
    }
    // Those that share a place are told apart by their order.
    let mut places: HashMap<Key<'_>, Vec<usize>> = HashMap::new();
    for (at, service) in new.services.iter().enumerate().rev() {
        places.entry(key(service)).or_default().push(at);
    }
    let mut pairs = Vec::new();
    for (at, service) in old.services.iter().enumerate() {
        match places.get_mut(&key(service)).and_then(Vec::pop) {
            Some(partner) => pairs.push((at, partner)),
            None => changes.closed.push(at),
        }
    }
    changes.opened = places.into_values().flatten().collect();
    changes.opened.sort_unstable();
    pairs
}

/// The pairs whose settings differ.
pub(super) fn changed(old: &Program, new: &Program, pairs: &[(usize, usize)]) -> Vec<ServiceChange> {
    let changed = pairs.iter().filter_map(|(old_at, new_at)| {
        let (one, other) = (old.services.get(*old_at)?, new.services.get(*new_at)?);
        let settings = settings::service(one, other);
        (!settings.is_empty()).then_some(ServiceChange { old: *old_at, new: *new_at, settings })
    });
    changed.collect()
}

/// Two lists that are not equal, as some services copied them.
struct Differing {
    old: Option<AclRef>,
    new: Option<AclRef>,
    services: Vec<(usize, usize)>,
}

/// Finds the requests that the pairs' lists decide differently, each pair of lists being looked at once.
pub(super) fn lists(old: &Program, new: &Program, pairs: &[(usize, usize)], changes: &mut Changes) {
    let mut numbers = Numbers::new([old, new]);
    let differing = differing(old, new, pairs, &mut numbers);
    if differing.is_empty() {
        return;
    }
    let users = old.users.iter().chain(&new.users);
    let defined: Vec<&[u8]> = users.map(|user| user.name.as_bytes()).collect();
    let mut work = Work(WORK);
    for ((_, _, asked), Differing { old: old_list, new: new_list, services }) in &differing {
        if !work.spend(1) {
            changes.uncompared.extend(services);
            continue;
        }
        let mut change = ListChange {
            services: services.clone(),
            operations: asked.operations.clone(),
            ..ListChange::default()
        };
        let lists = ((&old.acls, *old_list), (&new.acls, *new_list));
        Comparison::new(lists, asked, &defined, &mut numbers).run(&mut change, &mut work);
        change.classes.sort_by_key(severity);
        if !change.is_empty() {
            changes.lists.push(change);
        }
    }
    changes.uncompared.sort_unstable();
}

fn differing<'a>(
    old: &'a Program,
    new: &'a Program,
    pairs: &[(usize, usize)],
    numbers: &mut Numbers<'a>,
) -> BTreeMap<(ContentId, ContentId, Askable), Differing> {
    let (old_lists, new_lists) = (numbers.lists(&old.acls), numbers.lists(&new.acls));
    let mut differing: BTreeMap<_, Differing> = BTreeMap::new();
    for (old_at, new_at) in pairs {
        let services = old.services.get(*old_at).zip(new.services.get(*new_at));
        let Some((one, other)) = services else { continue };
        let (old_list, new_list) = (one.asked_list(), other.asked_list());
        let content = (
            numbers.content(&old_lists, &old.acls, old_list),
            numbers.content(&new_lists, &new.acls, new_list),
        );
        if content.0 == content.1 {
            continue;
        }
        let key = (content.0, content.1, Askable::of([(old, &**one), (new, &**other)]));
        let first = || Differing { old: old_list, new: new_list, services: Vec::new() };
        differing.entry(key).or_insert_with(first).services.push((*old_at, *new_at));
    }
    differing
}

/// Drops classes whose witness the policies do not confirm (where weights were not followed), and joins lists that differ alike.
pub(super) fn confirm_and_join(old: &Arc<Program>, new: &Arc<Program>, lists: &mut Vec<ListChange>) {
    if lists.is_empty() {
        return;
    }
    let policies = (Policy::compile(old), Policy::compile(new));
    let mut settled: Vec<ListChange> = Vec::new();
    for mut change in lists.drain(..) {
        change.classes.retain(|class| holds(class, &change.services, (&policies.0, &policies.1)));
        if change.is_empty() {
            continue;
        }
        let alike = |other: &&mut ListChange| {
            let own = (change.more, change.undecided, change.weights, &change.operations, &change.classes);
            own == (other.more, other.undecided, other.weights, &other.operations, &other.classes)
        };
        match settled.iter_mut().find(alike) {
            Some(other) => other.services.append(&mut change.services),
            None => settled.push(change),
        }
    }
    for change in &mut settled {
        change.services.sort_unstable();
    }
    settled.sort_by(|one, other| one.services.cmp(&other.services));
    *lists = settled;
}

/// Whether both policies say of the witness what the class says. They do not only where weights were not followed.
fn holds(class: &Class, services: &[(usize, usize)], (old, new): (&Policy, &Policy)) -> bool {
    let Some((old_at, new_at)) = services.first() else { return false };
    let says = |policy: &Policy, at: usize, (entry, decision)| {
        let service = policy.program().services.get(at);
        let verdict = if service.is_some_and(|service| service.asked_list().is_some()) {
            policy.decide(at, &class.witness.request())
        } else {
            Verdict { entry: None, decision: Decision::Allow }
        };
        verdict == Verdict { entry, decision }
    };
    says(old, *old_at, class.old) && says(new, *new_at, class.new)
}

/// What is let through now comes first, then what goes another way, then what is refused now, then what is refused otherwise.
fn severity(class: &Class) -> u8 {
    match (class.old.1.passes(), class.new.1.passes()) {
        (false, true) => 0,
        (true, true) => 1,
        (true, false) => 2,
        (false, false) => 3,
    }
}
