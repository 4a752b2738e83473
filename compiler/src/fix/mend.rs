//! Makes fixes until there is none left that helps.
//!
//! A fix is made whole or not at all. Of two that touch, or of which one changes what the finding of the other points at, one is
//! made ([`apart`]), and the other by the next pass if it is still wanted. What was made is compiled: a fix stays only if its finding
//! is gone and no rule finds more than before, here and in other configurations that read the file ([`elsewhere`]). So no fix leaves a
//! fault that was not seen before. What a fix brings, or uncovers of its own rule, may have fixes of its own: it is tried with those
//! when nothing else is left.
//!
//! One thing may come: 3proxy reads nothing of a line that it refuses, so a safe fix of one brings what was always wrong with it. If that
//! is less bad than a file that 3proxy refuses, it does not hold the fix back.
mod apart;
mod budget;
mod counts;
mod elsewhere;
mod kept;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use budget::Budget;
use counts::{Bearable, Counts};
use elsewhere::{Elsewhere, Judged};
pub use elsewhere::{Known, Other};
use kept::Kept;

use super::{Edit, Fix, Safety, apply};
use crate::{
    Compiled,
    finding::Finding,
    sources::{FileId, Files, Source, Sources},
};

/// Passes: each mends what the one before uncovered or had to leave.
const MOST_PASSES: u32 = 32;
/// The most steps in which fixes that follow from another are made.
const MOST_FOLLOWING: u32 = 4;

/// The most lines that 3proxy refuses which are fixed one after the other; more are fixed together.
const MOST_ONE_BY_ONE: usize = 8;

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
    /// Enough was tried: there may be more that help.
    pub ran_out: bool,
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
    /// The other configuration in which they would.
    pub elsewhere: Option<PathBuf>,
}

