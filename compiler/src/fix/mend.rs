//! Makes fixes until there is none left that helps.
//!
//! A fix is made whole or not at all. Of two that touch, or of which one changes what the finding of the other points at, one is
//! made ([`apart`]), and the other by the next pass if it is still wanted. What was made is compiled: a fix stays only if no rule finds more than before, so no fix leaves a fault that was not
//! seen before. What a fix brings may have fixes of its own: it is tried with those when nothing else is left.
mod apart;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use super::{Edit, Fix, Safety, apply};
use crate::{
    Compiled,
    finding::Finding,
    sources::{Files, Sources},
};

/// Passes: each mends what the one before uncovered or had to leave.
const MOST_PASSES: u32 = 32;
/// Compilations in all: what a bad fix among many costs is found by halving.
const MOST_TRIES: u32 = 200;

/// Fixes that follow from another are made in so many steps.
const MOST_FOLLOWING: u32 = 4;

/// So many lines that 3proxy refuses are fixed one after the other; more are fixed together.
const MOST_ONE_BY_ONE: usize = 8;

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
    /// Whether it may be made unasked.
    pub safety: Safety,
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
    let mut mender = Mender { files: Kept::over(files), compile, allowed, left: MOST_TRIES };
    let first = compile(&mender.files);
    let Course { compiled, made, withheld, .. } = mender.mend(&first);
    let (mut compiled, changed) = (compiled.unwrap_or(first), mender.files.changed());
    take_out(&mut compiled, &withheld);
    Mended { compiled, changed, made, withheld }
}

/// What [`mend`] would do.
#[derive(Debug, Default)]
pub struct Foreseen {
    /// The fixes that it would make.
    pub made: Vec<Made>,
    /// The files that would change.
    pub changed: BTreeMap<PathBuf, Changed>,
    withheld: Vec<Withheld>,
}

/// What [`mend`] would make of `compiled`. `None`: it was not tried, since the text is so long that trying takes longer than whoever
/// only wants to read the findings waits.
pub fn foresee(
    files: &dyn Files,
    compile: &dyn Fn(&dyn Files) -> Compiled,
    compiled: &Compiled,
    allowed: Safety,
) -> Option<Foreseen> {
    let bytes: usize = compiled.sources.iter().map(|(_, source)| source.text.len()).sum();
    if bytes > LONGEST_TRIED {
        return None;
    }
    let mut mender =
        Mender { files: Kept::of(files, &compiled.sources), compile, allowed, left: MOST_OFFERED };
    let Course { made, withheld, withheld_first, .. } = mender.mend(compiled);
    let mut withheld: Vec<Withheld> = withheld_first.into_iter().chain(withheld).collect();
    withheld.retain(|withheld| !made.contains(&withheld.fix));
    Some(Foreseen { made, changed: mender.files.changed(), withheld })
}

impl Foreseen {
    /// Takes the fixes out of `compiled` that would not be made, even on request: a report that shows one promises too much.
    pub fn withhold(&self, compiled: &mut Compiled) {
        take_out(compiled, &self.withheld);
    }
}

fn take_out(compiled: &mut Compiled, withheld: &[Withheld]) {
    let Compiled { sources, findings, .. } = compiled;
    for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
        let fix = described(sources, finding);
        if withheld.iter().any(|withheld| withheld.fix == fix) {
            finding.fix = None;
        }
    }
}

/// What became of a configuration in all passes.
#[derive(Default)]
struct Course {
    /// As it is now; `None`: as it was.
    compiled: Option<Compiled>,
    made: Vec<Made>,
    /// The fixes that would not help it as it is now.
    withheld: Vec<Withheld>,
    /// Those that would not have helped it as it was.
    withheld_first: Vec<Withheld>,
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
    /// So many compilations may still be tried.
    left: u32,
}

