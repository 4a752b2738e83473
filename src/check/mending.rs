//! Puts what `--fix` mended in the place of what was read: all of it, or on an error none.
use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Result;
use compiler::fix::Mended;

use crate::{files::Given, rewrite};

/// Writes what was mended. The configuration at `main` goes to standard output if it came from standard input.
pub(super) fn write(mended: &Mended, main: &Path, is_stdin: bool) -> Result<()> {
    let is_piped = |path: &Path| is_stdin && path == main;
    let changed = mended.changed.iter().map(|(path, changed)| (&**path, changed));
    rewrite::replace_all(changed.filter(|(path, _)| !is_piped(path)), || {
        if !is_stdin {
            return Ok(());
        }
        // Even if nothing is mended in it: what came goes out.
        let mut out = io::stdout().lock();
        out.write_all(main_text(mended))?;
        out.flush()
    })
}

/// The configuration at `main` before it was mended.
pub(super) fn before(mut mended: Mended, main: &Path) -> Given {
    let changed = mended.changed.remove(main).map(|changed| changed.before);
    Given::of(main.to_owned(), changed.unwrap_or_else(|| main_text(&mended).to_vec()))
}

/// The text of the configuration itself, as it is now.
fn main_text(mended: &Mended) -> &[u8] {
    let main = mended.compiled.sources.iter().next();
    main.map(|(_, source)| &*source.text).unwrap_or_default()
}
