//! Which entries tests reached: those at which a walk of an access list ended.
use std::collections::BTreeSet;

use super::Ran;
use crate::program::{Program, acl::AceId};

/// What tests reached of one service's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Index into [`Program::services`].
    pub service: usize,
    /// How many tests ask the service; those that leave out what decides reach nothing.
    pub tests: usize,
    /// How many entries its list has.
    pub entries: usize,
    /// How many of them tests reached.
    pub reached: usize,
    /// Those that no test reached, in order; not listed for a service that no test asks.
    pub unreached: Vec<AceId>,
}

impl Coverage {
    /// How much is reached, from 0 to 100; a list without entries is reached.
    #[must_use]
    pub fn percent(&self) -> f64 {
        percent(self.reached, self.entries)
    }
}

/// The part of `all` that `some` is, from 0 to 100.
#[must_use]
pub fn percent(some: usize, all: usize) -> f64 {
    if all == 0 { 100.0 } else { some as f64 * 100.0 / all as f64 }
}

/// What these tests reached, for each service.
#[must_use]
pub fn of<'a>(program: &Program, ran: impl IntoIterator<Item = &'a Ran<'a>>) -> Vec<Coverage> {
    let mut asked: Vec<(usize, BTreeSet<AceId>)> = vec![(0, BTreeSet::new()); program.services.len()];
    for test in ran {
        if let Some((tests, reached)) = asked.get_mut(test.query.service) {
            *tests += 1;
            if !test.answer.needs.is_empty() {
                continue;
            }
            reached.extend(test.answer.steps.iter().filter_map(|step| step.verdict?.entry));
        }
    }
    let of_service = |(service, (tests, reached)): (usize, (usize, BTreeSet<AceId>))| {
        let list = program.services.get(service).and_then(|service| service.acl);
        let entries = list.map_or(0, |list| list.len as usize);
        let listed = list.filter(|_| tests > 0).into_iter().flat_map(|list| program.acls.entries(list));
        let unreached = listed.map(|(id, _)| id).filter(|id| !reached.contains(id)).collect();
        Coverage { service, tests, entries, reached: reached.len(), unreached }
    };
    asked.into_iter().enumerate().map(of_service).collect()
}
