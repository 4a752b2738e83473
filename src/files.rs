//! Files from the disk and standard input.
use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use compiler::sources::Files;

/// The path that stands for standard input.
const STDIN: &str = "-";
/// So it is called in findings.
const STDIN_NAME: &str = "<stdin>";
/// The longest text whose offsets a span can hold.
const MOST_BYTES: u64 = u32::MAX as u64;

/// The files of this machine, relative paths being taken from the working directory, as 3proxy does.
#[derive(Debug)]
pub(crate) struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if fs::metadata(path)?.is_dir() {
            return Err(ErrorKind::IsADirectory.into());
        }
        read(File::open(path)?)
    }
}

/// A configuration that was read already, and the disk for what it includes.
pub(crate) struct Given {
    /// What it is called in findings.
    pub(crate) path: PathBuf,
    text: Vec<u8>,
}

impl Given {
    /// Reads the configuration at `path`, or standard input for `-`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let given = if path == Path::new(STDIN) {
            read(io::stdin().lock()).map(|text| Self { path: STDIN_NAME.into(), text })
        } else {
            Disk.read(path).map(|text| Self { path: path.into(), text })
        };
        given.with_context(|| format!("`{}` can't be read", path.display()))
    }

    /// What was read.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text
    }
}

impl Files for Given {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.path { Ok(self.text.clone()) } else { Disk.read(path) }
    }
}

/// Everything, or of what is too long so much that the compiler sees that it is.
fn read(from: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut text)?;
    Ok(text)
}
