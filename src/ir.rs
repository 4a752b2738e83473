//! `cfgc ir`: what a configuration compiles to.
use std::{io::Write, process::ExitCode};

use anyhow::Result;
use compiler::policy::Policy;

use crate::{args::Ir, files::Given, report};

/// Prints the Program and the sizes of its tables: 0, or 1 if 3proxy refuses the configuration, so that it is not whole.
pub(crate) fn run(args: &Ir) -> Result<ExitCode> {
    let given = Given::read(&args.file, &args.image)?;
    let compiled = given.compile();
    let policy = Policy::compile(&compiled.program);
    let mut out = report::stdout();
    report::ir::write(&mut out, &compiled.sources, &policy)?;
    out.flush()?;
    let guess = report::guess(&args.file, &compiled, Some(&args.image));
    guess.iter().for_each(|why| report::complain(why));
    Ok(ExitCode::from(u8::from(guess.is_some())))
}
