//! `cfgc doctor`: whether this host can bear a configuration.
//!
//! Reading order: `load` (what the configuration asks of a host), `host` (what a host says of itself), `examination` (what is found),
//! then a file for each subject. Nothing here but `host` and `probe` touches the machine: tests examine recorded hosts.
mod addresses;
mod certificates;
pub(crate) mod checks;
pub(crate) mod examination;
mod files;
mod host;
mod limits;
mod load;
mod network;
mod offload;
mod places;
mod ports;
mod probe;
#[cfg(test)]
mod tests;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use compiler::{finding::Level, options::Runner};
use examination::{Examination, Subject};
use host::{Host, Machine};

use crate::{
    args::{Color, Doctor, Image, ServedBy},
    files::Given,
    names,
    report::{self, complain},
    settings::{Origin, SettingsFiles},
};

/// Examines the host: 0 if nothing is wrong, 1 if something is, with the host or since 3proxy refuses the configuration; 2 if that can't be
/// read.
pub(crate) fn run(args: &Doctor, color: Color) -> Result<ExitCode> {
    args.allow.iter().try_for_each(|name| names::check(name))?;
    if let Some(id) = args.pid
        && Machine.read(format!("/proc/{id}/limits").as_ref()).is_err()
    {
        bail!("there is no process {id} here, or its limits can't be read");
    }
    let given = Given::read(&args.file, &Image::default())?;
    let compiled = given.compile();
    let guess = report::guess(&args.file, &compiled, None);
    guess.iter().for_each(|why| complain(why));
    if compiled.program.services.is_empty() {
        complain("the configuration has no service, so there is little to examine");
    }
    let subject = Subject {
        sources: &compiled.sources,
        program: &compiled.program,
        served_by: served_by(args)?,
        process: args.pid,
    };
    let mut examination = examine(subject, &Machine);
    if args.probe {
        probe::examine(&mut examination);
    }
    let mut out = report::stdout();
    let outcome = examination.finish().without(&args.allow);
    if args.json {
        report::doctor::json(&mut out, &compiled.sources, &outcome)?;
    } else {
        report::doctor::text(&mut out, &compiled.sources, &outcome, color.is_on(&io::stdout()))?;
    }
    out.flush()?;
    let bad = |level| level == Level::Deny || args.deny_warnings;
    let found = outcome.found.iter().any(|diagnosis| bad(diagnosis.finding.level));
    Ok(ExitCode::from(u8::from(found || guess.is_some())))
}

/// Who serves the configuration, as the command line or `cfgc.toml` says.
fn served_by(args: &Doctor) -> Result<ServedBy> {
    if let Some(target) = args.target {
        return Ok(target);
    }
    let settings = SettingsFiles::new(Origin::Found).of(&args.file)?;
    Ok(if settings.runner == Runner::Cfgc { ServedBy::Cfgc } else { ServedBy::ThreeProxy })
}

/// Everything but what asks other hosts.
fn examine<'a>(subject: Subject<'a>, host: &'a dyn Host) -> Examination<'a> {
    let mut examination = Examination::new(subject, host);
    if !subject.program.services.is_empty() {
        limits::examine(&mut examination);
        network::examine(&mut examination);
        ports::examine(&mut examination);
        offload::examine(&mut examination);
    }
    addresses::examine(&mut examination);
    files::examine(&mut examination);
    places::examine(&mut examination);
    certificates::examine(&mut examination);
    examination
}
