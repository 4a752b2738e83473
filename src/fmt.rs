//! `cfgc fmt`: the same configurations, written the one way.
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Result, anyhow};
use compiler::{fix::Changed, options::Template};

use crate::{
    args::{Color, Fmt, Image},
    files::{Given, is_stdin},
    report::{self, Look, complain, printable},
    rewrite,
};

/// Rewrites each file that is written otherwise: 0 done, 1 one would change (`--check`, `--diff`), 2 one can't be formatted.
///
/// # Errors
/// Nothing can be printed.
pub(crate) fn run(args: &Fmt, color: Color) -> Result<ExitCode> {
    let mut out = report::stdout();
    let look = Look::of_stdout(color);
    let told = args.check || args.diff;
    let (mut differs, mut failed) = (false, false);
    for path in &args.files {
        match changed(path, args.template.into()) {
            Ok(changed) => {
                let differs_here = changed.before != changed.after;
                differs |= differs_here;
                if !told {
                    failed |= !written(path, &changed, &mut out)?;
                } else if differs_here {
                    tell(args, path, &changed, look, &mut out)?;
                }
            }
            Err(error) => {
                complain(&format!("{error:#}"));
                failed = true;
            }
        }
    }
    out.flush()?;
    Ok(ExitCode::from(if failed { 2 } else { u8::from(told && differs) }))
}

/// A file as it is, and as it is to be.
fn changed(path: &Path, template: Template) -> Result<Changed> {
    let given = Given::read(path, &Image::default())?;
    let name = given.path.clone();
    let before = given.into_text();
    let after = grammar::format::format(&before, template.for_file(path))
        .map_err(|unreadable| anyhow!("{}:{unreadable}: the file is left as it is", name.display()))?;
    Ok(Changed { before, after })
}

/// Says what would change.
fn tell(args: &Fmt, path: &Path, changed: &Changed, look: Look, out: &mut dyn Write) -> io::Result<()> {
    if args.diff {
        return report::unified_alone(out, path, changed, look);
    }
    writeln!(out, "{}", printable(&path.display().to_string()))
}

/// Writes the file if that changes it. `false`: it can't be written, which was told.
fn written(path: &Path, changed: &Changed, out: &mut dyn Write) -> io::Result<bool> {
    if is_stdin(path) {
        out.write_all(&changed.after)?;
    } else if changed.before != changed.after
        && let Err(error) = rewrite::replace(path, &changed.before, &changed.after)
    {
        complain(&format!("{error:#}"));
        return Ok(false);
    }
    Ok(true)
}
