//! What a rule is, and how one is declared.
use std::{cell::OnceCell, rc::Rc, sync::Arc};

use crate::{
    finding::{Finding, Level},
    fix::{Fix, Safety},
    options::{CompileOptions, Runner},
    policy::{
        Policy, cached,
        shadow::{self, Shadowed},
        walked::{self, Walked},
    },
    program::{Program, trap::Trap},
    sources::{Loc, Sources},
};

/// One lint rule: what it says of itself, and the check.
#[derive(Debug)]
pub struct Rule {
    /// Reads after "allow": `open-proxy`. Its file is named so, with `_` for `-`.
    pub name: &'static str,
    /// Markdown; the first sentence is a summary. Its examples are run as tests.
    pub docs: &'static str,
    /// How bad its findings are.
    pub level: Level,
    /// What kind of harm.
    pub group: Group,
    /// The first release of cfgc that has it.
    pub since: &'static str,
    /// 3proxy itself rejects such a file: its findings can't be allowed away.
    pub refused: bool,
    /// What its findings rest on.
    pub reads: Reads,
    /// It is about what 3proxy does and `cfgc run` does not: silent where a configuration is for `cfgc run`.
    pub of_3proxy: bool,
    /// Reads the Program; `None`: lowering finds it.
    pub(super) check: Option<fn(&mut Lint<'_>)>,
}

/// What kind of harm a rule prevents: rules can be switched by group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// The configuration does not do what is written.
    Correctness,
    /// It lets someone in, or gives something away.
    Security,
    /// It depends on a version, a platform or an accident.
    Portability,
    /// It is slower, or breaks earlier, than it need be.
    Performance,
    /// It is harder to read than it need be.
    Style,
}

/// What the findings of a rule rest on: of a template, not all of it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// What stands in the lines that a finding points at.
    Line,
    /// Which commands there are and in which order, not what they say.
    Order,
    /// What is decided about requests, or anything else that any line may change.
    Everything,
    /// The markers themselves.
    Markers,
}

impl Reads {
    /// What is given, or else `usual`.
    pub(crate) const fn or(given: &[Self], usual: Self) -> Self {
        match given {
            [first, ..] => *first,
            [] => usual,
        }
    }
}

impl Group {
    /// Every group.
    pub const ALL: [Self; 5] =
        [Self::Correctness, Self::Security, Self::Portability, Self::Performance, Self::Style];

    /// As users write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Security => "security",
            Self::Portability => "portability",
            Self::Performance => "performance",
            Self::Style => "style",
        }
    }
}

impl Rule {
    /// A finding of this rule at `at`: its level, and whether 3proxy refuses the line, are the rule's.
    #[must_use]
    pub fn finding(&self, at: Loc, message: impl Into<String>) -> Finding {
        let mut finding = Finding::new(self.name, self.level, at, message);
        finding.refused = self.refused;
        finding
    }

    /// The first sentence of its documentation.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        let paragraph = self.docs.split("\n\n").next().unwrap_or(self.docs);
        paragraph.trim()
    }

    /// Whether it repairs what it finds, safely or on request: then its documentation shows the repair.
    #[must_use]
    pub fn has_fix(&self) -> bool {
        self.docs.contains("```3proxy,fixed")
    }

    /// Its documentation without a heading, as Markdown: what is claimed of an example is for the test that runs it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for line in self.docs.lines() {
            let line = line.strip_prefix(' ').unwrap_or(line);
            let fence = line.strip_prefix("```3proxy,").map(|claim| match claim.strip_prefix("file=") {
                Some(name) => format!("`{name}`:\n\n```"),
                None => "```".to_owned(),
            });
            text.push_str(&for_people(fence.as_deref().unwrap_or(line)));
            text.push('\n');
        }
        if self.of_3proxy {
            text.push_str("\n`cfgc run` does otherwise, so this rule is silent where `cfgc.toml` says `target = \"cfgc\"`.\n");
        }
        if self.refused {
            text.push_str("\n3proxy itself refuses such a file, so this rule can't be allowed.\n");
        }
        text
    }
}

/// A line of documentation with words for what it can't show: a test puts in the thing itself.
fn for_people(line: &str) -> String {
    let mut text = line.to_owned();
    let words = [
        ("{NUL}", "<NUL>"),
        ("{BOM}", "<BOM>"),
        ("{CR}", "<CR>"),
        ("{LATIN1}", "<\u{fc} in Latin-1>"),
        ("{EOF}", "<end of file>"),
    ];
    for (mark, word) in words {
        text = text.replace(mark, word);
    }
    while let Some((before, rest)) = text.split_once("{REP:") {
        let Some(((repeated, times), behind)) =
            rest.split_once('}').and_then(|(inside, behind)| Some((inside.rsplit_once(':')?, behind)))
        else {
            break;
        };
        text = format!("{before}<`{repeated}` {times} times>{behind}");
    }
    text
}

/// Part of a word that 3proxy reads otherwise than it is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Where it stands; the whole word if that has quotes.
    pub(crate) at: Loc,
    /// What stands there.
    pub(crate) text: &'a [u8],
    /// The whole word, as written.
    pub(crate) word: &'a [u8],
    /// Where that stands.
    pub(crate) whole: Loc,
}

