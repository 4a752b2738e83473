//! Puts a new text in the place of a file.
use std::{
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, fchown},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use runtime::reload::read;
use tempfile::NamedTempFile;

/// Replaces the file at `path`, which held `before`, so that a reader sees all of the old text or all of the new one. Mode and
/// owner stay, and a link stays a link.
pub(crate) fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<()> {
    Rewrite::prepare(path, before, after)?.done()
}

/// A new text that lies ready beside its file.
pub(crate) struct Rewrite {
    new: NamedTempFile,
    /// As the caller calls it.
    path: PathBuf,
    /// Where it is, behind links.
    place: PathBuf,
}

impl Rewrite {
    /// Does all that can fail, but leaves the file at `path`, which held `before`, as it is.
    pub(crate) fn prepare(path: &Path, before: &[u8], after: &[u8]) -> Result<Self> {
        let (new, place) = ready(path, before, after).with_context(|| unwritten(path))?;
        Ok(Self { new, path: path.to_owned(), place })
    }

    /// Puts it in its place.
    pub(crate) fn done(self) -> Result<()> {
        self.new.persist(self.place).map(drop).with_context(|| unwritten(&self.path))
    }
}

fn unwritten(path: &Path) -> String {
    format!("`{}` can't be rewritten", path.display())
}

fn ready(path: &Path, before: &[u8], after: &[u8]) -> Result<(NamedTempFile, PathBuf)> {
    let path = fs::canonicalize(path)?;
    let metadata = fs::metadata(&path)?;
    if read::included(&path)? != before {
        bail!("it has changed meanwhile");
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut new = tempfile::Builder::new()
        .prefix(".cfgc-")
        .tempfile_in(folder)
        .with_context(|| format!("no file can be made beside it in `{}`", folder.display()))?;
    new.write_all(after)?;
    let own = new.as_file().metadata()?;
    if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
        fchown(new.as_file(), Some(metadata.uid()), Some(metadata.gid()))
            .context("its owner would change")?;
    }
    new.as_file().set_permissions(metadata.permissions())?;
    new.as_file().sync_all()?;
    Ok((new, path))
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::replace;

    #[test]
    fn mode_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        replace(&link, b"old", b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }

    #[test]
    fn what_has_changed_meanwhile_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "newer").unwrap();
        let error = replace(&file, b"old", b"new").unwrap_err();
        assert!(format!("{error:#}").ends_with("it has changed meanwhile"), "{error:#}");
        assert_eq!(fs::read(&file).unwrap(), b"newer");
    }
}
