//! Other configurations that read a file of the one that is mended: no fix may make one of them worse.
use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
};

use super::{
    budget::Budget,
    counts::{Bearable, Counts},
    kept::Kept,
};
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
pub(super) struct Elsewhere<'a>(pub &'a [Other<'a>]);

/// What becomes of the others.
pub(super) enum Judged {
    /// No rule finds more in one of them.
    Good,
    /// These rules would find more in this one.
    Worse(PathBuf, Vec<&'static str>),
    /// Enough was tried.
    Unknown,
}

impl Elsewhere<'_> {
    /// What the changes of `tried` to the files that are `now` make of the others.
    pub(super) fn judge(
        &self,
        now: &Kept<'_>,
        tried: &Kept<'_>,
        bearable: Bearable,
        budget: &mut Budget,
    ) -> Judged {
        let changed: Vec<PathBuf> = tried.changed_names().map(|name| now.origin(name)).collect();
        for other in self.0 {
            if !changed.iter().any(|place| other.reads.contains(place)) {
                continue;
            }
            let mut counts = |files| other.counts(files, budget);
            let Some((before, after)) = counts(now).zip(counts(tried)) else { return Judged::Unknown };
            let brings = after.more_than(&before, bearable);
            if !brings.is_empty() {
                return Judged::Worse(other.path.to_owned(), brings);
            }
        }
        Judged::Good
    }
}

impl Other<'_> {
    /// What is found in it. `None`: enough was tried.
    fn counts(&self, files: &Kept<'_>, budget: &mut Budget) -> Option<Counts> {
        let mut texts = DefaultHasher::new();
        for place in self.reads {
            (place, files.read(place).ok()).hash(&mut texts);
        }
        let texts = texts.finish();
        if let Some(known) = self.known.0.borrow().get(&texts) {
            return Some(known.clone());
        }
        budget.spend_elsewhere()?;
        let counts = Counts::of(&(self.compile)(files));
        self.known.0.borrow_mut().insert(texts, counts.clone());
        Some(counts)
    }
}