impl Mender<'_> {
    /// Makes fixes of `first`, and of what comes of it, until there is none left that helps.
    fn mend(&mut self, first: &Compiled) -> Course {
        let mut course = Course::default();
        for _ in 0..MOST_PASSES {
            let now = course.compiled.as_ref().unwrap_or(first);
            let mut pass = self.pass(now, &course.withheld);
            if course.compiled.is_none() {
                course.withheld_first.extend(pass.withheld.iter().cloned());
            }
            match pass.compiled.take() {
                Some(next) => {
                    course.made.extend(pass.made);
                    // In what it is now, those that did not help may.
                    course.withheld.clear();
                    course.compiled = Some(next);
                }
                // Others may have waited for those that did not help.
                None if !pass.withheld.is_empty() => course.withheld.extend(pass.withheld),
                None => {
                    let Some((next, made)) = self.chain(now, &course.withheld) else { break };
                    course.made.extend(made);
                    course.withheld.clear();
                    course.compiled = Some(next);
                }
            }
        }
        course
    }

    /// Makes those fixes of `now`'s findings that stand apart, and are not among those that don't help.
    fn pass(&mut self, now: &Compiled, no_help: &[Withheld]) -> Pass {
        let helps = |finding: &&Finding| {
            no_help.is_empty() || {
                let fix = described(&now.sources, finding);
                no_help.iter().all(|withheld| withheld.fix != fix)
            }
        };
        let is_allowed = |finding: &&Finding| finding.fix.as_ref().is_some_and(|fix| self.allows(fix));
        let wanted = || now.findings.iter().filter(is_allowed).filter(helps);
        // Lines that 3proxy refuses are fixed first: what is found in others may rest on what they lack.
        let has_refused = wanted().any(|finding| finding.refused);
        let mut chosen =
            apart::choose(&now.sources, wanted().filter(|finding| finding.refused || !has_refused));
        // From the top on: one may say what those below it are.
        if has_refused && chosen.len() <= MOST_ONE_BY_ONE {
            chosen.sort_by_key(|finding| finding.at);
            chosen.truncate(1);
        }
        // What one rule's fixes bring, they bring together: halving finds them soon.
        chosen.sort_by_key(|finding| finding.rule);
        let mut attempt = Attempt { now, kept: Vec::new(), counts: counts(now), pass: Pass::default() };
        if !chosen.is_empty() {
            self.take(&mut attempt, &chosen);
        }
        let Attempt { mut kept, mut pass, .. } = attempt;
        let texts = texts(now, &kept, &self.files);
        self.files.put(texts);
        kept.sort_by_key(|finding| finding.at);
        pass.made = kept.iter().map(|finding| described(&now.sources, finding)).collect();
        pass
    }

    /// Makes one of the fixes that would bring something, with those of what it brings. `None`: none of them helps so either.
    fn chain(&mut self, now: &Compiled, withheld: &[Withheld]) -> Option<(Compiled, Vec<Made>)> {
        withheld.iter().filter(|withheld| !withheld.brings.is_empty()).find_map(|withheld| {
            let is_it = |finding: &&Finding| described(&now.sources, finding) == withheld.fix;
            let first = now.findings.iter().filter(|finding| finding.fix.is_some()).find(is_it)?;
            self.follow(now, first)
        })
    }

    /// Makes the fix of `first`, then those of the rules that find more for it, until none does.
    fn follow(&mut self, now: &Compiled, first: &Finding) -> Option<(Compiled, Vec<Made>)> {
        let counts_now = counts(now);
        let mut changed = texts(now, &[first], &self.files);
        let mut made = vec![described(&now.sources, first)];
        for _ in 0..MOST_FOLLOWING {
            let compiled = self.tried(&changed)?;
            let counts_then = counts(&compiled);
            let brings = more(&counts_now, &counts_then);
            if brings.is_empty() {
                if total(&counts_then) >= total(&counts_now) {
                    return None;
                }
                self.files.put(changed);
                return Some((compiled, made));
            }
            let brought = compiled.findings.iter().filter(|finding| {
                brings.contains(&finding.rule) && finding.fix.as_ref().is_some_and(|fix| self.allows(fix))
            });
            let chosen = apart::choose(&compiled.sources, brought);
            if chosen.is_empty() {
                return None;
            }
            made.extend(chosen.iter().map(|finding| described(&compiled.sources, finding)));
            let texts = texts(&compiled, &chosen, &self.files.with(changed.clone()));
            changed.extend(texts);
        }
        None
    }

    /// The configuration with these texts. `None`: enough was tried.
    fn tried(&mut self, changed: &BTreeMap<PathBuf, Vec<u8>>) -> Option<Compiled> {
        self.left = self.left.checked_sub(1)?;
        Some((self.compile)(&self.files.with(changed.clone())))
    }

    fn allows(&self, fix: &Fix) -> bool {
        fix.safety == Safety::Safe || self.allowed == Safety::Unsafe
    }

    /// Makes all of `added`, or those halves of it that bring nothing.
    fn take<'f>(&mut self, attempt: &mut Attempt<'f>, added: &[&'f Finding]) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        let mut all = attempt.kept.clone();
        all.extend(added);
        let tried = self.files.with(texts(attempt.now, &all, &self.files));
        let compiled = (self.compile)(&tried);
        let after = counts(&compiled);
        let brings = more(&attempt.counts, &after);
        if brings.is_empty() && total(&after) < total(&attempt.counts) {
            attempt.kept = all;
            attempt.counts = after;
            attempt.pass.compiled = Some(compiled);
            return;
        }
        match added {
            [] => {}
            [one] => {
                let fix = described(&attempt.now.sources, one);
                attempt.pass.withheld.push(Withheld { fix, brings });
            }
            _ => {
                let (left, right) = added.split_at(added.len() / 2);
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
    counts: Counts,
    pass: Pass,
}

/// How much each rule finds.
type Counts = BTreeMap<&'static str, u64>;

/// The rules that find more than before.
fn more(before: &Counts, after: &Counts) -> Vec<&'static str> {
    let is_more =
        |(rule, count): &(&&'static str, &u64)| **count > before.get(*rule).copied().unwrap_or_default();
    after.iter().filter(is_more).map(|(rule, _)| *rule).collect()
}

fn total(counts: &Counts) -> u64 {
    counts.values().sum()
}

fn counts(compiled: &Compiled) -> Counts {
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
        safety: finding.fix.as_ref().map_or(Safety::Safe, |fix| fix.safety),
        path: sources.get(finding.at.file).map(|source| source.path.clone()).unwrap_or_default(),
        line: sources.line_column(finding.at).line,
    }
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

    /// The same where some were read already.
    fn of(below: &'a dyn Files, read: &Sources) -> Self {
        let kept = Self::over(below);
        let texts = read.iter().map(|(_, source)| (source.path.clone(), source.text.to_vec()));
        kept.read.borrow_mut().extend(texts);
        kept
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
