//! What was found in all configurations, counted.
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
};

use compiler::{
    finding::{Finding, Level},
    fix::Safety,
    sources::{Files, Sources},
};

/// What was found in all configurations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Summary {
    /// Configurations that were checked.
    pub(crate) configurations: u64,
    /// The files that they consist of.
    files: BTreeSet<PathBuf>,
    /// Those that were not, and files that could not be mended.
    pub(crate) failed: u64,
    /// Fixes that were made, or would be.
    pub(crate) fixed: u64,
    /// They would be: nothing was written.
    pub(crate) planned: bool,
    /// Fixes that would be made of what is left: by `--fix`, and beyond these by `--unsafe-fixes`.
    fixable: (u64, u64),
    /// It was not tried: there may be fewer.
    at_most: bool,
    /// Not everything was tried: there may be more.
    or_more: bool,
    /// Nor when fixes were made.
    left_untried: bool,
    /// Findings of each rule, at each level.
    rules: BTreeMap<(&'static str, Level), Count>,
}

/// Findings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    pub(super) found: u64,
    /// Those with a safe fix.
    pub(super) safe: u64,
    /// Those with one that is not.
    pub(super) unsafe_: u64,
}

impl Summary {
    /// Counts a finding.
    pub(crate) fn count(&mut self, finding: &Finding) {
        let count = self.rules.entry((finding.rule, finding.level)).or_default();
        let times = u64::from(finding.count);
        count.found += times;
        match finding.fix.as_ref().map(|fix| fix.safety) {
            Some(Safety::Safe) => count.safe += times,
            Some(Safety::Unsafe) => count.unsafe_ += times,
            None => {}
        }
    }

    /// How many findings there are at a level.
    pub(crate) fn at(&self, level: Level) -> u64 {
        self.rules.iter().filter(|((_, of), _)| *of == level).map(|(_, count)| count.found).sum()
    }

    /// Counts the files that a configuration consists of.
    pub(crate) fn read(&mut self, sources: &Sources, files: &dyn Files) {
        self.files.extend(sources.iter().map(|(_, source)| files.place(&source.path)));
    }

    /// Adds fixes that would be made by `--fix`, and those that `--unsafe-fixes` would make besides.
    pub(crate) fn would_be_fixed(&mut self, safe: usize, more: usize) {
        self.fixable.0 += safe as u64;
        self.fixable.1 += more as u64;
    }

    /// At most this many: it was not tried.
    pub(crate) fn may_be_fixed(&mut self, findings: &[Finding]) {
        let of = |safety| {
            let fixes = findings.iter().filter_map(|finding| finding.fix.as_ref());
            fixes.filter(|fix| fix.safety == safety).count()
        };
        self.would_be_fixed(of(Safety::Safe), of(Safety::Unsafe));
        self.at_most |= self.fixable != (0, 0);
    }

    /// There may be more than [`Self::would_be_fixed`] was told, if something is `untried`.
    pub(crate) fn or_more(&mut self, untried: bool) {
        self.or_more |= untried;
    }

    /// Fixes were made, or planned, and not everything was tried.
    pub(crate) fn left_untried(&mut self, untried: bool) {
        self.left_untried |= untried;
    }

    /// Whether there may be fewer fixes than [`Self::fixable`] says, and whether there may be more.
    pub(super) const fn bounds(&self) -> (bool, bool) {
        (self.at_most, self.or_more || self.left_untried)
    }

    /// How many fixes would be made by `--fix`, and how many more by `--unsafe-fixes`.
    pub(super) const fn fixable(&self) -> (u64, u64) {
        self.fixable
    }

    /// How many files all configurations consist of.
    pub(super) fn files(&self) -> usize {
        self.files.len()
    }

    /// What was checked, in words.
    fn checked(&self) -> String {
        let number =
            |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
        let files = number(self.files.len() as u64, "file");
        if self.files.len() as u64 == self.configurations {
            return files;
        }
        match self.configurations {
            0 => number(0, "file"),
            configurations => format!("{} of {files}", number(configurations, "configuration")),
        }
    }

