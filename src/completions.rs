//! `cfgc completions`: completes cfgc's command line in a shell.
use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::{Command, CommandFactory, builder::PossibleValuesParser};

use crate::{
    args::{Args, Completions},
    names, report,
};

/// Prints the script.
pub(crate) fn run(args: &Completions) -> Result<ExitCode> {
    // The generator ends the process if it can't write: it writes where it can.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(Args::command()), "cfgc", &mut script);
    let mut out = report::stdout();
    out.write_all(&script)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// The command line with the names that its arguments may have: they are not checked by it, which would know neither old names nor what was
/// meant.
fn with_names(command: Command) -> Command {
    let levels = names::of_levels();
    let with = |command: Command, arguments: &[&'static str], names: &[&'static str]| {
        arguments.iter().fold(command, |command, argument| {
            command.mut_arg(argument, |argument| {
                argument.value_parser(PossibleValuesParser::new(names.to_vec()))
            })
        })
    };
    ["check", "run"]
        .into_iter()
        .fold(command, |command, name| {
            command.mut_subcommand(name, |command| with(command, &["allow", "warn", "deny"], &levels))
        })
        .mut_subcommand("explain", |command| with(command, &["rule"], &names::explained()))
        .mut_subcommand("doctor", |command| with(command, &["allow"], &names::checks()))
}
