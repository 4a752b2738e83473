//! Files that are read once, and may have been changed since. A file has one name, whatever paths lead to it: the first one that was met.
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::Changed;
use crate::sources::{Files, Sources};

pub(super) struct Kept<'a> {
    below: &'a dyn Files,
    read: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    names: RefCell<Names>,
    changed: BTreeMap<PathBuf, Vec<u8>>,
}

/// Names of files.
#[derive(Default)]
struct Names {
    by_path: BTreeMap<PathBuf, PathBuf>,
    by_place: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Kept<'a> {
    pub(super) fn over(below: &'a dyn Files) -> Self {
        Self { below, read: RefCell::default(), names: RefCell::default(), changed: BTreeMap::new() }
    }

    /// The same where some were read already.
    pub(super) fn of(below: &'a dyn Files, read: &Sources) -> Self {
        let kept = Self::over(below);
        for (_, source) in read.iter() {
            let name = kept.place(&source.path);
            kept.read.borrow_mut().entry(name).or_insert_with(|| source.text.to_vec());
        }
        kept
    }

    /// The same with these texts for now.
    pub(super) fn with(&self, texts: BTreeMap<PathBuf, Vec<u8>>) -> Kept<'_> {
        Kept { changed: texts, ..Kept::over(self) }
    }

    pub(super) fn put(&mut self, texts: BTreeMap<PathBuf, Vec<u8>>) {
        self.changed.extend(texts);
    }

    /// The names of the files that are changed here.
    pub(super) fn changed_names(&self) -> impl Iterator<Item = &PathBuf> {
        self.changed.keys()
    }

    /// Where a file is.
    pub(super) fn origin(&self, name: &Path) -> PathBuf {
        self.below.place(name)
    }

    pub(super) fn changed(self) -> BTreeMap<PathBuf, Changed> {
        let mut read = self.read.into_inner();
        let both = self.changed.into_iter().map(|(path, after)| {
            let before = read.remove(&path).unwrap_or_default();
            (path, Changed { before, after })
        });
        both.filter(|(_, changed)| changed.before != changed.after).collect()
    }
}

impl Files for Kept<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = self.place(path);
        if let Some(text) = self.changed.get(&name) {
            return Ok(text.clone());
        }
        if let Some(text) = self.read.borrow().get(&name) {
            return Ok(text.clone());
        }
        let text = self.below.read(path)?;
        self.read.borrow_mut().insert(name, text.clone());
        Ok(text)
    }

    /// The name of the file.
    fn place(&self, path: &Path) -> PathBuf {
        let mut names = self.names.borrow_mut();
        if let Some(name) = names.by_path.get(path) {
            return name.clone();
        }
        let place = self.below.place(path);
        let name = names.by_place.entry(place).or_insert_with(|| path.to_owned()).clone();
        names.by_path.insert(path.to_owned(), name.clone());
        name
    }
}
