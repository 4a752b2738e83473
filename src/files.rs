//! Files from the disk and standard input.
mod root;

use std::{
    cell::Cell,
    fs,
    io::{self, ErrorKind},
    path::{Component, Path, PathBuf},
};

use anyhow::{Error, Result, anyhow};
use compiler::{
    Compiled,
    options::{CompileOptions, Template},
    sources::Files,
};
use runtime::reload::read;

use crate::args::Image;

/// The path that stands for standard input.
const STDIN: &str = "-";
/// So it is called in findings.
pub(crate) const STDIN_NAME: &str = "<stdin>";

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

/// A file is wanted, and this is none.
pub(crate) fn is_folder(path: &Path) -> Error {
    anyhow!("`{}` is a folder: name a file in it", path.display())
}

/// A path without steps that lead nowhere: files that are found in different ways have one name in findings.
pub(crate) fn plain(path: &Path) -> PathBuf {
    path.components().filter(|step| *step != Component::CurDir).collect()
}

impl Image {
    /// Where a file is that a configuration names, behind links: one in the folder of `--root` never outside it.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn place(&self, path: &Path) -> io::Result<PathBuf> {
        match self.inside(path) {
            Some((root, inside)) => root::place(root, inside),
            None => fs::canonicalize(path),
        }
    }

    /// The folder of `--root` and the path in it, if `path` leads there.
    fn inside<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        let root = self.root.as_deref()?;
        // That is the working directory.
        if root.as_os_str().is_empty() {
            return (path.is_relative() && !path.starts_with("..")).then_some((Path::new("."), path));
        }
        // In the root folder of the host everything is where it is.
        root.parent().is_some().then_some((root, path.strip_prefix(root).ok()?))
    }

    /// Reads the configuration at `path`, which may be a pipe of a shell, and so in no folder.
    fn configuration(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.inside(path).is_some() {
            read::configuration(&self.place(path)?)
        } else {
            read::configuration(path)
        }
    }

    /// Whether there is a file at `path`.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        self.place(path).is_ok_and(|place| place.is_file())
    }
}

/// A configuration that was read already, and the disk for what it includes. Relative paths are taken from the working
/// directory, as 3proxy does.
pub(crate) struct Given {
    /// What it is called in findings.
    pub(crate) path: PathBuf,
    /// Where included files are.
    image: Image,
    /// Handed to the first who asks, not copied.
    text: Cell<Option<Vec<u8>>>,
}

impl Given {
    /// Reads the text at `path`, or standard input for `-`; what it includes will be read from `image`.
    pub(crate) fn read(path: &Path, image: &Image) -> Result<Self> {
        let text = if is_stdin(path) { read::stream(io::stdin().lock()) } else { image.configuration(path) };
        let shown = path.display();
        let text = text.map_err(|error| match error.kind() {
            ErrorKind::InvalidData => anyhow!("`{shown}` is no configuration: {error}"),
            ErrorKind::IsADirectory => is_folder(path),
            _ => Error::new(error).context(format!("`{shown}` can't be read")),
        })?;
        let path = if is_stdin(path) { STDIN_NAME.into() } else { path.to_owned() };
        Ok(Self { path, image: image.clone(), text: Cell::new(Some(text)) })
    }

    /// The same with this text.
    pub(crate) fn with(&self, text: Vec<u8>) -> Self {
        Self { path: self.path.clone(), image: self.image.clone(), text: Cell::new(Some(text)) }
    }

    /// The same under another name, if there is one.
    pub(crate) fn named(mut self, name: Option<&Path>) -> Self {
        if let Some(name) = name {
            self.path = name.to_owned();
        }
        self
    }

    /// Compiles it as it is to be run: the markers of a template are words as any other.
    pub(crate) fn compile(&self) -> Compiled {
        let options = CompileOptions {
            root: self.image.root.clone(),
            template: Template::No,
            ..CompileOptions::default()
        };
        compiler::compile_with(&self.path, self, &options)
    }

    /// Where a file of it is, behind links.
    ///
    /// # Errors
    /// What the system says.
    pub(crate) fn located(&self, path: &Path) -> io::Result<PathBuf> {
        self.image.place(path)
    }

    /// What was read.
    pub(crate) fn into_text(self) -> Vec<u8> {
        self.text.into_inner().unwrap_or_default()
    }
}

impl Files for Given {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let given = (path == self.path).then(|| self.text.take()).flatten();
        given.map_or_else(|| read::included(&self.located(path)?), Ok)
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.located(path).unwrap_or_else(|_| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::plain;

    #[test]
    fn a_path_is_shown_in_one_form() {
        for (written, shown) in [
            ("./a.cfg", "a.cfg"),
            ("conf/./a.cfg", "conf/a.cfg"),
            ("conf//a.cfg", "conf/a.cfg"),
            ("../a.cfg", "../a.cfg"),
            ("conf/../a.cfg", "conf/../a.cfg"),
            ("/etc/3proxy.cfg", "/etc/3proxy.cfg"),
            (".", ""),
        ] {
            assert_eq!(plain(Path::new(written)).display().to_string(), shown);
        }
    }
}
