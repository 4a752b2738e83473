//! Other configurations that read a file of the one that is mended: no fix may make one of them worse.
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use super::{Bearable, Counts, counts, kept::Kept, more};
use crate::{Compiled, sources::Files};

/// Another configuration.
pub struct Other<'a> {
    /// What it is called.
    pub path: &'a Path,
    /// The places of the files that it reads.
    pub reads: &'a BTreeSet<PathBuf>,
    /// Compiles it, and leaves only the findings that count.
    pub compile: Box<dyn Fn(&dyn Files) -> Compiled + 'a>,
    /// What is known of it.
    pub known: &'a Known,
}

/// What is found in a configuration while its files hold these texts: many that share a file try the same changes of it.
#[derive(Debug, Default)]
pub struct Known(RefCell<HashMap<u64, Counts>>);

/// The others.
pub(super) struct Elsewhere<'a> {
    others: &'a [Other<'a>],
    /// How many compilations of others may still be tried.
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
        Self { others, left }
    }

    /// What the changes of `tried` to the files that are `now` make of the others.
    pub(super) fn judge(&mut self, now: &Kept<'_>, tried: &Kept<'_>, bearable: Bearable) -> Judged {
        let changed: Vec<PathBuf> = tried.changed_names().map(|name| now.origin(name)).collect();
        for other in self.others {
            if !changed.iter().any(|place| other.reads.contains(place)) {
                continue;
            }
            let both = self.counts(other, now).zip(self.counts(other, tried));
            let Some((before, after)) = both else { return Judged::Unknown };
            let brings = more(&before, &after, bearable);
            if !brings.is_empty() {
                return Judged::Worse(other.path.to_owned(), brings);
            }
        }
        Judged::Good
    }

    /// What is found in another one. `None`: enough was tried.
    fn counts(&mut self, other: &Other<'_>, files: &Kept<'_>) -> Option<Counts> {
        let mut texts = DefaultHasher::new();
        for place in other.reads {
            (place, files.read(place).ok()).hash(&mut texts);
        }
        let texts = texts.finish();
        if let Some(known) = other.known.0.borrow().get(&texts) {
            return Some(known.clone());
        }
        self.left = self.left.checked_sub(1)?;
        let counts = counts(&(other.compile)(files));
        other.known.0.borrow_mut().insert(texts, counts.clone());
        Some(counts)
    }
}
