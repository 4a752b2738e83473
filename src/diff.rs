//! `cfgc diff`: compile both, compare, report.
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Result, bail};
use compiler::{Compiled, change};

use crate::{
    args::{Diff, Image},
    files::Given,
    report::{
        complain,
        diff::{self, Versions},
    },
};

/// Says what changes: 0, or with `--exit-code` 1 if something does.
///
/// # Errors
/// One of the files can't be read: exit status 2.
pub(crate) fn run(args: &Diff) -> Result<ExitCode> {
    if args.old == Path::new("-") && args.new == Path::new("-") {
        bail!("only one of the configurations can be standard input");
    }
    let image = Image { root: args.old_root.clone().or_else(|| args.image.root.clone()) };
    let (old, new) = (read(&args.old, &image)?, read(&args.new, &args.image)?);
    let mut changes = change::compare(&old, &new);
    diff::hide(&mut changes, [&old, &new]);
    let versions = Versions { old: &old, new: &new };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        diff::json(&mut out, versions, &changes)?;
    } else {
        diff::text(&mut out, versions, &changes)?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(args.exit_code && !changes.is_empty())))
}

fn read(path: &Path, image: &Image) -> Result<Compiled> {
    let given = Given::read(path)?;
    let compiled = given.compile(image);
    let refused = compiled.findings.iter().filter(|finding| finding.refused).count();
    if refused > 0 {
        let name = path.display();
        complain(&format!(
            "3proxy refuses `{name}`, so what it means is a guess: `cfgc check {name}` says why"
        ));
    }
    Ok(compiled)
}
