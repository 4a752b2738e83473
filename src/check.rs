//! `cfgc check`: compile, report.
use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use compiler::finding::{self, Level};

use crate::{
    args::{Check, Color},
    files::Given,
    report::{self, Report, Summary},
};

/// Checks each file by itself: 0 nothing found, 1 something, 2 a file could not be read.
pub(crate) fn run(args: &Check, color: Color) -> Result<ExitCode> {
    args.levels.validate()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut report = Report::new(args.format, color.is_on(&io::stdout()));
    let mut summary = Summary::default();
    let mut unread = false;
    for path in &args.files {
        let given = match Given::read(path) {
            Ok(given) => given,
            Err(error) => {
                report::complain(&format!("{error:#}"));
                unread = true;
                continue;
            }
        };
        let compiled = compiler::compile(&given.path, &given);
        let findings = args.levels.apply(compiled.findings);
        summary.files += 1;
        for finding in &findings {
            let counter =
                if finding.level == Level::Deny { &mut summary.denied } else { &mut summary.warned };
            *counter += u64::from(finding.count);
        }
        report.findings(&mut out, &compiled.sources, &finding::group(findings))?;
    }
    report.finish(&mut out, summary)?;
    out.flush()?;
    let found = summary.denied > 0 || args.deny_warnings && summary.warned > 0;
    Ok(ExitCode::from(if unread { 2 } else { u8::from(found) }))
}
