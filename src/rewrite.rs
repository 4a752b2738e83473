//! Puts a new text in the place of a file.
use std::{
    collections::BTreeMap,
    fs,
    io::{self, ErrorKind},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, Error, Result, bail};
use compiler::fix::Changed;
use runtime::{reload::read, replace::Beside};

/// Replaces the file at `path`, which held `before`, so that a reader sees all of the old text or all of the new one. Mode and
/// owner stay, and a link stays a link.
pub(crate) fn replace(path: &Path, before: &[u8], after: &[u8]) -> Result<()> {
    Rewrite::prepare(path, behind_links, before, after)?.done()
}

/// Where the file at a path is.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Replaces files, which are where `place` says, and then does `last`: all of it, or on an error none.
pub(crate) fn replace_all<'a>(
    files: impl Iterator<Item = (&'a Path, &'a Changed)>,
    place: impl Fn(&Path) -> io::Result<PathBuf>,
    last: impl FnOnce() -> io::Result<()>,
) -> Result<()> {
    let rewrites = prepare_all(files, place)?;
    let mut done = Vec::with_capacity(rewrites.len());
    for Reversible { new, old } in rewrites {
        if let Err(error) = new.done() {
            return Err(put_back(done, error));
        }
        done.push(old);
    }
    last().map_err(|error| put_back(done, error.into()))
}

/// A text that lies ready beside its file.
struct Rewrite {
    text: Beside,
    /// As the caller calls the file.
    path: PathBuf,
}

/// The new text of a file, and the old one for when another file can't be replaced.
struct Reversible {
    new: Rewrite,
    old: Rewrite,
}

impl Rewrite {
    /// Does nearly all that can fail, but leaves the file at `path`, which held `before`, as it is.
    fn prepare(
        path: &Path,
        place: impl Fn(&Path) -> io::Result<PathBuf>,
        before: &[u8],
        text: &[u8],
    ) -> Result<Self> {
        let ready = || ready(&place(path)?, before, text);
        let text = ready().with_context(|| unwritten(path))?;
        Ok(Self { text, path: path.to_owned() })
    }

    /// Puts it in its place.
    fn done(self) -> Result<()> {
        self.text.done().map_err(|error| {
            let busy = error.kind() == ErrorKind::ResourceBusy;
            let error = Error::new(error);
            // As a container has a file of its host.
            let error =
                if busy { error.context("it is mounted by itself: mount its folder instead") } else { error };
            error.context(unwritten(&self.path))
        })
    }
}

fn prepare_all<'a>(
    files: impl Iterator<Item = (&'a Path, &'a Changed)>,
    place: impl Fn(&Path) -> io::Result<PathBuf>,
) -> Result<Vec<Reversible>> {
    let mut rewrites: Vec<Reversible> = Vec::new();
    let mut texts: BTreeMap<PathBuf, (&Path, &[u8])> = BTreeMap::new();
    for (path, Changed { before, after }) in files {
        let new = Rewrite::prepare(path, &place, before, after)?;
        match texts.get(new.text.place()) {
            // Two names of one file.
            Some((_, text)) if text == after => continue,
            Some((other, _)) => bail!(
                "`{}` and `{}` are one file, and what is fixed in it depends on which is read",
                other.display(),
                path.display()
            ),
            None => texts.insert(new.text.place().to_owned(), (path, after)),
        };
        rewrites.push(Reversible { new, old: Rewrite::prepare(path, &place, before, before)? });
    }
    Ok(rewrites)
}

/// Puts old texts back. Returns the error for which, with what is to be said besides.
fn put_back(old: Vec<Rewrite>, error: Error) -> Error {
    let mut stuck = Vec::new();
    for rewrite in old {
        let path = rewrite.path.display().to_string();
        if rewrite.done().is_err() {
            stuck.push(path);
        }
    }
    if stuck.is_empty() {
        return error.context("no file is rewritten");
    }
    error.context(format!("`{}` is rewritten and can't be put back", stuck.join("`, `")))
}

/// That a file was not replaced.
pub(crate) fn unwritten(path: &Path) -> String {
    format!("`{}` can't be rewritten", path.display())
}

fn ready(place: &Path, before: &[u8], text: &[u8]) -> Result<Beside> {
    if read::included(place)? != before {
        bail!("it has changed meanwhile");
    }
    if let Some(why) = refusal(place)? {
        bail!(why);
    }
    let mut new = Beside::of(place)?;
    new.write(text)?;
    Ok(new)
}

