//! What happened while the script ran and its outcome does not show: for rules that reason about the order of lines.
use std::collections::HashSet;

use super::auth::Chain;
use crate::sources::Loc;

/// What was lost on the way to the Program.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// `auth` lines that another one replaced before any service copied them.
    pub overwritten_chains: Vec<Overwritten<Chain>>,
    /// `include` lines, and words with a `$file`, whose file could not be read: what it would have said is not known.
    pub unread: Vec<Loc>,
    /// Words of `auth` lines that no known type is meant by, and such lines without a word: a type stands for each that asks for a password.
    pub unknown_types: Vec<Loc>,
    /// Services whose line 3proxy refuses, or whose address or port to listen on it reads otherwise than it is written: where they would
    /// listen is not known.
    pub unplaced: HashSet<Loc>,
    /// Entries with a `parent` line that 3proxy refuses: the weights of their groups are not known.
    pub refused_parents: HashSet<Loc>,
    /// Parents given by name behind a `fakeresolve`: 3proxy takes them to be at 127.0.0.2.
    pub faked_parents: Vec<Faked>,
    /// The last `fakeresolve` that a later `nserver` switched off.
    pub unfaked: Option<Overwritten<Loc>>,
}

/// A setting that nothing used, and the one that replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overwritten<T> {
    /// What was set.
    pub old: T,
    /// What replaced it.
    pub new: T,
}

/// A name that was resolved while every name was 127.0.0.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faked {
    /// The line with the name.
    pub at: Loc,
    /// The `fakeresolve` in force there.
    pub by: Loc,
}
