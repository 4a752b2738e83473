//! The configurations of a run, with what counts for each: its settings, and which of the others read its files.
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::Result;
use compiler::{
    Compiled,
    fix::{Known, Other},
    options::CompileOptions,
    sources::{Files, Loc, Sources},
};

use super::inputs::Input;
use crate::{
    args::Check,
    levels::{RuleLevels, leveled},
    settings::{Origin, Settings, SettingsFiles},
};

pub(super) struct Configurations<'a> {
    args: &'a Check,
    levels: RuleLevels,
    pub(super) all: Vec<Configuration<'a>>,
}

pub(super) struct Configuration<'a> {
    pub(super) input: &'a Input,
    settings: Rc<Settings>,
    /// The places of the files that it reads, where others are to know; none of what can be read once only.
    reads: BTreeSet<PathBuf>,
    known: Known,
}

impl<'a> Configurations<'a> {
    /// With the settings of each: all of them, before anything is printed.
    ///
    /// # Errors
    /// Settings are at fault.
    pub(super) fn new(args: &'a Check, inputs: &'a [Input]) -> Result<Self> {
        let mut files = SettingsFiles::new(match &args.reading.config {
            Some(file) => Origin::File(file.clone()),
            None if args.reading.no_config => Origin::Nowhere,
            None => Origin::Found,
        });
        let is_alone = inputs.len() < 2;
        let configuration = |input: &'a Input| {
            let reads = if is_alone { BTreeSet::new() } else { input.reads(&args.reading) };
            Ok(Configuration { input, settings: files.of(args.name(input))?, reads, known: Known::default() })
        };
        let all = inputs.iter().map(configuration).collect::<Result<_>>()?;
        Ok(Self { args, levels: args.levels.asked(), all })
    }

    /// Compiles one that is called `path`, and leaves the findings that count.
    pub(super) fn compile(&self, one: &Configuration<'_>, path: &Path, files: &dyn Files) -> Compiled {
        let Configuration { settings, .. } = one;
        let reading = &self.args.reading;
        let options = CompileOptions {
            runner: settings.runner,
            allowances: settings.allowances,
            includes: !reading.no_includes,
            root: reading.image.root.clone(),
            template: reading.template.into(),
            ..CompileOptions::default()
        };
        let mut compiled = compiler::compile_with(path, files, &options);
        let Compiled { sources, findings, .. } = &mut compiled;
        *findings = leveled(std::mem::take(findings), |finding| {
            self.levels.of(finding).or_else(|| settings.level(finding, path_of(sources, finding.at)))
        });
        compiled
    }

    /// The other ones, which fixes of this one may concern.
    pub(super) fn others(&self, one: &Configuration<'_>) -> Vec<Other<'_>> {
        let is_other =
            |other: &&Configuration<'_>| !std::ptr::eq(other.input, one.input) && !other.reads.is_empty();
        self.all.iter().filter(is_other).map(|other| self.other(other)).collect()
    }

    fn other<'s>(&'s self, other: &'s Configuration<'_>) -> Other<'s> {
        Other {
            path: &other.input.path,
            reads: &other.reads,
            known: &other.known,
            compile: Box::new(move |files: &dyn Files| self.compile(other, &other.input.path, files)),
        }
    }
}

/// The file that a place is in.
fn path_of(sources: &Sources, at: Loc) -> &Path {
    sources.get(at.file).map_or(Path::new(""), |source| &source.path)
}