impl Part<'_> {
    /// The text as a message cites it.
    pub(crate) fn cited(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }

    /// The word without its quotes.
    pub(crate) fn unquoted(&self) -> Vec<u8> {
        self.word.iter().copied().filter(|byte| *byte != b'"').collect()
    }

    /// The repair that writes `text` instead. `None` where quotes or a `$file` hide what stands in the source.
    pub(crate) fn replaced(
        &self,
        title: impl Into<String>,
        safety: Safety,
        text: impl Into<String>,
    ) -> Option<Fix> {
        let as_written = |byte: &u8| *byte != b'"' && *byte != b'$';
        self.text.iter().all(as_written).then(|| Fix::replace(title, safety, self.at, text))
    }
}

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
    walked: OnceCell<Rc<[Walked]>>,
    findings: Vec<Finding>,
}

impl<'a> Lint<'a> {
    pub(super) fn new(sources: &'a Sources, program: &'a Arc<Program>, options: &CompileOptions) -> Self {
        Self {
            sources,
            program,
            options: options.clone(),
            policy: OnceCell::new(),
            shadowed: OnceCell::new(),
            walked: OnceCell::new(),
            findings: Vec::new(),
        }
    }

    /// What decides requests: compiled when a rule first asks.
    pub fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| Policy::compile(self.program))
    }

    /// The same for rules of the authentication cache. `None`: no service's cache can hit.
    pub(crate) fn caching_policy(&self) -> Option<&Policy> {
        cached::services(self.program).next().map(|_| self.policy())
    }

    /// The access lists that services ask.
    pub(crate) fn walked(&self) -> Rc<[Walked]> {
        Rc::clone(self.walked.get_or_init(|| walked::lists(self.program).into()))
    }

    /// The entries of access lists that decide nothing.
    pub(crate) fn shadowed(&self) -> Rc<[Shadowed]> {
        Rc::clone(
            self.shadowed.get_or_init(|| shadow::find(self.program, &self.walked(), || self.policy()).into()),
        )
    }

    pub(super) fn run(&mut self, rule: &Rule) {
        let applies = !rule.of_3proxy || self.options.runner != Runner::Cfgc;
        if let Some(check) = rule.check.filter(|_| applies) {
            check(self);
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// What 3proxy reads otherwise than it is written.
    pub(crate) fn traps(&self) -> impl Iterator<Item = (Part<'a>, Trap)> + use<'a> {
        let (sources, program) = (self.sources, self.program);
        let part = move |at, word| Part { at, text: sources.text(at), word: sources.text(word), whole: word };
        program.traps.iter().map(move |trapped| (part(trapped.at, trapped.word), trapped.trap))
    }

    /// Adds a finding; get one from [`Rule::finding`].
    pub fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }
}

/// Declares the file's rule as `RULE`: documentation, a name, and the fields of [`Rule`] in this order.
///
/// `refused: true` may stand after `since`, and then `reads`, if it is not [`Reads::Everything`] (of a rule that lowering finds:
/// [`Reads::Line`]). The last field is `check: function`, or `from lowering`.
macro_rules! rule {
    (
        $(#[doc = $doc:literal])+
        $name:literal,
        level: $level:ident,
        group: $group:ident,
        since: $since:literal,
        $(refused: $refused:literal,)?
        $(reads: $reads:ident,)?
        $(of_3proxy: $of_3proxy:literal,)?
        check: $check:path $(,)?
    ) => {
        $crate::lints::rule::rule!(@ [$($doc)+] $name, $level, $group, $since, [$($refused)?], Everything, [$($reads)?], [$($of_3proxy)?], Some($check));
    };
    (
        $(#[doc = $doc:literal])+
        $name:literal,
        level: $level:ident,
        group: $group:ident,
        since: $since:literal,
        $(refused: $refused:literal,)?
        $(reads: $reads:ident,)?
        from lowering $(,)?
    ) => {
        $crate::lints::rule::rule!(@ [$($doc)+] $name, $level, $group, $since, [$($refused)?], Line, [$($reads)?], [], None);
    };
    (@ [$($doc:literal)+] $name:literal, $level:ident, $group:ident, $since:literal, [$($refused:literal)?], $usual:ident, [$($reads:ident)?], [$($of_3proxy:literal)?], $check:expr) => {
        /// What this file declares.
        pub(crate) static RULE: $crate::lints::Rule = $crate::lints::Rule {
            name: $name,
            docs: concat!($($doc, "\n"),+),
            level: $crate::finding::Level::$level,
            group: $crate::lints::Group::$group,
            since: $since,
            refused: false $(|| $refused)?,
            reads: $crate::lints::rule::Reads::or(
                &[$($crate::lints::rule::Reads::$reads)?],
                $crate::lints::rule::Reads::$usual,
            ),
            of_3proxy: false $(|| $of_3proxy)?,
            check: $check,
        };
    };
}
pub(crate) use rule;
