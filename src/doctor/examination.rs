//! An examination: what is examined, and what is found.
use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
};

use compiler::{
    finding::{Finding, Level},
    program::Program,
    sources::{Loc, Sources},
};
use runtime::findings::Explained;

use super::{host::Host, load::Load};
use crate::args::ServedBy;

/// For how many of a finding's services other places are shown.
const SHOWN: usize = 4;

/// What is examined.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) sources: &'a Sources,
    pub(crate) program: &'a Program,
    /// Who serves it.
    pub(crate) served_by: ServedBy,
    /// The process that serves it now; `None`: this one stands for it.
    pub(crate) process: Option<u32>,
}

/// What was found so far.
pub(crate) struct Examination<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) host: &'a dyn Host,
    pub(super) load: Load,
    outcome: Outcome,
}

/// What was found.
#[derive(Default)]
pub(crate) struct Outcome {
    /// What is wrong.
    pub(crate) found: Vec<Diagnosis>,
    /// What could not be examined.
    pub(crate) unchecked: Vec<Unchecked>,
}

/// A finding, with values for programs.
pub(crate) struct Diagnosis {
    pub(crate) finding: Finding,
    /// The value seen.
    pub(crate) seen: String,
    /// The value needed.
    pub(crate) needed: String,
    /// What sets it, for a shell.
    pub(crate) command: Option<String>,
}

/// What could not be examined.
pub(crate) struct Unchecked {
    pub(crate) check: &'static str,
    pub(crate) why: String,
}

impl Outcome {
    /// The same without some checks.
    pub(super) fn without(mut self, checks: &[String]) -> Self {
        let asked = |check: &str| checks.iter().all(|name| name != check);
        self.found.retain(|diagnosis| asked(diagnosis.finding.rule));
        self.unchecked.retain(|unchecked| asked(unchecked.check));
        self
    }
}

impl Diagnosis {
    /// A finding of `check` at `at`.
    pub(super) fn new(
        check: &Explained,
        level: Level,
        at: Loc,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            finding: Finding::new(check.name, level, at, message),
            seen: String::new(),
            needed: String::new(),
            command: None,
        }
    }

    /// The value seen, and the one needed.
    pub(super) fn values(mut self, seen: impl ToString, needed: impl ToString) -> Self {
        (self.seen, self.needed) = (seen.to_string(), needed.to_string());
        self.finding = self.finding.note(format!("Seen: {}. Needed: {}.", self.seen, self.needed));
        self
    }

    /// What sets the value.
    pub(super) fn command(mut self, command: impl Into<String>) -> Self {
        let command = command.into();
        self.finding = self.finding.help(format!("run `{command}`"));
        self.command = Some(command);
        self
    }

    /// A kernel setting that sets it.
    pub(super) fn sysctl(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let command = format!("sysctl -w {name}='{value}'");
        let keep = "and write it into a file of /etc/sysctl.d, so that it lasts";
        self.finding = self.finding.help(format!("run `{command}`, {keep}"));
        self.command = Some(command);
        self
    }

    /// Says what the primary place has to do with it.
    pub(super) fn label(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.finding = self.finding.label(text);
        self
    }

    /// Says why.
    pub(super) fn note(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.finding = self.finding.note(text);
        self
    }

    /// Says what to do, where no command alone does it.
    pub(super) fn help(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.finding = self.finding.help(text);
        self
    }
}

impl<'a> Examination<'a> {
    pub(super) fn new(subject: Subject<'a>, host: &'a dyn Host) -> Self {
        let load = Load::of(subject.program, subject.served_by);
        Self { subject, host, load, outcome: Outcome::default() }
    }

    pub(super) fn found(&mut self, diagnosis: Diagnosis) {
        self.outcome.found.push(diagnosis);
    }

    /// Notes that something could not be examined.
    pub(super) fn unchecked(&mut self, check: &Explained, why: impl Into<String>) {
        self.outcome.unchecked.push(Unchecked { check: check.name, why: why.into() });
    }

    /// What was found, in order of places.
    pub(super) fn finish(self) -> Outcome {
        let mut outcome = self.outcome;
        outcome.found.sort_by_key(|diagnosis| (diagnosis.finding.at, diagnosis.finding.rule));
        outcome
    }

    /// The text of a file that every host has; `None` if it can't be read, which is noted.
    pub(super) fn text(&mut self, check: &Explained, path: impl AsRef<Path>) -> Option<String> {
        let path = path.as_ref();
        match self.host.read(path) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => {
                self.unchecked(check, format!("`{}` can't be read: {error}", path.display()));
                None
            }
        }
    }

    /// The numbers of a kernel setting that every host has; `None` if it can't be read, which is noted.
    pub(super) fn sysctl<const N: usize>(&mut self, check: &Explained, name: &str) -> Option<[u64; N]> {
        let path = sysctl_path(name);
        let text = self.text(check, &path)?;
        let numbers: Vec<u64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let numbers = numbers.try_into().ok();
        if numbers.is_none() {
            self.unchecked(check, format!("`{}` does not hold {N} numbers", path.display()));
        }
        numbers
    }

    /// The number of a kernel setting that not every host has.
    pub(super) fn optional_sysctl(&mut self, check: &Explained, name: &str) -> Option<u64> {
        match self.host.read(&sysctl_path(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            _ => self.sysctl(check, name).map(|[number]| number),
        }
    }

    /// A finding about all services, at the one that asks for the most of something.
    pub(super) fn of_all(
        &self,
        check: &Explained,
        level: Level,
        message: impl Into<Cow<'static, str>>,
        of: impl Fn(&super::load::Demand) -> u64,
        unit: &str,
    ) -> Diagnosis {
        let mut demands: Vec<_> = self.load.services.iter().filter(|demand| of(demand) > 0).collect();
        demands.sort_by_key(|demand| std::cmp::Reverse(of(demand)));
        let first = demands.first().map_or_else(Loc::default, |demand| demand.service.at);
        let said = |number: u64| format!("{number} {unit}");
        let mut diagnosis = Diagnosis::new(check, level, first, message);
        diagnosis = diagnosis.label(demands.first().map_or_else(String::new, |demand| said(of(demand))));
        for demand in demands.iter().skip(1).take(SHOWN) {
            diagnosis.finding = diagnosis.finding.also(demand.service.at, said(of(demand)));
        }
        match demands.len().saturating_sub(1 + SHOWN) {
            0 => diagnosis,
            1 => diagnosis.note("One more service is not shown."),
            more => diagnosis.note(format!("{more} more services are not shown.")),
        }
    }
}

/// Where a kernel setting is.
fn sysctl_path(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}