/// Why the file at a place is never replaced, and what helps.
///
/// # Errors
/// What the system says.
pub(crate) fn refusal(place: &Path) -> io::Result<Option<String>> {
    let file = fs::metadata(place)?;
    if !file.is_file() {
        return Ok(Some("it is no regular file: mend the file from which it comes".to_owned()));
    }
    // The new text would have one of them, and the others the old one.
    let names = file.nlink();
    Ok((names > 1).then(|| {
        format!(
            "it has {names} names (hard links), and the new text would get one of them: \
             make the others symbolic links, or this one a copy of its own (`cp FILE COPY && mv COPY FILE`)"
        )
    }))
}

#[cfg(test)]
mod tests {
    use std::{
        fs, io,
        os::unix::fs::{PermissionsExt, symlink},
        path::Path,
    };

    use compiler::fix::Changed;

    use super::{behind_links, replace, replace_all};

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

    /// Files `a` and `b` of a folder, changed.
    fn two(folder: &Path) -> Vec<(std::path::PathBuf, Changed)> {
        let file = |name: &str| {
            fs::write(folder.join(name), format!("old {name}")).unwrap();
            let changed =
                Changed { before: format!("old {name}").into(), after: format!("new {name}").into() };
            (folder.join(name), changed)
        };
        vec![file("a"), file("b")]
    }

    fn replaced(
        files: &[(std::path::PathBuf, Changed)],
        last: impl FnOnce() -> io::Result<()>,
    ) -> Result<(), String> {
        let files = files.iter().map(|(path, changed)| (&**path, changed));
        replace_all(files, behind_links, last).map_err(|error| format!("{error:#}"))
    }

    fn texts(folder: &Path) -> Vec<String> {
        let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        paths.iter().filter(|path| path.is_file()).map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    #[test]
    fn a_file_of_several_names_keeps_them() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("file"), folder.path().join("other"));
        fs::write(&file, "old").unwrap();
        fs::hard_link(&file, &other).unwrap();
        let error = format!("{:#}", replace(&file, b"old", b"new").unwrap_err());
        assert!(error.contains("it has 2 names (hard links)"), "{error}");
        assert_eq!(fs::read(&file).unwrap(), b"old");
        fs::remove_file(&other).unwrap();
        replace(&file, b"old", b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }

    #[test]
    fn of_many_files_all_are_replaced_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let files = two(folder.path());
        let full = || Err(io::ErrorKind::StorageFull.into());
        let error = replaced(&files, full).unwrap_err();
        assert!(error.starts_with("no file is rewritten: "), "{error}");
        assert_eq!(texts(folder.path()), ["old a", "old b"]);
        // Something takes the place of the second after all was prepared.
        let files = two(folder.path());
        let mut late = Vec::new();
        let mut given = files.iter().map(|(path, changed)| (&**path, changed));
        let taken = std::iter::from_fn(|| {
            let next = given.next();
            if next.is_none() && late.is_empty() {
                late.push(fs::remove_file(&files[1].0).and_then(|()| fs::create_dir(&files[1].0)));
            }
            next
        });
        let error =
            replace_all(taken, behind_links, || Ok(())).map_err(|error| format!("{error:#}")).unwrap_err();
        assert!(
            error.starts_with("no file is rewritten: `") && error.contains("/b` can't be rewritten: "),
            "{error}"
        );
        assert_eq!(texts(folder.path()), ["old a"], "the first is as it was, and nothing else is left");
        fs::remove_dir(&files[1].0).unwrap();
        assert_eq!(replaced(&two(folder.path()), || Ok(())), Ok(()));
        assert_eq!(texts(folder.path()), ["new a", "new b"]);
    }

    #[test]
    fn a_file_that_can_not_be_put_back_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = two(folder.path());
        let last = || {
            fs::remove_file(&files[0].0)?;
            fs::create_dir(&files[0].0)?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let error = replaced(&files, last).unwrap_err();
        assert!(error.contains("/a` is rewritten and can't be put back: "), "{error}");
        assert!(!error.contains("/b`"), "{error}");
        assert_eq!(texts(folder.path()), ["old b"]);
    }

    #[test]
    fn a_file_of_two_names_is_replaced_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = two(folder.path());
        files.truncate(1);
        let link = folder.path().join("link");
        symlink("a", &link).unwrap();
        files.push((link.clone(), files[0].1.clone()));
        assert_eq!(replaced(&files, || Ok(())), Ok(()));
        assert_eq!(fs::read(&link).unwrap(), b"new a");
        fs::write(&link, "old a").unwrap();
        files[1].1.after = b"other".to_vec();
        let error = replaced(&files, || Ok(())).unwrap_err();
        assert!(error.contains("are one file"), "{error}");
        assert_eq!(fs::read(&link).unwrap(), b"old a");
    }
}
