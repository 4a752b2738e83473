//! Puts a new text in the place of a file: whoever reads it sees all of the old text or all of the new one, after a crash too.
//!
//! The text is written beside the file and renamed. Mode and owner stay, and a link stays a link: what it names is replaced, or made
//! if it is not there.
use std::{
    fs::{self, File, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// The most links that may lead to a file, as for the kernel.
const MOST_LINKS: usize = 40;
/// The mode of a file that did not exist, less what the umask takes away.
const NEW: u32 = 0o660;
/// Nobody else reads a text before its mode is set.
const OWN: u32 = 0o600;

/// A new file beside the one whose place it will take.
#[derive(Debug)]
pub struct Beside {
    new: NamedTempFile,
    place: PathBuf,
}

impl Beside {
    /// Makes it, empty, with the mode and owner of the file at `path`, if there is one. That stays as it is.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(path: &Path) -> io::Result<Self> {
        let place = place(path)?;
        let old = match fs::metadata(&place) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let folder = place.parent().unwrap_or(Path::new("/"));
        let mode = if old.is_some() { OWN } else { NEW };
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix(".cfgc-").permissions(Permissions::from_mode(mode));
        let new = builder.tempfile_in(folder).map_err(|error| {
            let why = system(&error);
            says(&error, &format!("no file can be made beside it in `{}`: {why}", folder.display()))
        })?;
        if let Some(old) = old {
            let own = new.as_file().metadata()?;
            if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
                fchown(new.as_file(), Some(old.uid()), Some(old.gid()))
                    .map_err(|error| says(&error, &format!("its owner would change: {error}")))?;
            }
            new.as_file().set_permissions(old.permissions())?;
        }
        Ok(Self { new, place })
    }

    /// The file that it is for: behind links.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Writes its text, so that a crash does not lose it.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.new.write_all(text)?;
        self.new.as_file().sync_all()
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// What the system says.
    pub fn done(self) -> io::Result<()> {
        let Self { new, place } = self;
        new.persist(&place).map_err(|failed| failed.error)?;
        // It is in its place. That a crash may undo that on some file systems is no failure.
        let _ = place.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

/// Puts `text` in the place of the file at `path`.
///
/// # Errors
/// What the system says. The file is as it was.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut new = Beside::of(path)?;
    new.write(text)?;
    new.done()
}

/// Where a file is, or would be made: behind links, in a folder that exists.
fn place(path: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MOST_LINKS {
        match fs::canonicalize(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            found => return found,
        }
        let folder = fs::canonicalize(path.parent().unwrap_or(Path::new("/")))?;
        match fs::read_link(&path) {
            Ok(target) => path = folder.join(target),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            // There is nothing.
            Err(_) => return Ok(path.file_name().map_or(folder.clone(), |name| folder.join(name))),
        }
    }
    Err(io::Error::other("too many links lead to it"))
}

/// What the system says, without the path that is made up.
fn system(error: &io::Error) -> String {
    error
        .raw_os_error()
        .map_or_else(|| error.to_string(), |code| io::Error::from_raw_os_error(code).to_string())
}

fn says(error: &io::Error, what: &str) -> io::Error {
    io::Error::new(error.kind(), what)
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
    };

    use super::{Beside, replace};

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn mode_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        symlink("file", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o604);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), 2, "nothing else is left");
    }

    /// However the link is written, and however many there are.
    #[test]
    fn what_a_link_names_is_made_where_it_does_not_exist() {
        for (links, made) in [
            (&[("link", "file")][..], "file"),
            (&[("link", "sub/file")], "sub/file"),
            (&[("link", "sub/second"), ("sub/second", "../file")], "file"),
            (&[("link", "away/file"), ("away", "sub")], "sub/file"),
            (&[], "link"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::create_dir(at("sub")).unwrap();
            for (link, target) in links {
                symlink(target, at(link)).unwrap();
            }
            replace(&at("link"), b"new").unwrap();
            assert_eq!(fs::read(at(made)).unwrap(), b"new", "{links:?}");
            let are_links =
                links.iter().all(|(link, _)| fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert!(are_links, "{links:?}");
            let target = at(made).canonicalize().unwrap();
            assert_eq!(Beside::of(&at("link")).unwrap().place(), target, "{links:?}");
        }
        // An absolute one.
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink(&file, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn a_link_that_leads_nowhere_stays_as_it_is() {
        for target in ["nowhere/file", "link"] {
            let folder = tempfile::tempdir().unwrap();
            let link = folder.path().join("link");
            symlink(target, &link).unwrap();
            assert!(replace(&link, b"new").is_err(), "{target}");
            assert_eq!(fs::read_link(&link).unwrap(), Path::new(target));
            assert_eq!(names(folder.path()), 1);
        }
    }
}
