//! Puts what `--fix` mended in the place of what was read: all of it, or on an error none.
use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Result;
use compiler::fix::{Changed, Mended};

use crate::{files::Given, report, rewrite};

/// Writes what was mended. The configuration `given` goes to standard output if it came from standard input.
pub(super) fn write(mended: &Mended, given: &Given, is_stdin: bool) -> Result<()> {
    let place = |path: &Path| given.located(path);
    rewrite::replace_all(written(&mended.changed, given, is_stdin), place, || {
        if !is_stdin {
            return Ok(());
        }
        // Even if nothing is mended in it: what came goes out.
        let mut out = report::stdout();
        out.write_all(main_text(mended))?;
        out.flush()
    })
}

/// Refuses to promise what [`write()`] would refuse: the first of the files that are never replaced.
pub(super) fn refusal(
    changed: &BTreeMap<PathBuf, Changed>,
    given: &Given,
    is_stdin: bool,
) -> Option<(PathBuf, String)> {
    let why = |path: &Path| rewrite::refusal(&given.located(path).ok()?).ok().flatten();
    written(changed, given, is_stdin).find_map(|(path, _)| Some((path.to_owned(), why(path)?)))
}

/// The files that are to be replaced.
fn written<'a>(
    changed: &'a BTreeMap<PathBuf, Changed>,
    given: &Given,
    is_stdin: bool,
) -> impl Iterator<Item = (&'a Path, &'a Changed)> {
    let is_piped = move |path: &Path| is_stdin && path == given.path;
    changed.iter().map(|(path, changed)| (&**path, changed)).filter(move |(path, _)| !is_piped(path))
}

/// The configuration `given` before it was mended.
pub(super) fn before(mut mended: Mended, given: &Given) -> Given {
    let changed = mended.changed.remove(&given.path).map(|changed| changed.before);
    given.with(changed.unwrap_or_else(|| main_text(&mended).to_vec()))
}

/// The text of the configuration itself, as it is now.
fn main_text(mended: &Mended) -> &[u8] {
    let main = mended.compiled.sources.iter().next();
    main.map(|(_, source)| &*source.text).unwrap_or_default()
}
