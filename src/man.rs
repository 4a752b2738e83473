//! `cfgc man`: the manual pages, from the same words as `--help`.
use std::{fs, process::ExitCode};

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::args::{Args, Man};

/// Writes a page for the command and one for each command of it.
pub(crate) fn run(args: &Man) -> Result<ExitCode> {
    let folder = &args.folder;
    fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Args::command(), folder))
        .with_context(|| format!("the manual pages can't be written to `{}`", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
