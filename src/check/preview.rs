//! What `--fix` would do: the summary says how much, and no fix is shown that would not be made.
use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use compiler::{
    Compiled,
    fix::{Changed, Other, Previewed, Safety, preview},
    sources::Files,
};

use super::mending;
use crate::{files::Given, report::Summary};

/// The texts of files as fixes would leave them, by where they are. Configurations may share a file: it is mended once.
#[derive(Default)]
pub(super) struct Planned(BTreeMap<PathBuf, Vec<u8>>);

impl Planned {
    /// Fixes are made in `files`.
    pub(super) fn add(&mut self, files: &dyn Files, changed: &BTreeMap<PathBuf, Changed>) {
        self.0.extend(changed.iter().map(|(path, changed)| (files.place(path), changed.after.clone())));
    }

    /// The files `below` with what is planned.
    pub(super) fn over<'a>(&'a self, below: &'a dyn Files) -> impl Files + use<'a> {
        Over { planned: self, below }
    }

    fn touches(&self, files: &dyn Files, compiled: &Compiled) -> bool {
        !self.0.is_empty()
            && compiled.sources.iter().any(|(_, source)| self.0.contains_key(&files.place(&source.path)))
    }
}

struct Over<'a> {
    planned: &'a Planned,
    below: &'a dyn Files,
}

impl Files for Over<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let planned = (!self.planned.0.is_empty()).then(|| self.planned.0.get(&self.place(path))).flatten();
        planned.map_or_else(|| self.below.read(path), |text| Ok(text.clone()))
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.below.place(path)
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

    fn place(&self, path: &Path) -> PathBuf {
        self.below.place(path)
    }
}

/// What would be done so far: by `--fix`, and by `--unsafe-fixes`.
#[derive(Default)]
pub(super) struct Preview {
    safe: Planned,
    all: Planned,
}

/// A configuration of which fixes are previewed.
pub(super) struct Subject<'a> {
    pub(super) given: &'a Given,
    pub(super) is_stdin: bool,
    pub(super) compile: &'a dyn Fn(&dyn Files) -> Compiled,
    pub(super) others: &'a [Other<'a>],
    /// Fixes up to these were made, or planned, already.
    pub(super) done: Option<Safety>,
}

/// What a plan comes to.
struct Outcome {
    made: usize,
    /// One of the files would not be replaced, so nothing would be done.
    is_refused: bool,
}

impl Preview {
    /// What is planned where fixes up to `allowed` are.
    pub(super) fn of(&mut self, allowed: Safety) -> &mut Planned {
        match allowed {
            Safety::Safe => &mut self.safe,
            Safety::Unsafe => &mut self.all,
        }
    }

    /// Counts the fixes of `compiled` that would be made, and takes out those that would not.
    pub(super) fn count(&mut self, subject: &Subject<'_>, compiled: &mut Compiled, summary: &mut Summary) {
        let has_none = compiled.findings.iter().all(|finding| finding.fix.is_none());
        if has_none || subject.done == Some(Safety::Unsafe) {
            return;
        }
        let shares = self.all.touches(subject.given, compiled) || self.safe.touches(subject.given, compiled);
        let Some(all) = self.all.plan(subject, compiled, Safety::Unsafe) else {
            summary.may_be_fixed(&compiled.findings);
            return;
        };
        let is_one = !shares && all.made.iter().all(|made| made.safety == Safety::Safe);
        // A text that the plan for others changed has its lines elsewhere.
        let planned: Vec<PathBuf> = self.all.0.keys().cloned().collect();
        all.withhold(compiled, |path| !planned.contains(&subject.given.place(path)));
        let of_all = self.all.take(subject, &all);
        let of_safe = match subject.done {
            Some(_) => Outcome { made: 0, is_refused: false },
            None if is_one => self.safe.take(subject, &all),
            None => {
                let safe = self.safe.plan(subject, compiled, Safety::Safe).unwrap_or_default();
                summary.or_more(safe.ran_out);
                self.safe.take(subject, &safe)
            }
        };
        summary.or_more(all.ran_out);
        summary.would_be_fixed(of_safe.made, of_all.made.saturating_sub(of_safe.made));
        for finding in &mut compiled.findings {
            let is_refused = |safety| of_safe.is_refused || of_all.is_refused && safety == Safety::Unsafe;
            finding.fix = finding.fix.take().filter(|fix| !is_refused(fix.safety));
        }
    }
}

impl Planned {
    /// Plans the fixes of `compiled`. `None`: it is too long to be tried.
    fn plan(&self, subject: &Subject<'_>, compiled: &Compiled, allowed: Safety) -> Option<Previewed> {
        let read = Read { compiled, below: subject.given };
        let over = Over { planned: self, below: &read };
        let shared = self.touches(subject.given, compiled).then(|| (subject.compile)(&over));
        preview(&over, subject.compile, shared.as_ref().unwrap_or(compiled), subject.others, allowed)
    }

    /// Counts on what is previewed, if it would be written.
    fn take(&mut self, subject: &Subject<'_>, previewed: &Previewed) -> Outcome {
        let is_refused = mending::refusal(&previewed.changed, subject.given, subject.is_stdin).is_some();
        if is_refused {
            return Outcome { made: 0, is_refused };
        }
        self.add(subject.given, &previewed.changed);
        Outcome { made: previewed.made.len(), is_refused }
    }
}
