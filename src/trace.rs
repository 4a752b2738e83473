//! `cfgc trace`: why a request is decided as it is.
use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use compiler::{
    policy::Policy,
    query::{Query, QueryError, Words},
    trace,
};

use crate::{
    args::{Color, Trace},
    files::Given,
    password,
    report::{self, trace as print},
};

/// Prints the way of one request through the configuration: 0 whatever becomes of the request, 2 if there is nothing to explain.
pub(crate) fn run(args: &Trace, color: Color) -> Result<ExitCode> {
    let is_stdin = args.file.as_os_str() == "-";
    if is_stdin && args.password_stdin {
        bail!("the configuration and the password can't both be standard input");
    }
    let given = Given::read(&args.file, &args.image)?;
    let compiled = given.compile();
    if let Some(why) = report::guess(&args.file, &compiled, Some(&args.image)) {
        report::complain(&why);
    }
    let policy = Policy::compile(&compiled.program);
    let words = Words {
        service: args.service.as_deref(),
        user: args.user.as_deref(),
        from: Some(&args.from),
        to: args.to.as_deref(),
        op: args.op.as_deref(),
        at: args.at.as_deref(),
        resolve: args.resolve.as_deref(),
    };
    let mut query =
        Query::read(&compiled.sources, &compiled.program, &words).map_err(|error| told(&error))?;
    if args.password_stdin {
        query.password = Some(password::line(io::stdin().lock())?);
    }
    let trace = trace::explain(&policy, &query);
    let mut out = report::stdout();
    let subject =
        print::Subject { sources: &compiled.sources, policy: &policy, query: &query, trace: &trace };
    if args.json {
        subject.json(&mut out)?;
    } else {
        subject.text(&mut out, color.is_on(&io::stdout()))?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// An error with the option that it is about, and what to write.
fn told(error: &QueryError) -> anyhow::Error {
    let help = error.help.as_ref().map(|help| format!(": {help}")).unwrap_or_default();
    anyhow::anyhow!("--{}: {}{help}", error.part.name(), error.message)
}
