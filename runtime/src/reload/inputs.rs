//! The files that a configuration was made of, as they were when they were read.
use std::{
    cell::RefCell,
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    path::{Path, PathBuf},
};

use compiler::sources::Files;

use super::read;

/// One file, and what it held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// As the configuration names it.
    pub path: PathBuf,
    /// A hash of its contents; `None`: it could not be read, or it is no regular file. What a pipe holds is gone when it has been read:
    /// it is never read twice, and is no reason to reload.
    pub contents: Option<u64>,
}

/// Every file of one attempt to load a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(pub(crate) Vec<Input>);

impl Input {
    /// Reads a file for its hash alone.
    #[must_use]
    pub(crate) fn of(path: PathBuf) -> Self {
        let contents = read::regular(&path).ok().map(|text| hash(&text));
        Self { path, contents }
    }
}

impl Inputs {
    /// Whether a file holds something else now. Reads all of them.
    #[must_use]
    pub(crate) fn differ(&self) -> bool {
        self.0.iter().any(|input| Input::of(input.path.clone()) != *input)
    }
}

/// Reads real files for the compiler, and notes which and what they held.
pub(super) struct Disk {
    /// The configuration itself, until the compiler asks for it: it is read once, so that what is compiled is what was seen to be there.
    config: RefCell<Option<(PathBuf, Vec<u8>)>>,
    read: RefCell<Vec<Input>>,
    /// What was read: a configuration may be compiled twice, and is the same both times.
    texts: RefCell<HashMap<PathBuf, Vec<u8>>>,
}

impl Disk {
    /// The files of a configuration, of which the first can be read.
    ///
    /// # Errors
    /// It can't.
    pub(super) fn with(config: &Path) -> io::Result<Self> {
        let text = read::configuration(config)?;
        let config = RefCell::new(Some((config.into(), text)));
        Ok(Self { config, read: RefCell::default(), texts: RefCell::default() })
    }

    pub(super) fn into_inputs(self) -> Inputs {
        let mut inputs = self.read.into_inner();
        inputs.sort_by(|one, two| one.path.cmp(&two.path));
        inputs.dedup();
        Inputs(inputs)
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Some(text) = self.texts.borrow().get(path) {
            return Ok(text.clone());
        }
        let given = self.config.borrow_mut().take_if(|(config, _)| config == path);
        let read = given.map_or_else(|| read::regular(path), |(_, text)| Ok(text));
        let contents = read.as_ref().ok().filter(|_| is_regular(path)).map(|text| hash(text));
        self.read.borrow_mut().push(Input { path: path.into(), contents });
        let read = read.and_then(read::text);
        if let Ok(text) = &read {
            self.texts.borrow_mut().insert(path.into(), text.clone());
        }
        read
    }
}

fn is_regular(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
