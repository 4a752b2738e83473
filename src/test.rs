//! `cfgc test`: asks a configuration what its tests say.
use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use compiler::{
    Compiled,
    policy::Policy,
    suite::{Suite, SuiteError, coverage},
};

use crate::{
    args::{Color, Format, Image, Test},
    files::Given,
    report::{
        self, Report, complain,
        suite::{Results, SuiteFile},
    },
};

/// Runs the tests of each file: exit status 0 if all pass, 1 if one fails, 2 if they can't be run.
///
/// # Errors
/// Why they can't be run, where that is no fault of a line: a file can't be read, no test has a name like the filter.
pub(crate) fn run(args: &Test, color: Color) -> Result<ExitCode> {
    let given = Given::read(&args.file, &args.image)?;
    let compiled = given.compile();
    if compiled.findings.iter().any(|finding| finding.refused) {
        if text(&args.file).is_ok_and(|text| Suite::read(&text).is_ok()) {
            let file = args.file.display();
            bail!("`{file}` holds tests, not a configuration: write the configuration first, then `{file}`");
        }
        return refuse(compiled, color);
    }
    let policy = Policy::compile(&compiled.program);
    let Some(suites) = read(args)? else { return Ok(ExitCode::from(2)) };
    let wanted =
        |name: &str| args.filter.is_empty() || args.filter.iter().any(|part| name.contains(part.as_str()));
    let (mut files, mut is_broken) = (Vec::new(), false);
    for (path, suite) in &suites {
        match suite.run(&compiled, &policy, wanted) {
            Ok(ran) => files.push(SuiteFile { path, tests: suite.tests.len(), ran }),
            Err(errors) => {
                show(path, &errors);
                is_broken = true;
            }
        }
    }
    if is_broken {
        return Ok(ExitCode::from(2));
    }
    if files.iter().all(|file| file.ran.is_empty()) {
        bail!("no test has a name that contains `{}`", args.filter.join("` or `"));
    }
    let coverage =
        args.coverage.then(|| coverage::of(&compiled.program, files.iter().flat_map(|file| &file.ran)));
    let results = Results { compiled: &compiled, files: &files, coverage: coverage.as_deref() };
    let mut out = report::stdout();
    report::suite::write(&mut out, &results, args.format, color.is_on(&io::stdout()))?;
    out.flush()?;
    Ok(ExitCode::from(u8::from(results.failed() > 0)))
}

/// The suites; `None`: a file is none, which was told.
fn read(args: &Test) -> Result<Option<Vec<(String, Suite)>>> {
    let mut suites = Vec::new();
    let mut is_broken = false;
    for path in &args.tests {
        let shown = path.display().to_string();
        match Suite::read(&text(path)?) {
            Ok(suite) => suites.push((shown, suite)),
            Err(errors) => {
                show(&shown, &errors);
                is_broken = true;
            }
        }
    }
    Ok((!is_broken).then_some(suites))
}

fn text(path: &Path) -> Result<String> {
    let bytes = Given::read(path, &Image::default())?.into_text();
    String::from_utf8(bytes).with_context(|| format!("`{}` is no text in UTF-8", path.display()))
}

/// 3proxy would not load it: then it decides nothing that could be tested.
fn refuse(mut compiled: Compiled, color: Color) -> Result<ExitCode> {
    compiled.findings.retain(|finding| finding.refused);
    let mut out = io::stderr().lock();
    let mut report = Report::new(Format::Text, color.is_on(&io::stderr()), false);
    report.findings(&mut out, &compiled.sources, &compiled.findings)?;
    let hint = report::root_hint(&compiled).unwrap_or("run `cfgc check` for details");
    bail!("3proxy would reject this configuration, so its tests were not run; {hint}")
}

/// Says on standard error what is wrong with the lines of a test file.
fn show(path: &str, errors: &[SuiteError]) {
    for error in errors {
        let help = error.help.as_ref().map(|help| format!("; {help}")).unwrap_or_default();
        complain(&format!("{path}:{}:{}: {}{help}", error.at.line, error.at.column, error.message));
    }
}
