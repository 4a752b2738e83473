//! The command line.
use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use clap::{Parser, Subcommand, ValueEnum};
use compiler::options;

use crate::{files, levels::Levels};

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
    /// Report what is wrong with configurations: exit status 0 if nothing is, 1 if something is, 2 if one can't be read.
    Check(Check),
    /// Serve a configuration, until a signal ends it: exit status 1 if it is refused, 2 if it can't be served.
    Run(Run),
    /// Explain why a request is allowed or refused, and which way it goes: exit status 0, or 2 if it can't be explained.
    Trace(Trace),
    /// Run policy tests against a configuration: exit status 0 if all pass, 1 if one fails, 2 if they can't be run.
    Test(Test),
    /// Print what a configuration compiles to: exit status 1 if 3proxy refuses it.
    Ir(Ir),
    /// Show what changes between two configurations: services, settings, users, and which requests are decided differently. Exit status 0,
    /// or 2 if one can't be read or 3proxy would reject it: the answer then covers only what could be read.
    Diff(Diff),
    /// Format configurations in place: one space between words, quotes only where they are needed. Exit status 0, or 2 if
    /// one can't be read.
    Fmt(Fmt),
    /// Check whether this host can run a configuration: exit status 0 if it can, 1 if something is wrong or 3proxy refuses it, 2 if it
    /// can't be read.
    Doctor(Doctor),
    /// Hash a password for a `users` line, or check one: exit status 0 if it is right, 1 if it is wrong.
    Crypt(Crypt),
    /// Print the documentation of a rule, a group of rules or a check of `cfgc doctor`, or the list of them.
    Explain(Explain),
    /// List the rules of `cfgc check`: level, group, whether they have a fix, and what they find.
    Rules(Rules),
    /// Print a script that completes cfgc's command line in a shell.
    Completions(Completions),
    /// Write the manual pages of all commands into a folder.
    Man(Man),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// The configurations; `-` is standard input. Of a folder, the files in it and below that look like one.
    #[arg(value_name = "FILE", default_value = ".")]
    pub(crate) files: Vec<PathBuf>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Count the findings of each rule. Not with the formats `sarif` and `junit`, which have no place for it.
    #[arg(long)]
    pub(crate) statistics: bool,
    /// Exit with 1 on warnings too.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    #[command(flatten)]
    pub(crate) fixing: Fixing,
    #[command(flatten)]
    pub(crate) reading: Reading,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

/// Which fixes are applied.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fixes")]
pub(crate) struct Fixing {
    /// Apply safe fixes, in included files too, and report what is left. The fixed text of standard input goes to
    /// standard output.
    #[arg(long)]
    pub(crate) fix: bool,
    /// As `--fix`, and also apply fixes that may change what the configuration does.
    #[arg(long)]
    pub(crate) unsafe_fixes: bool,
    /// Print what would change instead, without secrets: exit status 1 if something would, or if something is denied that can't be
    /// fixed. Not with `--format` and `--statistics`: there is no report then.
    #[arg(long, conflicts_with_all = ["format", "statistics"])]
    pub(crate) diff: bool,
}

/// How configurations are read.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// The file name of standard input, for findings and settings.
    #[arg(long, value_name = "FILE")]
    pub(crate) stdin_filename: Option<PathBuf>,
    /// Read settings from this file, not from the `cfgc.toml` in a configuration's folder or above it.
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    pub(crate) config: Option<PathBuf>,
    /// Read no settings from any file.
    #[arg(long)]
    pub(crate) no_config: bool,
    #[command(flatten)]
    pub(crate) image: Image,
    /// Read no included files.
    #[arg(long, conflicts_with = "root")]
    pub(crate) no_includes: bool,
    /// Whether a file is a template, from which configurations are made: `{{ port }}`, `${PORT}` and the like are then unknown
    /// values, not errors. `auto`: a file is a template if it contains such markers, or if its name says so, as `.j2`, `.tmpl` and `.in` do.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, default_missing_value = "yes", num_args = 0..=1, require_equals = true)]
    pub(crate) template: Template,
}

/// Where included files are.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Image {
    /// Look up absolute paths of included files in this folder, such as that of an image or a chroot.
    #[arg(long, value_name = "DIR", value_parser = folder)]
    pub(crate) root: Option<PathBuf>,
}

/// A folder that is there, in the form in which the paths of files in it are shown.
fn folder(word: &str) -> Result<PathBuf, &'static str> {
    let path = Path::new(word);
    if path.is_dir() {
        return Ok(files::plain(path));
    }
    Err(if path.exists() { "it is not a folder" } else { "there is no such folder" })
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    #[default]
    Auto,
    Yes,
    No,
}

