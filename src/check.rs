//! `cfgc check`: compile, mend, report.
mod inputs;

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
    options::Options,
    sources::{Files, Loc, Sources},
};

use crate::{
    args::{Check, Color},
    files::Given,
    levels::{Asked, leveled},
    report::{self, Report, Style, Summary, complain},
    rewrite::Rewrite,
    settings::{Houses, Origin, Settings},
};
use inputs::Input;

/// Checks each file by itself: 0 nothing found, 1 something, 2 a file could not be read or mended.
///
/// # Errors
/// The levels or settings are at fault, or nothing can be printed: nothing is checked then.
pub(crate) fn run(args: &Check, color: Color) -> Result<ExitCode> {
    args.levels.validate()?;
    let inputs = inputs::find(&args.files, &args.reading);
    let houses = settings(args, &inputs)?;
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
        asked: Rc::new(args.levels.asked()),
        out,
        report,
        summary: Summary::default(),
        differs: false,
        color: color.is_on(&io::stdout()),
    };
    for (input, settings) in inputs.iter().zip(houses) {
        if let Err(error) = checker.check(input, &settings) {
            checker.failed(args.name(input), &error)?;
        }
    }
    checker.finish()
}

/// The settings of each input: all of them, before anything is printed.
fn settings(args: &Check, inputs: &[Input]) -> Result<Vec<Rc<Settings>>> {
    let mut houses = Houses::new(match &args.reading.config {
        Some(file) => Origin::File(file.clone()),
        None if args.reading.no_config => Origin::Nowhere,
        None => Origin::Found,
    });
    inputs.iter().map(|input| houses.of(args.name(input))).collect()
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
    asked: Rc<Asked>,
    out: Box<dyn Write>,
    report: Report,
    summary: Summary,
    /// Something would change.
    differs: bool,
    /// What goes to standard output is coloured.
    color: bool,
}

impl Checker<'_> {
    /// Checks one configuration.
    fn check(&mut self, input: &Input, settings: &Settings) -> Result<()> {
        if let Some(fault) = &input.fault {
            return Err(Error::msg(fault.clone()));
        }
        let reading = &self.args.reading;
        let name = reading.stdin_filename.as_deref().filter(|_| input.is_stdin());
        let given = Given::read(&input.path)?.named(name);
        let options = Options {
            runner: settings.runner,
            allowances: settings.allowances,
            includes: !reading.no_includes,
            root: reading.image.root.clone(),
            template: reading.template.into(),
        };
        let asked = Rc::clone(&self.asked);
        let compile = |files: &dyn Files| {
            let mut compiled = compiler::compile_with(&given.path, files, &options);
            let Compiled { sources, findings, .. } = &mut compiled;
            *findings = leveled(std::mem::take(findings), |finding| {
                let own = asked.of(finding.rule);
                own.or_else(|| settings.level(finding.rule, path(sources, finding.at)))
            });
            compiled
        };
        self.summary.files += 1;
        let compiled = if self.args.fixes() {
            let allowed = if self.args.fixing.unsafe_fixes { Safety::Unsafe } else { Safety::Safe };
            let mended = fix::mend(&given, &compile, allowed);
            match self.write(input, &given.path, &mended) {
                Ok(()) => self.mended(mended)?,
                // Nothing is mended, so all that was found is there.
                Err(error) => {
                    self.failed(&given.path, &error)?;
                    compile(&Given::of(given.path.clone(), before(&given.path, mended)))
                }
            }
        } else {
            compile(&given)
        };
        compiled.findings.iter().for_each(|finding| self.summary.count(finding));
        if !self.args.fixing.diff {
            let findings = finding::group(compiled.findings);
            self.report.findings(&mut *self.out, &compiled.sources, &findings)?;
        }
        Ok(())
    }

    /// Writes what was mended, or what would be: all of it, or on an error none.
    fn write(&mut self, input: &Input, main: &Path, mended: &Mended) -> Result<()> {
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let mut rewrites = Vec::new();
        for (path, changed) in &mended.changed {
            if self.args.fixing.diff {
                self.differs = true;
                report::unified(&mut stdout, &mended.compiled, path, changed, self.color)?;
            } else if input.is_stdin() && path == main {
                stdout.write_all(&changed.after)?;
            } else {
                rewrites.push(Rewrite::prepare(path, &changed.before, &changed.after)?);
            }
        }
        if input.is_stdin() && !self.args.fixing.diff && !mended.changed.contains_key(main) {
            // Nothing is mended: what came goes out.
            stdout.write_all(main_text(mended))?;
        }
        stdout.flush()?;
        rewrites.into_iter().try_for_each(Rewrite::done)
    }

    /// Says what was mended; what is left is returned.
    fn mended(&mut self, mended: Mended) -> io::Result<Compiled> {
        self.summary.fixed += mended.made.len() as u64;
        if !self.args.fixing.diff {
            self.report.mended(&mut *self.out, &mended)?;
        }
        Ok(mended.compiled)
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

/// The text of the configuration itself, as it is now.
fn main_text(mended: &Mended) -> &[u8] {
    let main = mended.compiled.sources.iter().next();
    main.map(|(_, source)| &*source.text).unwrap_or_default()
}

/// The text of the configuration at `main` before it was mended.
fn before(main: &Path, mut mended: Mended) -> Vec<u8> {
    let changed = mended.changed.remove(main).map(|changed| changed.before);
    changed.unwrap_or_else(|| main_text(&mended).to_vec())
}

/// The file that a place is in.
fn path(sources: &Sources, at: Loc) -> &Path {
    sources.get(at.file).map_or(Path::new(""), |source| &source.path)
}
