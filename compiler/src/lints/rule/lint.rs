//! What the check of a rule reads, and where it reports.
use std::{cell::OnceCell, rc::Rc, sync::Arc};

use super::{
    Rule,
    misread::{self, Misread},
};
use crate::{
    analysis::{
        cached,
        lists::{self, AskedList},
        shadow::{self, Shadowed},
    },
    finding::Finding,
    options::{CompileOptions, Runner},
    policy::Policy,
    program::{
        Program,
        trap::{Trap, Trapped},
    },
    sources::Sources,
};

/// What a check reads, and where it reports.
pub struct Lint<'a> {
    /// The texts: for what the Program does not keep.
    pub sources: &'a Sources,
    /// What the configuration does.
    pub program: &'a Arc<Program>,
    /// What will run it, and whether what it includes was read.
    pub options: CompileOptions,
    policy: OnceCell<Policy>,
    shadowed: OnceCell<Rc<[Shadowed]>>,
    asked_lists: OnceCell<Rc<[AskedList]>>,
    findings: Vec<Finding>,
}

impl<'a> Lint<'a> {
    /// `findings`: those that there are already.
    pub(in crate::lints) fn new(
        sources: &'a Sources,
        program: &'a Arc<Program>,
        options: &CompileOptions,
        findings: Vec<Finding>,
    ) -> Self {
        Self {
            sources,
            program,
            options: options.clone(),
            policy: OnceCell::new(),
            shadowed: OnceCell::new(),
            asked_lists: OnceCell::new(),
            findings,
        }
    }

    /// What decides requests: compiled when a rule first asks.
    pub fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| Policy::compile(self.program))
    }

    /// The same if a rule has asked before: where walking the lists once costs less than compiling them.
    pub(crate) fn compiled_policy(&self) -> Option<&Policy> {
        self.policy.get()
    }

    /// The same for rules of the authentication cache. `None`: no service's cache can hit.
    pub(crate) fn caching_policy(&self) -> Option<&Policy> {
        cached::services(self.program).next().map(|_| self.policy())
    }

    /// Whether a command of this name stands behind the last service.
    pub(crate) fn has_behind_services(&self, name: &str) -> bool {
        self.program.behind_services.iter().any(|command| command.row.name == name)
    }

    /// The access lists that services ask.
    pub(crate) fn asked_lists(&self) -> Rc<[AskedList]> {
        Rc::clone(self.asked_lists.get_or_init(|| lists::asked(self.program).into()))
    }

    /// The entries of access lists that decide nothing.
    pub(crate) fn shadowed(&self) -> Rc<[Shadowed]> {
        Rc::clone(
            self.shadowed
                .get_or_init(|| shadow::find(self.program, &self.asked_lists(), || self.policy()).into()),
        )
    }

    pub(in crate::lints) fn run(&mut self, rule: &Rule) {
        let applies = !rule.of_3proxy || self.options.runner != Runner::Cfgc;
        if let Some(check) = rule.check.filter(|_| applies) {
            check(self);
        }
    }

    pub(in crate::lints) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// What 3proxy reads otherwise than it is written.
    pub(crate) fn traps(&self) -> impl Iterator<Item = (Misread<'a>, Trap)> + use<'a> {
        misread::all(self.sources, self.program)
    }

    /// Adds what `finding` makes of one of them.
    pub(crate) fn report_misread<F: Into<Option<Finding>>>(
        &mut self,
        trapped: &Trapped,
        finding: impl FnOnce(Misread<'a>) -> F,
    ) {
        self.findings.extend(finding(Misread::of(self.sources, trapped)).into());
    }

    /// Adds a finding; get one from [`Rule::finding`].
    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}