/// Makes the fixes that `compile` finds, `unsafe` ones too if they are `allowed`, until none is left that helps.
///
/// `compile` compiles the files that it is given, and leaves only the findings that count. None of the `others` gets worse.
pub fn mend(
    files: &dyn Files,
    compile: &dyn Fn(&dyn Files) -> Compiled,
    others: &[Other<'_>],
    allowed: Safety,
) -> Mended {
    let files = Kept::over(files);
    let first = compile(&files);
    let budget = Budget::to_make(&first.sources);
    let mut mender = Mender { files, compile, elsewhere: Elsewhere(others), allowed, budget };
    let Course { compiled, made, withheld, .. } = mender.mend(&first);
    let (mut compiled, changed) = (compiled.unwrap_or(first), mender.files.changed());
    take_out(&mut compiled, &withheld, |_| true);
    Mended { compiled, changed, made, withheld, ran_out: mender.budget.ran_out }
}

/// What [`mend`] would do.
#[derive(Debug, Default)]
pub struct Previewed {
    /// The fixes that it would make.
    pub made: Vec<Made>,
    /// The files that would change.
    pub changed: BTreeMap<PathBuf, Changed>,
    /// Enough was tried: it may make more.
    pub ran_out: bool,
    withheld: Vec<Withheld>,
}

/// What [`mend`] would make of `compiled`. `None`: it was not tried, since the text is so long that trying takes longer than whoever
/// only wants to read the findings waits.
pub fn preview(
    files: &dyn Files,
    compile: &dyn Fn(&dyn Files) -> Compiled,
    compiled: &Compiled,
    others: &[Other<'_>],
    allowed: Safety,
) -> Option<Previewed> {
    let budget = Budget::to_offer(&compiled.sources)?;
    let files = Kept::of(files, &compiled.sources);
    let mut mender = Mender { files, compile, elsewhere: Elsewhere(others), allowed, budget };
    let Course { made, withheld, withheld_first, .. } = mender.mend(compiled);
    let mut withheld: Vec<Withheld> = withheld_first.into_iter().chain(withheld).collect();
    withheld.retain(|withheld| !made.contains(&withheld.fix));
    Some(Previewed { made, changed: mender.files.changed(), ran_out: mender.budget.ran_out, withheld })
}

impl Previewed {
    /// Takes the fixes out of `compiled` that would not be made, even on request: a report that shows one promises too much. Those in
    /// files that are not `as_tried` stay: others may stand in their lines.
    pub fn withhold(&self, compiled: &mut Compiled, as_tried: impl Fn(&Path) -> bool) {
        take_out(compiled, &self.withheld, as_tried);
    }
}

fn take_out(compiled: &mut Compiled, withheld: &[Withheld], is_meant: impl Fn(&Path) -> bool) {
    let Compiled { sources, findings, .. } = compiled;
    for finding in findings.iter_mut().filter(|finding| finding.fix.is_some()) {
        let fix = described(sources, finding);
        if is_meant(&fix.path) && withheld.iter().any(|withheld| withheld.fix == fix) {
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
    elsewhere: Elsewhere<'a>,
    allowed: Safety,
    budget: Budget,
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
        let mut chosen = apart::choose(
            &self.same_files(&now.sources),
            wanted().filter(|finding| finding.refused || !has_refused),
        );
        // From the top on: one may say what those below it are.
        if has_refused && chosen.len() <= MOST_ONE_BY_ONE {
            chosen.sort_by_key(|finding| finding.at);
            chosen.truncate(1);
        }
        // What one rule's fixes bring, they bring together: halving finds them soon.
        chosen.sort_by_key(|finding| finding.rule);
        let mut attempt = Attempt { now, kept: Vec::new(), counts: Counts::of(now), pass: Pass::default() };
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

    /// Makes one of the fixes that would bring something, or uncover another fault of its own rule, with those of what it brings.
    /// `None`: none of them helps so either.
    fn chain(&mut self, now: &Compiled, withheld: &[Withheld]) -> Option<(Compiled, Vec<Made>)> {
        let may_follow = |withheld: &&Withheld| withheld.elsewhere.is_none();
        withheld.iter().filter(may_follow).find_map(|withheld| {
            let is_it = |finding: &&Finding| described(&now.sources, finding) == withheld.fix;
            let first = now.findings.iter().filter(|finding| finding.fix.is_some()).find(is_it)?;
            self.follow(now, first)
        })
    }

    /// Makes the fix of `first`, then those of the rules that find more for it, or else of its own rule, until less is found.
    fn follow(&mut self, now: &Compiled, first: &Finding) -> Option<(Compiled, Vec<Made>)> {
        let counts_now = Counts::of(now);
        let mut changed = texts(now, &[first], &self.files);
        let mut made = vec![described(&now.sources, first)];
        for _ in 0..MOST_FOLLOWING {
            let compiled = self.tried(&changed)?;
            let counts_then = Counts::of(&compiled);
            let mut brings = counts_then.more_than(&counts_now, Bearable::Nothing);
            if brings.is_empty() && counts_then.less_than(&counts_now, Bearable::Nothing) > 0 {
                let tried = self.files.with(changed.clone());
                let judged = self.elsewhere.judge(&self.files, &tried, Bearable::Nothing, &mut self.budget);
                return matches!(judged, Judged::Good).then(|| {
                    self.files.put(changed);
                    (compiled, made)
                });
            }
            if brings.is_empty() {
                brings.push(first.rule);
            }
            let brought = compiled.findings.iter().filter(|finding| {
                brings.contains(&finding.rule) && finding.fix.as_ref().is_some_and(|fix| self.allows(fix))
            });
            let chosen = apart::choose(&self.same_files(&compiled.sources), brought);
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
        self.budget.spend()?;
        Some((self.compile)(&self.files.with(changed.clone())))
    }

    /// For each text the first one of the same file.
    fn same_files(&self, sources: &Sources) -> Vec<FileId> {
        let mut first = BTreeMap::new();
        let file =
            |(id, source): (FileId, &Source)| *first.entry(self.files.place(&source.path)).or_insert(id);
        sources.iter().map(file).collect()
    }

    fn allows(&self, fix: &Fix) -> bool {
        fix.safety == Safety::Safe || self.allowed == Safety::Unsafe
    }

    /// Makes all of `added`, or those halves of it that bring nothing.
    fn take<'f>(&mut self, attempt: &mut Attempt<'f>, added: &[&'f Finding]) {
        if self.budget.spend().is_none() {
            return;
        }
        let mut all = attempt.kept.clone();
        all.extend(added);
        let tried = self.files.with(texts(attempt.now, &all, &self.files));
        let compiled = (self.compile)(&tried);
        let after = Counts::of(&compiled);
        let bearable = Bearable::of(added);
        let (mut brings, mut elsewhere) = (after.more_than(&attempt.counts, bearable), None);
        // Each has to cure its own finding at least: one that does not would hide behind others that do.
        if brings.is_empty() && after.less_than(&attempt.counts, bearable) >= added.len() as u64 {
            match self.elsewhere.judge(&self.files, &tried, bearable, &mut self.budget) {
                Judged::Good => {
                    attempt.kept = all;
                    attempt.counts = after;
                    attempt.pass.compiled = Some(compiled);
                    return;
                }
                Judged::Worse(path, rules) => (brings, elsewhere) = (rules, Some(path)),
                Judged::Unknown => return,
            }
        }
        match added {
            [] => {}
            [one] => {
                let fix = described(&attempt.now.sources, one);
                attempt.pass.withheld.push(Withheld { fix, brings, elsewhere });
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

fn described(sources: &Sources, finding: &Finding) -> Made {
    Made {
        rule: finding.rule,
        title: finding.fix.as_ref().map(|fix| fix.title.to_string()).unwrap_or_default(),
        safety: finding.fix.as_ref().map_or(Safety::Safe, |fix| fix.safety),
        path: sources.get(finding.at.file).map(|source| source.path.clone()).unwrap_or_default(),
        line: sources.line_column(finding.at).line,
    }
}

/// The texts that these findings' fixes make.
fn texts(now: &Compiled, fixed: &[&Finding], files: &Kept<'_>) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut edits: BTreeMap<PathBuf, Vec<&Edit>> = BTreeMap::new();
    for edit in fixed.iter().filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| &fix.edits) {
        if let Some(source) = now.sources.get(edit.at.file) {
            edits.entry(files.place(&source.path)).or_default().push(edit);
        }
    }
    let text = |(path, edits): (PathBuf, Vec<&Edit>)| {
        let text = files.read(&path).unwrap_or_default();
        (path, apply(edits, &text))
    };
    edits.into_iter().map(text).collect()
}

#[cfg(test)]
mod tests;
