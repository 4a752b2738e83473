//! `cfgc diff`: compile both, compare, report.
use std::{io::Write, path::Path, process::ExitCode};

use anyhow::{Result, bail};
use compiler::{Compiled, change};

use crate::{
    args::{Diff, Image},
    files::Given,
    report::{
        self, complain,
        diff::{self, Versions},
    },
};

/// Says what changes: 0, or with `--exit-code` 1 if something does; 2 if that is a guess, since 3proxy refuses one of them.
///
/// # Errors
/// One of the files can't be read: exit status 2.
pub(crate) fn run(args: &Diff) -> Result<ExitCode> {
    if args.old == Path::new("-") && args.new == Path::new("-") {
        bail!("only one of the configurations can be standard input");
    }
    let old_image = Image { root: args.old_root.clone().or_else(|| args.image.root.clone()) };
    let (old, new) = (read(&args.old, &old_image)?, read(&args.new, &args.image)?);
    let mut changes = change::compare(&old, &new);
    diff::hide(&mut changes, [&old, &new]);
    let versions = Versions { old: &old, new: &new };
    let mut out = report::stdout();
    if args.json {
        diff::json(&mut out, versions, &changes)?;
    } else {
        diff::text(&mut out, versions, &changes)?;
    }
    out.flush()?;
    let guesses = [(&args.old, &old, &old_image), (&args.new, &new, &args.image)]
        .map(|(path, compiled, image)| report::guess(path, compiled, Some(image)));
    guesses.iter().flatten().for_each(|why| complain(why));
    if guesses.iter().any(Option::is_some) {
        return Ok(ExitCode::from(2));
    }
    Ok(ExitCode::from(u8::from(args.exit_code && !changes.is_empty())))
}

fn read(path: &Path, image: &Image) -> Result<Compiled> {
    Ok(Given::read(path, image)?.compile())
}
