//! The `cfgc` command: the only code that prints or exits.
//!
//! Exit status: 0 done, 1 something was found, 2 it could not be done.
mod args;
mod check;
mod completions;
mod crypt;
mod diff;
mod doctor;
mod explain;
mod files;
mod fmt;
mod ir;
mod levels;
mod man;
mod names;
mod password;
mod report;
mod rewrite;
mod rules;
mod run;
mod settings;
mod test;
mod trace;

use std::{
    io::{self, ErrorKind, Write},
    process::ExitCode,
};

use args::{Args, Command};
use clap::Parser;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(told) => return tell(&told),
    };
    let done = match &args.command {
        Command::Check(check) => check::run(check, args.color),
        Command::Run(run) => run::run(run, args.color.is_on(&io::stderr())),
        Command::Trace(trace) => trace::run(trace, args.color),
        Command::Test(test) => test::run(test, args.color),
        Command::Ir(ir) => ir::run(ir),
        Command::Diff(diff) => diff::run(diff),
        Command::Crypt(crypt) => crypt::run(crypt),
        Command::Fmt(fmt) => fmt::run(fmt, args.color),
        Command::Doctor(doctor) => doctor::run(doctor, args.color),
        Command::Explain(explain) => explain::run(explain),
        Command::Completions(completions) => completions::run(completions),
        Command::Man(man) => man::run(man),
        Command::Rules(rules) => rules::run(rules),
    };
    done.unwrap_or_else(|error| fail(&error))
}

/// Prints the help that was asked for, or what is wrong with the arguments.
fn tell(told: &clap::Error) -> ExitCode {
    match told.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::from(u8::from(told.use_stderr()) * 2),
        Err(error) => fail(&report::unprinted(&error).into()),
    }
}

/// Says on standard error why it could not be done.
fn fail(error: &anyhow::Error) -> ExitCode {
    let source = error.downcast_ref::<io::Error>();
    // Who reads us has read enough: `cfgc check … | head`.
    if source.is_none_or(|error| error.kind() != ErrorKind::BrokenPipe) {
        report::complain(&format!("{error:#}"));
    }
    ExitCode::from(2)
}
