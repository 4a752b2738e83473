//! What `--fix` would do: the summary says how much, and no fix is shown that would not be made.
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use compiler::{
    Compiled,
    fix::{Changed, Foreseen, Safety, foresee},
    sources::Files,
};

use crate::report::Summary;

/// The texts of files as fixes would leave them, by where they are. Configurations may share a file: it is mended once.
#[derive(Default)]
pub(super) struct Planned(BTreeMap<PathBuf, Vec<u8>>);

impl Planned {
    /// Fixes are made in them.
    pub(super) fn add(&mut self, changed: &BTreeMap<PathBuf, Changed>) {
        self.0.extend(changed.iter().map(|(path, changed)| (place(path), changed.after.clone())));
    }

    /// The files `below` with what is planned.
    pub(super) fn over<'a>(&'a self, below: &'a dyn Files) -> impl Files + use<'a> {
        Over { planned: self, below }
    }

    fn touches(&self, compiled: &Compiled) -> bool {
        !self.0.is_empty()
            && compiled.sources.iter().any(|(_, source)| self.0.contains_key(&place(&source.path)))
    }
}

struct Over<'a> {
    planned: &'a Planned,
    below: &'a dyn Files,
}

impl Files for Over<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let planned = (!self.planned.0.is_empty()).then(|| self.planned.0.get(&place(path))).flatten();
        planned.map_or_else(|| self.below.read(path), |text| Ok(text.clone()))
    }
}

/// A configuration that was read; what it does not include yet is read `below`.
struct Read<'a> {
    compiled: &'a Compiled,
    below: &'a dyn Files,
}

impl Files for Read<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = self.compiled.sources.iter().find(|(_, source)| source.path == path);
        read.map_or_else(|| self.below.read(path), |(_, source)| Ok(source.text.to_vec()))
    }
}

/// Where a file is, behind links.
fn place(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// What would be done so far: by `--fix`, and by `--unsafe-fixes`.
#[derive(Default)]
pub(super) struct Foresight {
    safe: Planned,
    all: Planned,
}

impl Foresight {
    /// What is planned if so much is allowed.
    pub(super) fn of(&mut self, allowed: Safety) -> &mut Planned {
        match allowed {
            Safety::Safe => &mut self.safe,
            Safety::Unsafe => &mut self.all,
        }
    }

    /// Counts the fixes of `compiled` that would be made, and takes out those that would not.
    pub(super) fn count(
        &mut self,
        below: &dyn Files,
        compile: &dyn Fn(&dyn Files) -> Compiled,
        compiled: &mut Compiled,
        summary: &mut Summary,
    ) {
        if compiled.findings.iter().all(|finding| finding.fix.is_none()) {
            return;
        }
        let shares = self.all.touches(compiled) || self.safe.touches(compiled);
        let Some(all) = self.all.plan(below, compile, compiled, Safety::Unsafe) else {
            summary.may_be_fixed(&compiled.findings);
            return;
        };
        let safe = if shares || all.made.iter().any(|made| made.safety == Safety::Unsafe) {
            self.safe.plan(below, compile, compiled, Safety::Safe).map_or(0, |safe| safe.made.len())
        } else {
            self.safe.add(&all.changed);
            all.made.len()
        };
        summary.would_be_fixed(safe, all.made.len().saturating_sub(safe));
        if !shares {
            all.withhold(compiled);
        }
    }
}

impl Planned {
    /// Plans the fixes of `compiled`. `None`: it is too long to be tried.
    fn plan(
        &mut self,
        below: &dyn Files,
        compile: &dyn Fn(&dyn Files) -> Compiled,
        compiled: &Compiled,
        allowed: Safety,
    ) -> Option<Foreseen> {
        let read = Read { compiled, below };
        let over = Over { planned: self, below: &read };
        let shared = self.touches(compiled).then(|| compile(&over));
        let foreseen = foresee(&over, compile, shared.as_ref().unwrap_or(compiled), allowed)?;
        self.add(&foreseen.changed);
        Some(foreseen)
    }
}
