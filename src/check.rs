//! `cfgc check`: compile, mend, report.
mod configurations;
mod inputs;
mod mending;
mod preview;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Error, Result, bail};
use compiler::{
    Compiled,
    finding::{self, Level},
    fix::{self, Mended, Safety},
};

use crate::{
    args::{Check, Color},
    files::Given,
    report::{self, Look, Report, Style, Summary, complain},
    rewrite,
};
use configurations::{Configuration, Configurations};
use inputs::Input;
use preview::{Preview, Subject};

/// Checks each file by itself: 0 nothing found, 1 something, 2 a file could not be read or mended.
///
/// # Errors
/// The levels or settings are at fault (nothing is checked then), or nothing can be printed.
pub(crate) fn run(args: &Check, color: Color) -> Result<ExitCode> {
    args.levels.validate()?;
    if let Some(format) = args.format.without_statistics().filter(|_| args.statistics) {
        bail!("`--format {format}` has no place for `--statistics`: leave it out, or use `--format json`");
    }
    let inputs = inputs::find(&args.files, &args.reading);
    if args.reading.stdin_filename.is_some() && !inputs.iter().any(Input::is_stdin) {
        bail!("`--stdin-filename` is for standard input, which is read where a file is called `-`");
    }
    let configurations = Configurations::new(args, &inputs)?;
    // The fixed text of standard input, or what would change, has standard output for itself.
    let is_filter = args.fixing.diff || args.fixes() && inputs.iter().any(Input::is_stdin);
    let (out, style): (Box<dyn Write>, Style) = if is_filter {
        (Box::new(io::stderr()), Style::of(color, &io::stderr()))
    } else {
        (Box::new(report::stdout()), Style::of(color, &io::stdout()))
    };
    let report = Report::new(args.format, style, args.deny_warnings);
    let mut checker = Checker {
        args,
        configurations: &configurations,
        out,
        report,
        summary: Summary::default(),
        preview: Preview::default(),
        differs: false,
        look: Look::of_stdout(color),
    };
    let checked = configurations.all.iter().try_for_each(|one| checker.check(one)).map_err(Error::new);
    let fixed = if args.fixing.diff { 0 } else { checker.summary.fixed };
    let done = checked.and_then(|()| checker.finish());
    // Files are as they are to be, but nobody is told.
    done.map_err(
        |error| if fixed > 0 { error.context(format!("{fixed} fixed, but not reported")) } else { error },
    )
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
    configurations: &'a Configurations<'a>,
    out: Box<dyn Write>,
    report: Report,
    summary: Summary,
    preview: Preview,
    /// Something would change.
    differs: bool,
    /// What differences on standard output look like.
    look: Look,
}

impl Checker<'_> {
    /// Checks one configuration; that it can't be read is told.
    fn check(&mut self, one: &Configuration<'_>) -> io::Result<()> {
        let input = one.input;
        let reading = &self.args.reading;
        if let Some(fault) = &input.fault {
            return self.failed(self.args.name(input), &Error::msg(fault.clone()));
        }
        let name = reading.stdin_filename.as_deref().filter(|_| input.is_stdin());
        let given = match Given::read(&input.path, &reading.image) {
            Ok(given) => given.named(name),
            Err(error) => return self.failed(self.args.name(input), &error),
        };
        let configurations = self.configurations;
        let others = configurations.others(one);
        let mut subject = Subject {
            given: &given,
            is_stdin: input.is_stdin(),
            compile: &|files| configurations.compile(one, &given.path, files),
            others: &others,
            done: None,
        };
        self.summary.configurations += 1;
        let mut compiled =
            if self.args.fixes() { self.mend(&mut subject)? } else { (subject.compile)(&given) };
        self.preview.count(&subject, &mut compiled, &mut self.summary);
        self.summary.read(&compiled.sources, &given);
        compiled.findings.iter().for_each(|finding| self.summary.count(finding));
        if !self.args.fixing.diff {
            let findings = finding::group(compiled.findings);
            self.report.findings(&mut *self.out, &compiled.sources, &findings)?;
        }
        Ok(())
    }

    /// Makes the fixes, or says what they would change; what is still found then is returned.
    fn mend(&mut self, subject: &mut Subject<'_>) -> io::Result<Compiled> {
        let Subject { given, compile, others, .. } = *subject;
        let allowed = if self.args.fixing.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
        // What is only shown is not read again from the disk by the next configuration.
        let mended = if self.args.fixing.diff {
            fix::mend(&self.preview.of(allowed).over(given), compile, others, allowed)
        } else {
            fix::mend(given, compile, others, allowed)
        };
        if let Err(error) = self.make(&mended, subject, allowed)? {
            self.failed(&given.path, &error)?;
            // Nothing is mended, so all that was found is there.
            return Ok(compile(&mending::before(mended, given)));
        }
        subject.done = Some(allowed);
        self.summary.fixed += mended.made.len() as u64;
        self.summary.left_untried(mended.ran_out);
        Ok(mended.compiled)
    }

    /// Writes what was mended and says so, or says what would change. The inner error says why it is not written, or would not be.
    fn make(&mut self, mended: &Mended, subject: &Subject<'_>, allowed: Safety) -> io::Result<Result<()>> {
        let Subject { given, is_stdin, .. } = *subject;
        if !self.args.fixing.diff {
            let written = mending::write(mended, given, is_stdin);
            if written.is_ok() {
                self.report.mended(&mut *self.out, mended)?;
            }
            return Ok(written);
        }
        if let Some((path, why)) = mending::refusal(&mended.changed, given, is_stdin) {
            return Ok(Err(Error::msg(why).context(rewrite::unwritten(&path))));
        }
        self.preview.of(allowed).add(given, &mended.changed);
        self.difference(mended)?;
        for line in report::withheld(mended) {
            writeln!(self.out, "{line}")?;
        }
        Ok(Ok(()))
    }

    /// Prints what would change.
    fn difference(&mut self, mended: &Mended) -> io::Result<()> {
        let mut stdout = report::stdout();
        for (path, changed) in &mended.changed {
            report::unified(&mut stdout, &mended.compiled, path, changed, self.look)?;
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
