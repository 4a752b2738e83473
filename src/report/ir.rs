//! A Program for programs. The form is described in docs/json.md: change both, and [`VERSION`].
//!
//! Every struct of the Program is taken apart with all its fields named, so that a new one does not compile until it is told or left
//! out here on purpose. Secrets are `***`.
mod acl;
mod global;
mod service;
#[cfg(test)]
mod tests;
mod value;

use std::io::{self, Write};

use compiler::{
    policy::Policy,
    program::{Program, Set, acl::AclRef, settings},
    redact,
    sources::{Loc, Sources},
};
use grammar::Text;
use serde::Serialize;
use serde_json::Value;

use super::place;

/// Goes up when something in the form is removed or means something else; additions leave it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    version: u32,
    files: Vec<File>,
    services: Vec<service::Service>,
    lists: Vec<Vec<u32>>,
    entries: Vec<acl::Entry>,
    parents: Vec<acl::Parent>,
    users: Vec<global::User>,
    radius: Option<global::Radius>,
    limits: global::Limits,
    resolver: global::Resolver,
    process: Vec<Setting>,
    unused: Unused,
    traps: Vec<global::Trap>,
    tables: Tables,
}

/// A text that was read.
#[derive(Serialize)]
struct File {
    path: String,
    included_at: Option<String>,
    bytes: usize,
}

/// A setting: its name in the configuration, its value, and where that was set; `None`: nowhere, it is the default.
#[derive(Serialize)]
struct Setting {
    name: &'static str,
    value: Value,
    at: Option<String>,
}

/// A list as a service copied it.
#[derive(Serialize)]
struct ListRef {
    list: u32,
    length: u32,
    last: u32,
}

impl From<AclRef> for ListRef {
    fn from(AclRef { list, len, last }: AclRef) -> Self {
        Self { list: list.0, length: len, last: last.0 }
    }
}

/// What stands in the configuration and has no effect, or none that is known.
#[derive(Serialize)]
struct Unused {
    /// Entries behind the last service.
    list: Option<ListRef>,
    /// Commands behind the last service.
    commands: Vec<String>,
    /// Entries that a `flush` removed before a service copied them.
    flushed: Vec<u32>,
    /// Commands without a meaning of their own in the Program.
    unmodelled: Vec<String>,
}

#[derive(Serialize)]
struct Tables {
    /// On the heap, about.
    bytes: usize,
    tables: Vec<Table>,
}

/// The index of one list, or of several that are alike.
#[derive(Serialize)]
struct Table {
    lists: Vec<u32>,
    entries: usize,
    /// Indexed; a short list is walked.
    indexed: bool,
    bytes: usize,
    /// By field: bytes of its index.
    indexes: std::collections::BTreeMap<&'static str, usize>,
}

/// Places as `path:line:column`.
#[derive(Clone, Copy)]
struct Places<'a> {
    sources: &'a Sources,
    cited: &'a redact::Redactors<'a>,
}

impl Places<'_> {
    fn of(self, at: Loc) -> String {
        place(self.sources, at)
    }

    /// A word of the line at a place, without what is secret of it.
    fn shown(self, at: Loc, word: &str) -> String {
        self.cited.shown(at, word)
    }

    /// The same for text that need not be UTF-8. `at`: where it was set; a default is no secret.
    fn text(self, at: Option<Loc>, text: &Text) -> Value {
        let text = text.to_string();
        at.map_or_else(|| text.clone(), |at| self.shown(at, &text)).into()
    }

    /// What several words of that line may show.
    fn redactor(self, at: Loc) -> redact::Redactor {
        self.cited.line(at)
    }

    fn each(self, places: &[Loc]) -> Vec<String> {
        places.iter().map(|at| self.of(*at)).collect()
    }

    /// A setting that has a value always.
    fn set<T>(
        self,
        name: &'static str,
        set: &Set<T>,
        value: impl FnOnce(Option<Loc>, &T) -> Value,
    ) -> Setting {
        Setting { name, value: value(set.at, &set.value), at: set.at.map(|at| self.of(at)) }
    }

    fn setting(self, settings::Setting { label, value, at, .. }: &settings::Setting<'_>) -> Setting {
        Setting { name: label, value: value::of(self, *at, *value), at: at.map(|at| self.of(at)) }
    }

    /// A setting that is there or not.
    fn flag(self, name: &'static str, at: Option<Loc>) -> Option<Setting> {
        at.map(|at| Setting { name, value: Value::Bool(true), at: Some(self.of(at)) })
    }
}

/// Writes one document.
pub(crate) fn write(out: &mut dyn Write, sources: &Sources, policy: &Policy) -> io::Result<()> {
    let cited = redact::Redactors::of(sources);
    super::write_json(out, &document(Places { sources, cited: &cited }, policy))
}

fn document(places: Places<'_>, policy: &Policy) -> Document {
    let Program {
        services,
        acls,
        users,
        limits,
        resolver,
        radius,
        auth_cache_size,
        process,
        leftover_acl,
        behind_services,
        commands: _,
        unread: _,
        flushes: _,
        unknown: _,
        unmodelled,
        // Among the unmodelled.
        host_names: _,
        traps,
        history: _,
    } = &**policy.program();
    let files = places.sources.iter().map(|(_, source)| File {
        path: source.path.display().to_string(),
        included_at: source.included_at.map(|at| places.of(at)),
        bytes: source.text.len(),
    });
    let cache_size = places.set("authcache", auth_cache_size, |_, size| (*size).into());
    let process = std::iter::once(cache_size).chain(global::process(places, process)).collect();
    Document {
        version: VERSION,
        files: files.collect(),
        services: services.iter().map(|service| service::of(places, service)).collect(),
        lists: acls.lists.iter().map(|list| list.iter().map(|id| id.0).collect()).collect(),
        entries: acls.aces.iter().map(|ace| acl::entry(places, ace)).collect(),
        parents: acls.parents.iter().map(|parent| acl::parent(places, parent)).collect(),
        users: users.iter().map(|user| global::user(places, user)).collect(),
        radius: radius.as_ref().map(|radius| global::radius(places, radius)),
        limits: global::limits(places, limits),
        resolver: global::resolver(places, resolver),
        process,
        unused: Unused {
            list: leftover_acl.map(Into::into),
            commands: behind_services.iter().map(|command| places.of(command.at)).collect(),
            flushed: policy.program().flushed_unused().map(|id| id.0).collect(),
            unmodelled: places.each(unmodelled),
        },
        traps: traps.iter().map(|trap| global::trap(places, trap)).collect(),
        tables: tables(policy),
    }
}

fn tables(policy: &Policy) -> Tables {
    let tables = policy.table_sizes().into_iter().map(|size| Table {
        lists: size.lists.iter().map(|list| list.0).collect(),
        entries: size.entries,
        indexed: !size.indexes.is_empty(),
        bytes: size.bytes,
        indexes: size.indexes.into_iter().collect(),
    });
    Tables { bytes: policy.table_bytes(), tables: tables.collect() }
}
