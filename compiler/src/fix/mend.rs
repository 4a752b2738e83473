//! Makes fixes until there is none left that helps.
//!
//! A fix is made whole or not at all. Of two that touch, the first in the text is made, and the other is found again by the next
//! pass. What was made is compiled: a fix stays only if no rule finds more than before, so no fix leaves a fault that was not
//! seen before.
use std::{
    cell::RefCell,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use grammar::Span;

use super::{Edit, Safety, apply};
use crate::{
    Compiled,
    finding::Finding,
    sources::{Files, Sources},
};

/// Passes: each mends what the one before uncovered or had to leave.
const MOST_PASSES: u32 = 32;
/// Compilations in all: what a bad fix among many costs is found by halving.
const MOST_TRIES: u32 = 200;

/// Compilations to see which fixes can be offered.
const MOST_OFFERED: u32 = 24;
/// Texts of so many bytes in all are tried for that.
const LONGEST_TRIED: usize = 256 * 1024;

/// A configuration with fixes made.
#[derive(Debug)]
pub struct Mended {
    /// The configuration as it is now, with what is still found in it.
    pub compiled: Compiled,
    /// The files that changed, by the paths that the configuration has for them.
    pub changed: BTreeMap<PathBuf, Changed>,
    /// The fixes that were made, in order.
    pub made: Vec<Made>,
    /// The fixes that were not made, because something else would be found then.
    pub withheld: Vec<Withheld>,
}

/// A text before and after.
#[derive(Clone, PartialEq, Eq)]
pub struct Changed {
    /// As it was read.
    pub before: Vec<u8>,
    /// With all fixes.
    pub after: Vec<u8>,
}

/// Prints no text: it holds passwords.
impl std::fmt::Debug for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Changed").finish_non_exhaustive()
    }
}

/// A fix that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// Whose finding it mends.
    pub rule: &'static str,
    /// What it does.
    pub title: String,
    /// The file of the finding.
    pub path: PathBuf,
    /// The line of the finding when the fix was made, from 1.
    pub line: u32,
}

/// A fix that was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The fix.
    pub fix: Made,
    /// The rules that would find more then; none: its finding would stay.
    pub brings: Vec<&'static str>,
}

/// Makes the fixes that `compile` finds, `unsafe` ones too if they are `allowed`, until none is left that helps.
///
/// `compile` compiles the files that it is given, and leaves only the findings that count.
pub fn mend(files: &dyn Files, compile: &dyn Fn(&dyn Files) -> Compiled, allowed: Safety) -> Mended {
    let mut mender = Mender { files: Kept::over(files), compile, allowed, tries: 0 };
    let mut compiled = compile(&mender.files);
    let (mut made, mut withheld) = (Vec::new(), Vec::new());
    for _ in 0..MOST_PASSES {
        let pass = mender.pass(&compiled);
        withheld = pass.withheld;
        let Some(next) = pass.compiled else { break };
        made.extend(pass.made);
        compiled = next;
    }
    Mended { compiled, changed: mender.files.changed(), made, withheld }
}

/// Takes out the fixes that [`mend`] would not make, even on request: a report that shows one promises too much.
///
/// A safe fix brings no finding, so nothing is tried where all are. Of a text so long that trying takes longer than whoever only
/// wants to read the findings waits, all stay.
pub fn withhold(files: &dyn Files, compile: &dyn Fn(&dyn Files) -> Compiled, compiled: &mut Compiled) {
    let mut fixes = compiled.findings.iter().filter_map(|finding| finding.fix.as_ref());
    let bytes: usize = compiled.sources.iter().map(|(_, source)| source.text.len()).sum();
    if bytes > LONGEST_TRIED || fixes.all(|fix| fix.safety == Safety::Safe) {
        return;
    }
    let tries = MOST_TRIES - MOST_OFFERED;
    let mut mender = Mender { files: Kept::over(files), compile, allowed: Safety::Unsafe, tries };
    let withheld = mender.pass(compiled).withheld;
    let Compiled { sources, findings, .. } = compiled;
    for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
        let fix = described(sources, finding);
        if withheld.iter().any(|withheld| withheld.fix == fix) {
            finding.fix = None;
        }
    }
}

/// What one pass did.
#[derive(Default)]
struct Pass {
    /// With the fixes made; `None`: none was.
    compiled: Option<Compiled>,
    made: Vec<Made>,
    withheld: Vec<Withheld>,
}

struct Mender<'a> {
    files: Kept<'a>,
    compile: &'a dyn Fn(&dyn Files) -> Compiled,
    allowed: Safety,
    tries: u32,
}