    /// Each rule that found something, what finds most first.
    pub(super) fn rules(&self) -> Vec<(&'static str, Level, Count)> {
        let mut rules: Vec<_> =
            self.rules.iter().map(|((rule, level), count)| (*rule, *level, *count)).collect();
        rules.sort_by_key(|(.., count)| std::cmp::Reverse(count.found));
        rules
    }

    /// A table of the rules that found something.
    pub(super) fn statistics(&self) -> String {
        let rules = self.rules();
        let width = rules.iter().map(|(.., count)| count.found.to_string().len()).max().unwrap_or_default();
        let line = |(rule, level, count): &(&str, Level, Count)| {
            let fix = match count {
                Count { safe: 1.., .. } => " (--fix)",
                Count { unsafe_: 1.., .. } => " (--unsafe-fixes)",
                _ => "",
            };
            format!("{:>width$} {}[{rule}]{fix}\n", count.found, level.name())
        };
        rules.iter().map(line).collect()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = self.checked();
        let some = |count: u64| match (self.at_most, self.or_more) {
            (false, false) => count.to_string(),
            (true, false) => format!("up to {count}"),
            (false, true) => format!("at least {count}"),
            (true, true) => format!("about {count}"),
        };
        // Fixes are no findings: what one brings another one may mend.
        let fixes = |count: u64| format!("{} fix{}", some(count), if count == 1 { "" } else { "es" });
        if self.fixed > 0 {
            write!(f, "{} {}, ", self.fixed, if self.planned { "would be fixed" } else { "fixed" })?;
        }
        match (self.at(Level::Deny), self.at(Level::Warn)) {
            (0, 0) if self.configurations == 0 && self.failed > 0 => f.write_str("nothing was checked")?,
            (0, 0) if self.fixed > 0 => write!(f, "nothing left in {files}")?,
            (0, 0) => write!(f, "nothing found in {files}")?,
            (denied, warned) => write!(f, "{denied} denied, {warned} warned in {files}")?,
        }
        match self.fixable() {
            (0, 0) if self.or_more => f.write_str("; not all fixes were tried")?,
            (0, 0) => {}
            (safe, 0) => write!(f, "; --fix makes {}", fixes(safe))?,
            (0, other) => write!(f, "; --unsafe-fixes makes {}", fixes(other))?,
            (safe, other) => {
                write!(f, "; --fix makes {}, --unsafe-fixes {} more", fixes(safe), some(other))?;
            }
        }
        if self.left_untried && !(self.or_more && self.fixable() == (0, 0)) {
            f.write_str("; not all fixes were tried")?;
        }
        match self.failed {
            0 => Ok(()),
            failed => write!(f, "; {failed} failed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Summary;

    #[test]
    fn a_number_of_fixes_that_is_not_sure_is_told_so() {
        for ((at_most, or_more, left_untried), says) in [
            ((false, false, false), "nothing found in 0 files; --fix makes 3 fixes, --unsafe-fixes 1 more"),
            (
                (true, false, false),
                "nothing found in 0 files; --fix makes up to 3 fixes, --unsafe-fixes up to 1 more",
            ),
            (
                (false, true, false),
                "nothing found in 0 files; --fix makes at least 3 fixes, --unsafe-fixes at least 1 more",
            ),
            (
                (true, true, false),
                "nothing found in 0 files; --fix makes about 3 fixes, --unsafe-fixes about 1 more",
            ),
            (
                (false, false, true),
                "nothing found in 0 files; --fix makes 3 fixes, --unsafe-fixes 1 more; not all fixes were tried",
            ),
        ] {
            let mut summary = Summary { at_most, ..Summary::default() };
            summary.would_be_fixed(3, 1);
            summary.or_more(or_more);
            summary.left_untried(left_untried);
            assert_eq!(summary.to_string(), says);
            assert_eq!(summary.bounds(), (at_most, or_more || left_untried));
        }
    }
}
