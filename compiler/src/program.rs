//! The Program: what a configuration does, each element with the place that made it.
//!
//! A 3proxy.cfg is a script. Running it yields services, each with a snapshot of the settings in force at its line,
//! and what all services share. The parts that many services share (access lists, entries, parents) stand once in the
//! Program and are named by index, so that 28,000 services with one growing list cost what the file costs.
pub mod acl;
pub mod auth;
pub mod history;
pub mod limits;
pub mod log;
pub mod process;
pub mod resolve;
pub mod service;
pub mod settings;
pub mod tls;
pub mod trap;

use std::sync::Arc;

use grammar::{Text, directive::Directive};

use acl::{AceId, AclRef, Acls, ListId};
use auth::{Radius, User};
use history::History;
use limits::Limits;
use process::Process;
use resolve::Resolver;
use service::Service;
use trap::Trapped;

use crate::sources::Loc;

/// A value and the place that set it. `None`: nothing did, it is 3proxy's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// The directive, option or word that set it.
    pub at: Option<Loc>,
}

impl<T> Set<T> {
    /// A value that nothing in the configuration set.
    pub const fn default_to(value: T) -> Self {
        Self { value, at: None }
    }

    /// A value set at `at`.
    pub const fn new(value: T, at: Loc) -> Self {
        Self { value, at: Some(at) }
    }
}

/// A command that was run.
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    /// From its first to behind its last word.
    pub at: Loc,
    /// Which one it is.
    pub row: &'static Directive,
}

/// A `flush` line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// The line.
    pub at: Loc,
    /// The list that it ended; `None`: it was empty.
    pub list: Option<ListId>,
    /// How many entries of that list were copied by a service; those behind them by none.
    pub copied: u32,
}

/// What is not known, of a template or since a file was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// Which lines there are.
    pub lines: bool,
    /// What something says that decides about requests.
    pub values: bool,
    /// What something says that decides neither whom a service lets in nor what they may do: its port, a limit.
    pub details: bool,
    /// Which users have passwords.
    pub users: bool,
    /// How many services start before the first of these lines and values. `None`: there are none.
    pub known_services: Option<usize>,
    /// How many before the first of them that may change who is let in and what they may do.
    pub admitting_services: Option<usize>,
    /// How many before the last lines that are not known.
    pub before_last_lines: usize,
}

/// What a place leaves open of which not all is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Open {
    /// Which lines there are.
    Lines,
    /// What decides about requests.
    Values,
    /// What does so, but neither by whom it lets in nor by what they may do: the port of a service, a limit.
    Details,
    /// Which users have passwords.
    Users,
    /// Nothing on which any decision depends.
    Nothing,
}

impl Unknown {
    /// Notes what is open behind so many services.
    pub(crate) fn note(&mut self, open: Open, services: usize) {
        self.lines |= open == Open::Lines;
        self.values |= open == Open::Values;
        self.details |= open == Open::Details;
        self.users |= matches!(open, Open::Lines | Open::Users);
        if matches!(open, Open::Lines | Open::Values | Open::Details) {
            self.known_services.get_or_insert(services);
        }
        if matches!(open, Open::Lines | Open::Values) {
            self.admitting_services.get_or_insert(services);
        }
        if open == Open::Lines {
            self.before_last_lines = services;
        }
    }
}

/// What a configuration does.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// In the order in which they start. Shared, so that the runtime holds one without the rest.
    pub services: Vec<Arc<Service>>,
    /// The access lists that services refer to, and their entries.
    pub acls: Acls,
    /// The password table, in file order: of entries with one name the last counts, for all services.
    pub users: Vec<User>,
    /// Bandwidth, connection and traffic limits: they apply to all services.
    pub limits: Limits,
    /// Name resolution.
    pub resolver: Resolver,
    /// The last `radius` line.
    pub radius: Option<Radius>,
    /// The size of the process-wide authentication cache, and the `authcache` line that set it last.
    pub auth_cache_size: Set<u32>,
    /// Timeouts, retries and what else acts on the whole process.
    pub process: Process,
    /// The entries that stand in the current list at the end of the script and that no service copied.
    pub leftover_acl: Option<AclRef>,
    /// Commands behind the last service that set something for services, in order: no service copied it.
    /// Empty when there is no service.
    pub behind_services: Vec<Executed>,
    /// The commands in the order in which they ran, services included. Those of access lists stand in [`Program::acls`].
    pub commands: Vec<Executed>,
    /// Each `end` that something stands behind, and the first command there.
    pub unread: Vec<(Loc, Loc)>,
    /// Each `flush`, in order.
    pub flushes: Vec<Flush>,
    /// Commands that were read but that neither the Program nor the runtime gives a meaning beyond their line
    /// (`plugin`, `system`, `dialer` …): `cfgc run` refuses what it can't execute by looking here.
    pub unmodelled: Vec<Loc>,
    /// Names that stand where an address is wanted, and whose addresses are not known; their words are among [`Program::unmodelled`].
    pub host_names: Vec<(Loc, Text)>,
    /// What is not known: the file is a template, or what it includes was not read.
    pub unknown: Unknown,
    /// Words that 3proxy reads otherwise than they are written.
    pub traps: Vec<Trapped>,
    /// What the script did on the way.
    pub history: History,
}

impl Program {
    /// The entries that a `flush` removed before any service copied them.
    pub fn flushed_unused(&self) -> impl Iterator<Item = AceId> + '_ {
        self.flushes.iter().flat_map(|flush| self.acls.unused(flush).iter().copied())
    }
}

impl Acls {
    /// The entries of the list that a `flush` ended that no service copied.
    #[must_use]
    pub fn unused(&self, flush: &Flush) -> &[AceId] {
        let ids = flush.list.and_then(|list| self.lists.get(list.0 as usize)).map_or(&[][..], Vec::as_slice);
        ids.get(flush.copied as usize..).unwrap_or_default()
    }
}
