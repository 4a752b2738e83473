//! The Policy: what decides requests, compiled once per load, and immutable.
//!
//! It holds the [`Program`] that it was compiled from, so that a verdict's entry can be looked up, and named by its line.
use std::{collections::HashMap, fmt, sync::Arc};

use grammar::Text;

use crate::{
    program::{
        Program,
        acl::{Ace, AclRef, Acls, ListId, Parent},
        auth::Password,
    },
    table::{
        Fields, Preauthorization, Request, Table, Verdict,
        index::Index,
        list::{self, Copied, ListTable},
    },
};

mod limits;
#[cfg(test)]
mod tests;

pub use limits::LimitList;
use limits::LimitTables;

/// What decides requests.
pub struct Policy {
    program: Arc<Program>,
    /// By [`ListId`].
    tables: Box<[Arc<ListTable>]>,
    limits: LimitTables,
    /// Of users with one name, the last.
    users: HashMap<Text, u32>,
}

/// What a table takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSize {
    /// The lists that share it.
    pub lists: Vec<ListId>,
    /// How many entries it has.
    pub entries: usize,
    /// Bytes on the heap, about.
    pub bytes: usize,
    /// Those of its indexes, by field. None: the list is so short that it is walked.
    pub indexes: Vec<(&'static str, usize)>,
}

/// What is asked on behalf of a service.
enum ServiceList {
    List(AclRef),
    /// A list without entries, which lets everything pass.
    Empty,
    NoService,
}

impl Policy {
    /// Compiles a Program.
    #[must_use]
    pub fn compile(program: &Arc<Program>) -> Self {
        let users = program.users.iter().zip(0..).map(|(user, at)| (user.name.clone(), at)).collect();
        Self {
            tables: compile_lists(&program.acls),
            limits: LimitTables::new(&program.limits),
            users,
            program: Arc::clone(program),
        }
    }

    /// What it was compiled from.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What the access list of the service at this index of [`Program::services`] says of `request`.
    /// No such service: refused.
    #[must_use]
    pub fn decide(&self, service: usize, request: &Request<'_>) -> Verdict {
        match self.list(service) {
            ServiceList::List(list) => self.table(list).map_or(Verdict::END, |table| table.decide(request)),
            ServiceList::Empty => Verdict::EMPTY,
            ServiceList::NoService => Verdict::END,
        }
    }

    /// Which fields of `request` fix what [`Policy::decide`] says: see [`Table::depends_on`].
    #[must_use]
    pub fn depends_on(&self, service: usize, request: &Request<'_>) -> Fields {
        match self.list(service) {
            ServiceList::List(list) => {
                self.table(list).map_or(Fields::NONE, |table| table.depends_on(request))
            }
            ServiceList::Empty | ServiceList::NoService => Fields::NONE,
        }
    }

    /// What the access list of a service says of a UDP association, whose destinations its datagrams will name: see
    /// [`Table::preauthorize`]. Where it is settled no datagram needs [`Policy::decide`]. No such service: refused.
    #[must_use]
    pub fn preauthorize(&self, service: usize, request: &Request<'_>) -> Preauthorization {
        let refused = Preauthorization { verdict: Verdict::END, settled: true };
        match self.list(service) {
            ServiceList::List(list) => self.table(list).map_or(refused, |table| table.preauthorize(request)),
            ServiceList::Empty => Preauthorization { verdict: Verdict::EMPTY, settled: true },
            ServiceList::NoService => refused,
        }
    }

    /// The parents that a verdict sends the request through, in the order in which they are drawn; none if it goes direct.
    #[must_use]
    pub fn parents(&self, verdict: Verdict) -> &[Parent] {
        self.ace(verdict).map_or(&[], |ace| self.program.acls.parents(ace))
    }

    /// The weight that a verdict leaves for the next walk of the same request, and for the limits.
    #[must_use]
    pub fn weight(&self, verdict: Verdict) -> i32 {
        self.ace(verdict).map_or(0, |ace| ace.weight)
    }

    /// The password of a user; of entries with one name the last counts.
    #[must_use]
    pub fn user(&self, name: &[u8]) -> Option<&Password> {
        let at = *self.users.get(name)?;
        Some(&self.program.users.get(at as usize)?.password)
    }

    /// The limits that apply to `request`, as indexes into the list: every one that matches, up to the first `no…` line that does.
    /// `request` has the [weight](Policy::weight) of the verdict that let it pass.
    #[must_use]
    pub fn limits(&self, list: LimitList, request: &Request<'_>) -> Vec<usize> {
        self.limits.applying(&self.program.limits, list, request)
    }

    /// Bytes on the heap that tables take, about; the Program's own are not counted.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        let mut tables: Vec<&Arc<ListTable>> = self.tables.iter().collect();
        tables.sort_unstable_by_key(|table| Arc::as_ptr(table));
        tables.dedup_by_key(|table| Arc::as_ptr(table));
        tables.into_iter().map(|table| table.bytes()).sum::<usize>() + self.limits.bytes()
    }

    /// What each table takes. Lists that are alike share one.
    #[must_use]
    pub fn table_sizes(&self) -> Vec<TableSize> {
        let mut sizes: Vec<TableSize> = Vec::new();
        let mut known: HashMap<*const ListTable, usize> = HashMap::new();
        for (table, list) in self.tables.iter().zip(0..) {
            let at = *known.entry(Arc::as_ptr(table)).or_insert(sizes.len());
            if at == sizes.len() {
                sizes.push(TableSize {
                    lists: Vec::new(),
                    entries: table.entries(),
                    bytes: table.bytes(),
                    indexes: table.index().into_iter().flat_map(Index::sizes).collect(),
                });
            }
            if let Some(size) = sizes.get_mut(at) {
                size.lists.push(ListId(list));
            }
        }
        sizes
    }

    fn list(&self, service: usize) -> ServiceList {
        match self.program.services.get(service).map(|service| service.acl) {
            Some(Some(list)) => ServiceList::List(list),
            Some(None) => ServiceList::Empty,
            None => ServiceList::NoService,
        }
    }

    fn table(&self, list: AclRef) -> Option<Copied<'_>> {
        let table = self.tables.get(list.list.0 as usize)?;
        Some(Copied { table, acls: &self.program.acls, list })
    }

    fn ace(&self, verdict: Verdict) -> Option<&Ace> {
        self.program.acls.ace(verdict.entry?)
    }
}

/// A table for each list; lists of equal content share one.
fn compile_lists(acls: &Acls) -> Box<[Arc<ListTable>]> {
    if let [only] = acls.lists.as_slice() {
        return Box::new([Arc::new(ListTable::new(acls, only))]);
    }
    let mut alike: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut tables: Vec<Arc<ListTable>> = Vec::with_capacity(acls.lists.len());
    for (at, ids) in acls.lists.iter().enumerate() {
        let alike = alike.entry(list::digest(acls, ids)).or_default();
        let equal =
            |other: &&usize| acls.lists.get(**other).is_some_and(|other| list::equal(acls, ids, other));
        let known = alike.iter().find(equal).and_then(|other| tables.get(*other)).map(Arc::clone);
        if known.is_none() {
            alike.push(at);
        }
        tables.push(known.unwrap_or_else(|| Arc::new(ListTable::new(acls, ids))));
    }
    tables.into()
}

/// Prints no entry: there may be a hundred thousand.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy").finish_non_exhaustive()
    }
}