impl From<Template> for options::Template {
    fn from(template: Template) -> Self {
        match template {
            Template::Auto => Self::Auto,
            Template::Yes => Self::Yes,
            Template::No => Self::No,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct Fmt {
    /// The configurations; included files are not changed. Standard input (`-`) goes to standard output.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// List the files that would change instead: exit status 1 if there are any.
    #[arg(long, conflicts_with = "diff")]
    pub(crate) check: bool,
    /// Print what would change instead, without secrets: exit status 1 if something would.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Whether a file is a template, from which configurations are made: lines with `{{ port }}`, `${PORT}` and the like stay as they
    /// are. `auto`: a file is a template if it contains such markers, or if its name says so, as `.j2`, `.tmpl` and `.in` do.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, default_missing_value = "yes", num_args = 0..=1, require_equals = true)]
    pub(crate) template: Template,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// The configuration. It is a file, which is read again on a reload: not standard input.
    pub(crate) file: PathBuf,
    /// Reload on signals only, not when a file of the configuration changes.
    #[arg(long)]
    pub(crate) no_watch: bool,
    #[command(flatten)]
    pub(crate) levels: Levels,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Trace {
    /// The configuration; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The service that is asked: `socks`, `1080`, `socks:1080`, `socks:127.0.0.1:1080` or `@LINE`. Not needed if there is only one.
    #[arg(long)]
    pub(crate) service: Option<String>,
    /// The client's address.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: String,
    /// The user name that the client gives; its password is assumed to be right. Without it the client gives no name.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Read the password that the client gives from standard input.
    #[arg(long, requires = "user")]
    pub(crate) password_stdin: bool,
    /// What the client wants to reach; of `dnspr`, the name that it asks for. Not needed where the service fixes it.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) to: Option<String>,
    /// What it wants to do there, as an entry lists it: `CONNECT`, `BIND`, `HTTP_GET` … Without it: what clients mostly do.
    #[arg(long, value_name = "OPERATION")]
    pub(crate) op: Option<String>,
    /// The time of the request, local: `Mon 09:30`. Without it every outcome is shown, if the time matters.
    #[arg(long, value_name = "MOMENT")]
    pub(crate) at: Option<String>,
    /// What the target's name resolves to, or `none`. No name server is asked: without it every outcome is shown, if that matters.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) resolve: Option<String>,
    #[command(flatten)]
    pub(crate) image: Image,
    /// Print JSON: see docs/json.md.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Test {
    /// The configuration; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The tests: see docs/policy-tests.md.
    #[arg(required = true, value_name = "TESTS")]
    pub(crate) tests: Vec<PathBuf>,
    /// Run only tests whose names contain this text; may be given more than once.
    #[arg(long, value_name = "TEXT")]
    pub(crate) filter: Vec<String>,
    /// List the entries that no test reaches.
    #[arg(long)]
    pub(crate) coverage: bool,
    #[command(flatten)]
    pub(crate) image: Image,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: SuiteFormat,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Ir {
    /// The configuration; `-` is standard input.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) image: Image,
    /// Print JSON: see docs/json.md. This is the only format, so the option may be left out.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Diff {
    /// The old configuration; `-` is standard input.
    pub(crate) old: PathBuf,
    /// The new configuration; `-` is standard input.
    pub(crate) new: PathBuf,
    #[command(flatten)]
    pub(crate) image: Image,
    /// Like `--root`, for the old configuration.
    #[arg(long, value_name = "DIR", value_parser = folder)]
    pub(crate) old_root: Option<PathBuf>,
    /// Print JSON: see docs/json.md.
    #[arg(long)]
    pub(crate) json: bool,
    /// Exit with 1 if something changes.
    #[arg(long)]
    pub(crate) exit_code: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// The configuration; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The program that serves it; by default the `target` of `cfgc.toml`, or else 3proxy.
    #[arg(long, value_enum)]
    pub(crate) target: Option<ServedBy>,
    /// Use the limits of this running process, instead of those of this shell.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Check whether parents, name servers and RADIUS servers answer: at most 3 seconds each, 30 in all.
    #[arg(long)]
    pub(crate) probe: bool,
    /// Do not report what this check finds; may be given more than once.
    #[arg(long, value_name = "CHECK")]
    pub(crate) allow: Vec<String>,
    /// Exit with 1 on warnings too.
    #[arg(long)]
    pub(crate) deny_warnings: bool,
    /// Print JSON: see docs/json.md.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServedBy {
    /// 3proxy: a thread for each connection.
    #[value(name = "3proxy")]
    ThreeProxy,
    /// `cfgc run`.
    Cfgc,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The password is typed on the terminal, or is the first line of standard input. It is never an argument: every user of the \
                  machine can read those."
)]
pub(crate) struct Crypt {
    /// How it is hashed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scheme: Scheme,
    /// Whose password it is: what is printed is a word for a `users` line, quoted since a `$` outside quotes names a file.
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// Compare the password with the one that this user has in the configuration; `-` is standard input.
    #[arg(long, value_name = "FILE", requires = "user", conflicts_with = "scheme")]
    pub(crate) check: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) image: Image,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheme {
    /// `$3$`: 3proxy's own. Quick to guess at.
    #[default]
    Blake2,
    /// `$1$`, as crypt makes it: slower to guess at, but older.
    Md5,
    /// As Windows keeps it. Quick to guess at, and equal passwords have equal hashes.
    Nt,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Explain {
    /// The rule, as it stands in brackets in a finding, a group of rules, or a word of their names; without it all are listed.
    pub(crate) rule: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell that reads it.
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// The folder; it is made if it is not there.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rules {
    /// Print JSON: see docs/json.md.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// The annotated source, for people.
    #[default]
    Text,
    /// `path:line:column: level[rule]: message`, for editors and grep.
    Short,
    /// Print JSON: see docs/json.md.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
    /// JUnit XML, for continuous integration.
    Junit,
}

impl Format {
    /// The name, if it has no place for the counts of `--statistics`.
    pub(crate) const fn without_statistics(self) -> Option<&'static str> {
        match self {
            Self::Text | Self::Short | Self::Json | Self::Github => None,
            Self::Sarif => Some("sarif"),
            Self::Junit => Some("junit"),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuiteFormat {
    /// What failed, with the entry that decided, for people.
    #[default]
    Text,
    /// Print JSON: see docs/json.md.
    Json,
    /// JUnit XML, for continuous integration.
    Junit,
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
