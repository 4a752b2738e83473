//! `cfgc completions`: completes cfgc's command line in a shell.
use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::CommandFactory;

use crate::{
    args::{Args, Completions},
    report,
};

/// Prints the script.
pub(crate) fn run(args: &Completions) -> Result<ExitCode> {
    // The generator ends the process if it can't write: it writes where it can.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "cfgc", &mut script);
    let mut out = report::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
