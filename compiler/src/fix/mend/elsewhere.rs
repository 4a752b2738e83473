//! Other configurations that read a file of the one that is mended: no fix may make one of them worse.
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{Counts, counts, kept::Kept, more};
use crate::{Compiled, sources::Files};

/// Another configuration.
pub struct Other<'a> {
    /// What it is called.
    pub path: &'a Path,
    /// The places of the files that it reads.
    pub reads: &'a BTreeSet<PathBuf>,
    /// Compiles it, and leaves only the findings that count.
    pub compile: Box<dyn Fn(&dyn Files) -> Compiled + 'a>,
}

/// The others, with what is found in them as the files are now.
pub(super) struct Elsewhere<'a> {
    others: &'a [Other<'a>],
    now: BTreeMap<usize, Counts>,
    /// So many compilations of others may still be tried.
    left: usize,
}

/// What becomes of the others.
pub(super) enum Judged {
    /// No rule finds more in one of them.
    Good,
    /// These rules would find more in this one.
    Worse(PathBuf, Vec<&'static str>),
    /// Enough was tried.
    Unknown,
}

impl<'a> Elsewhere<'a> {
    pub(super) fn new(others: &'a [Other<'a>], left: usize) -> Self {
        Self { others, now: BTreeMap::new(), left }
    }

    /// What the changes of `tried` to the files that are `now` make of the others.
    pub(super) fn judge(&mut self, now: &Kept<'_>, tried: &Kept<'_>) -> Judged {
        let changed: Vec<PathBuf> = tried.changed_names().map(|name| now.origin(name)).collect();
        for (index, other) in self.others.iter().enumerate() {
            if !changed.iter().any(|place| other.reads.contains(place)) {
                continue;
            }
            let before = self.now.get(&index).cloned();
            let cost = if before.is_none() { 2 } else { 1 };
            let Some(left) = self.left.checked_sub(cost) else { return Judged::Unknown };
            self.left = left;
            let before = before.unwrap_or_else(|| counts(&(other.compile)(now)));
            let brings = more(&before, &counts(&(other.compile)(tried)));
            self.now.insert(index, before);
            if !brings.is_empty() {
                return Judged::Worse(other.path.to_owned(), brings);
            }
        }
        Judged::Good
    }

    /// The files are no longer as they were.
    pub(super) fn forget(&mut self) {
        self.now.clear();
    }
}
