//! The command line.
use std::{io::IsTerminal, path::PathBuf};

use clap::{Parser, Subcommand, ValueEnum};

use crate::levels::Levels;

/// A compiler for 3proxy configuration files, and a runtime that executes what it compiled.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Whether to colour what is printed.
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what is wrong with configurations: exit status 0 if nothing is, 1 if something is, 2 if one can't be read.
    Check(Check),
    /// Serve a configuration, until a signal ends it: exit status 1 if it is refused, 2 if it can't be served.
    Run(Run),
    /// Print the documentation of a rule, or the list of them.
    Explain(Explain),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The configurations; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Exit with 1 on warnings too.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The configuration.
    pub(crate) file: PathBuf,
    /// Reload on signals only, not when a file of the configuration changes.
    #[arg(long)]
    pub(crate) no_watch: bool,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The rule, as it stands in brackets in a finding; without it all are listed.
    pub(crate) rule: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The annotated source, for people.
    #[default]
    Text,
    /// `path:line:column: level[rule]: message`, for editors and grep.
    Short,
    /// For programs: see docs/json.md.
    Json,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether what is written to `out` is coloured.
    pub(crate) fn is_on(self, out: &impl IsTerminal) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                out.is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                    && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }
}
