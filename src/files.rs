//! Files from the disk and standard input.
use std::{
    cell::Cell,
    io,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use compiler::sources::Files;
use runtime::reload::read;

/// The path that stands for standard input.
const STDIN: &str = "-";
/// So it is called in findings.
pub(crate) const STDIN_NAME: &str = "<stdin>";

/// A configuration that was read already, and the disk for what it includes. Relative paths are taken from the working
/// directory, as 3proxy does.
pub(crate) struct Given {
    /// What it is called in findings.
    pub(crate) path: PathBuf,
    /// Handed to the first who asks, not copied.
    text: Cell<Option<Vec<u8>>>,
}

impl Given {
    /// Reads the configuration at `path`, or standard input for `-`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let given = if path == Path::new(STDIN) {
            read::whole(io::stdin().lock())
                .map(|text| Self { path: STDIN_NAME.into(), text: Cell::new(Some(text)) })
        } else {
            read::configuration(path).map(|text| Self { path: path.into(), text: Cell::new(Some(text)) })
        };
        given.with_context(|| format!("`{}` can't be read", path.display()))
    }

    /// What was read.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text.into_inner().unwrap_or_default()
    }
}

impl Files for Given {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let given = (path == self.path).then(|| self.text.take()).flatten();
        given.map_or_else(|| read::included(path), Ok)
    }
}
