//! `cfgc check`: compile, mend, report.
mod foresight;
mod inputs;
mod mending;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
    rc::Rc,
};

use anyhow::{Error, Result};
use compiler::{
    Compiled,
    finding::{self, Level},
    fix::{self, Mended, Safety},
    options::CompileOptions,
    sources::{Files, Loc, Sources},
};

use crate::{
    args::{Check, Color},
    files::Given,
    levels::{RuleLevels, leveled},
    report::{self, Report, Style, Summary, complain},
    settings::{Origin, Settings, SettingsFiles},
};
use foresight::Foresight;
use inputs::Input;

/// Checks each file by itself: 0 nothing found, 1 something, 2 a file could not be read or mended.
///
/// # Errors
/// The levels or settings are at fault (nothing is checked then), or nothing can be printed.
pub(crate) fn run(args: &Check, color: Color) -> Result<ExitCode> {
    args.levels.validate()?;
    let inputs = inputs::find(&args.files, &args.reading);
    let all_settings = settings(args, &inputs)?;
    // The fixed text of standard input, or what would change, has standard output for itself.
    let is_filter = args.fixing.diff || args.fixes() && inputs.iter().any(Input::is_stdin);
    let (out, style): (Box<dyn Write>, Style) = if is_filter {
        (Box::new(io::stderr()), Style::of(color, &io::stderr()))
    } else {
        (Box::new(io::BufWriter::new(io::stdout().lock())), Style::of(color, &io::stdout()))
    };
    let report = Report::new(args.format, style, args.deny_warnings);
    let mut checker = Checker {
        args,
        levels: Rc::new(args.levels.asked()),
        out,
        report,
        summary: Summary::default(),
        foresight: Foresight::default(),
        differs: false,
        color: color.is_on(&io::stdout()),
    };
    for (input, settings) in inputs.iter().zip(all_settings) {
        checker.check(input, &settings)?;
    }
    checker.finish()
}

/// The settings of each input: all of them, before anything is printed.
fn settings(args: &Check, inputs: &[Input]) -> Result<Vec<Rc<Settings>>> {
    let mut files = SettingsFiles::new(match &args.reading.config {
        Some(file) => Origin::File(file.clone()),
        None if args.reading.no_config => Origin::Nowhere,
        None => Origin::Found,
    });
    inputs.iter().map(|input| files.of(args.name(input))).collect()
}

impl Check {
    fn fixes(&self) -> bool {
        self.fixing.fix || self.fixing.unsafe_fixes || self.fixing.diff
    }

    /// What an input is called.
    fn name<'a>(&'a self, input: &'a Input) -> &'a Path {
        let given = self.reading.stdin_filename.as_deref().filter(|_| input.is_stdin());
        given.unwrap_or(&input.path)
    }
}

/// A check under way.
struct Checker<'a> {
    args: &'a Check,
    levels: Rc<RuleLevels>,
    out: Box<dyn Write>,
    report: Report,
    summary: Summary,
    foresight: Foresight,
    /// Something would change.
    differs: bool,
    /// What goes to standard output is coloured.
    color: bool,
}

impl Checker<'_> {
    /// Checks one configuration; that it can't be read is told.
    fn check(&mut self, input: &Input, settings: &Settings) -> io::Result<()> {
        let reading = &self.args.reading;
        if let Some(fault) = &input.fault {
            return self.failed(self.args.name(input), &Error::msg(fault.clone()));
        }
        let name = reading.stdin_filename.as_deref().filter(|_| input.is_stdin());
        let given = match Given::read(&input.path) {
            Ok(given) => given.named(name),
            Err(error) => return self.failed(self.args.name(input), &error),
        };
        let options = CompileOptions {
            runner: settings.runner,
            allowances: settings.allowances,
            includes: !reading.no_includes,
            root: reading.image.root.clone(),
            template: reading.template.into(),
            ..CompileOptions::default()
        };
        let levels = Rc::clone(&self.levels);
        let compile = |files: &dyn Files| {
            let mut compiled = compiler::compile_with(&given.path, files, &options);
            let Compiled { sources, findings, .. } = &mut compiled;
            *findings = leveled(std::mem::take(findings), |finding| {
                let own = levels.of(finding);
                own.or_else(|| settings.level(finding, path(sources, finding.at)))
            });
            compiled
        };
        self.summary.configurations += 1;
        let mut compiled =
            if self.args.fixes() { self.mend(input, &given, &compile)? } else { compile(&given) };
        self.foresight.count(&given, &compile, &mut compiled, &mut self.summary);
        self.summary.read(&compiled.sources);
        compiled.findings.iter().for_each(|finding| self.summary.count(finding));
        if !self.args.fixing.diff {
            let findings = finding::group(compiled.findings);
            self.report.findings(&mut *self.out, &compiled.sources, &findings)?;
        }
        Ok(())
    }

    /// Makes the fixes, or says what they would change; what is still found then is returned.
    fn mend(
        &mut self,
        input: &Input,
        given: &Given,
        compile: &dyn Fn(&dyn Files) -> Compiled,
    ) -> io::Result<Compiled> {
        let allowed = if self.args.fixing.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
        // What is only shown is not read again from the disk by the next configuration.
        let planned = self.args.fixing.diff.then(|| self.foresight.of(allowed));
        let mended = match &planned {
            Some(planned) => fix::mend(&planned.over(given), compile, allowed),
            None => fix::mend(given, compile, allowed),
        };
        if let Some(planned) = planned {
            planned.add(&mended.changed);
            self.difference(&mended)?;
            for line in report::withheld(&mended) {
                writeln!(self.out, "{line}")?;
            }
        } else if let Err(error) = mending::write(&mended, &given.path, input.is_stdin()) {
            self.failed(&given.path, &error)?;
            // Nothing is mended, so all that was found is there.
            return Ok(compile(&mending::before(mended, &given.path)));
        } else {
            self.report.mended(&mut *self.out, &mended)?;
        }
        self.summary.fixed += mended.made.len() as u64;
        Ok(mended.compiled)
    }

    /// Prints what would change.
    fn difference(&mut self, mended: &Mended) -> io::Result<()> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        for (path, changed) in &mended.changed {
            report::unified(&mut stdout, &mended.compiled, path, changed, self.color)?;
        }
        self.differs |= !mended.changed.is_empty();
        stdout.flush()
    }

    fn failed(&mut self, path: &Path, error: &Error) -> io::Result<()> {
        self.summary.failed += 1;
        self.report.failed(&mut *self.out, path, &format!("{error:#}"))
    }

    /// The end of the report, and the exit status.
    fn finish(mut self) -> Result<ExitCode> {
        let found = self.summary.at(Level::Deny) > 0
            || self.args.deny_warnings && self.summary.at(Level::Warn) > 0
            || self.differs;
        if self.args.fixing.diff {
            self.summary.planned = true;
            complain(&self.summary.to_string());
        } else {
            self.report.finish(&mut *self.out, &self.summary, self.args.statistics)?;
        }
        self.out.flush()?;
        Ok(ExitCode::from(if self.summary.failed > 0 { 2 } else { u8::from(found) }))
    }
}

/// The file that a place is in.
fn path(sources: &Sources, at: Loc) -> &Path {
    sources.get(at.file).map_or(Path::new(""), |source| &source.path)
}
