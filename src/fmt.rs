//! `cfgc fmt`: the same configurations, written the one way.
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Error, Result, anyhow};
use compiler::{fix::Changed, options::Template};

use crate::{
    args::{Color, Fmt},
    files::{Given, is_stdin},
    report::{self, complain, printable},
    rewrite,
};

/// Rewrites each file that is written otherwise: 0 done, 1 one would change (`--check`, `--diff`), 2 one can't be formatted.
///
/// # Errors
/// Nothing can be printed.
pub(crate) fn run(args: &Fmt, color: Color) -> Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let color = color.is_on(&io::stdout());
    let (mut differs, mut failed) = (false, false);
    for path in &args.files {
        match changed(path, args.template.into()) {
            Ok(changed) => {
                differs |= changed.before != changed.after;
                if let Err(error) = write_or_tell(args, path, &changed, color, &mut out) {
                    complain(&format!("{error:#}"));
                    failed = true;
                }
            }
            Err(error) => {
                complain(&format!("{error:#}"));
                failed = true;
            }
        }
    }
    out.flush()?;
    let told = args.check || args.diff;
    Ok(ExitCode::from(if failed { 2 } else { u8::from(told && differs) }))
}

/// A file as it is, and as it is to be.
fn changed(path: &Path, template: Template) -> Result<Changed> {
    let given = Given::read(path)?;
    let name = given.path.clone();
    let before = given.into_text();
    let after = grammar::format::format(&before, template.for_file(path))
        .map_err(|unreadable| anyhow!("{}:{unreadable}: the file is left as it is", name.display()))?;
    Ok(Changed { before, after })
}

/// Writes the file, or says what would change.
fn write_or_tell(
    args: &Fmt,
    path: &Path,
    changed: &Changed,
    color: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let differs = changed.before != changed.after;
    if args.diff {
        if differs {
            report::unified_alone(out, path, changed, color)?;
        }
    } else if args.check {
        if differs {
            writeln!(out, "{}", printable(&path.display().to_string()))?;
        }
    } else if is_stdin(path) {
        out.write_all(&changed.after)?;
    } else if differs {
        rewrite::replace(path, &changed.before, &changed.after)?;
    }
    Ok(())
}