impl Mender<'_> {
    /// Makes those fixes of `now`'s findings that stand apart.
    fn pass(&mut self, now: &Compiled) -> Pass {
        let mut chosen = apart(now, self.allowed);
        // What one rule's fixes bring, they bring together: halving finds them soon.
        chosen.sort_by_key(|finding| finding.rule);
        let mut attempt = Attempt { now, kept: Vec::new(), counts: counts(now), pass: Pass::default() };
        if !chosen.is_empty() {
            self.take(&mut attempt, &chosen);
        }
        let Attempt { kept, mut pass, .. } = attempt;
        let texts = texts(now, &kept, &self.files);
        self.files.put(texts);
        let mut kept = kept;
        kept.sort_by_key(|finding| finding.at);
        pass.made = kept.iter().map(|finding| described(&now.sources, finding)).collect();
        pass
    }

    /// Makes all of `more`, or those halves of it that bring nothing.
    fn take<'f>(&mut self, attempt: &mut Attempt<'f>, more: &[&'f Finding]) {
        if self.tries >= MOST_TRIES {
            return;
        }
        self.tries += 1;
        let mut all = attempt.kept.clone();
        all.extend(more);
        let tried = self.files.with(texts(attempt.now, &all, &self.files));
        let compiled = (self.compile)(&tried);
        let after = counts(&compiled);
        let brings: Vec<&'static str> = after
            .iter()
            .filter(|(rule, count)| **count > attempt.counts.get(*rule).copied().unwrap_or_default())
            .map(|(rule, _)| *rule)
            .collect();
        if brings.is_empty() && after.values().sum::<u64>() < attempt.counts.values().sum::<u64>() {
            attempt.kept = all;
            attempt.counts = after;
            attempt.pass.compiled = Some(compiled);
            return;
        }
        match more {
            [] => {}
            [one] => {
                let fix = described(&attempt.now.sources, one);
                attempt.pass.withheld.push(Withheld { fix, brings });
            }
            _ => {
                let (left, right) = more.split_at(more.len() / 2);
                self.take(attempt, left);
                self.take(attempt, right);
            }
        }
    }
}

/// A pass under way.
struct Attempt<'f> {
    now: &'f Compiled,
    /// Findings whose fixes stay.
    kept: Vec<&'f Finding>,
    /// What is found with them made.
    counts: BTreeMap<&'static str, u64>,
    pass: Pass,
}

/// How much each rule finds.
fn counts(compiled: &Compiled) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for finding in &compiled.findings {
        *counts.entry(finding.rule).or_default() += u64::from(finding.count);
    }
    counts
}

fn described(sources: &Sources, finding: &Finding) -> Made {
    Made {
        rule: finding.rule,
        title: finding.fix.as_ref().map(|fix| fix.title.clone()).unwrap_or_default(),
        path: sources.get(finding.at.file).map(|source| source.path.clone()).unwrap_or_default(),
        line: sources.line_column(finding.at).line,
    }
}

/// The findings whose fixes are `allowed` and don't touch; of those that do, the first.
fn apart(compiled: &Compiled, allowed: Safety) -> Vec<&Finding> {
    // By path: a file that is included twice has its findings twice.
    let mut taken: BTreeMap<&Path, BTreeMap<u32, u32>> = BTreeMap::new();
    let mut apart = Vec::new();
    for finding in &compiled.findings {
        let Some(fix) = &finding.fix else { continue };
        if fix.safety == Safety::Unsafe && allowed == Safety::Safe || fix.edits.is_empty() {
            continue;
        }
        let place = |edit: &Edit| Some((&*compiled.sources.get(edit.at.file)?.path, edit.at.span));
        let Some(places) = fix.edits.iter().map(place).collect::<Option<Vec<_>>>() else { continue };
        let is_free = |(path, span): &(&Path, Span)| {
            taken.get(path).is_none_or(|taken| {
                // The last one that starts before this one's end: those before it end before it.
                taken.range(..=span.end).next_back().is_none_or(|(_, end)| *end < span.start)
            })
        };
        if places.iter().all(is_free) {
            for (path, span) in places {
                let end = taken.entry(path).or_default().entry(span.start).or_default();
                *end = span.end.max(*end);
            }
            apart.push(finding);
        }
    }
    apart
}

/// The texts that these findings' fixes make.
fn texts(now: &Compiled, fixed: &[&Finding], files: &Kept<'_>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut edits: BTreeMap<&Path, Vec<&Edit>> = BTreeMap::new();
    for edit in fixed.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.edits) {
        if let Some(source) = now.sources.get(edit.at.file) {
            edits.entry(&source.path).or_default().push(edit);
        }
    }
    let text = |(path, edits): (&Path, Vec<&Edit>)| {
        let text = files.read(path).unwrap_or_default();
        (path.to_owned(), apply(edits, &text))
    };
    edits.into_iter().map(text).collect()
}

/// Files that are read once, and may have been changed since.
struct Kept<'a> {
    below: &'a dyn Files,
    read: RefCell<BTreeMap<PathBuf, Vec<u8>>>,
    changed: BTreeMap<PathBuf, Vec<u8>>,
}

impl<'a> Kept<'a> {
    fn over(below: &'a dyn Files) -> Self {
        Self { below, read: RefCell::default(), changed: BTreeMap::new() }
    }

    /// The same with these texts for now.
    fn with(&self, texts: BTreeMap<PathBuf, Vec<u8>>) -> Kept<'_> {
        Kept { below: self, read: RefCell::default(), changed: texts }
    }

    fn put(&mut self, texts: BTreeMap<PathBuf, Vec<u8>>) {
        self.changed.extend(texts);
    }

    fn changed(self) -> BTreeMap<PathBuf, Changed> {
        let mut read = self.read.into_inner();
        let both = self.changed.into_iter().map(|(path, after)| {
            let before = read.remove(&path).unwrap_or_default();
            (path, Changed { before, after })
        });
        both.filter(|(_, changed)| changed.before != changed.after).collect()
    }
}

impl Files for Kept<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if let Some(text) = self.changed.get(path) {
            return Ok(text.clone());
        }
        if let Some(text) = self.read.borrow().get(path) {
            return Ok(text.clone());
        }
        let text = self.below.read(path)?;
        self.read.borrow_mut().insert(path.to_owned(), text.clone());
        Ok(text)
    }
}

#[cfg(test)]
mod tests;
