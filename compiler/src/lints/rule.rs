//! What a rule is.
mod declare;
mod docs;
mod lint;
mod misread;

pub(crate) use declare::rule;
pub use lint::Lint;
pub(crate) use misread::Misread;

use crate::{
    finding::{Finding, Level},
    sources::Loc,
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
    /// Names that stand for it, too: what it was called before.
    pub aliases: &'static [&'static str],
    /// Names of rules that it has taken in, each of which stands for some of its findings: those that say so ([`Finding::part`]).
    pub parts: &'static [&'static str],
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
    /// That alone: nothing that its lines say.
    Sequence,
    /// Which commands stand behind the last service, and in which order.
    Behind,
    /// What the services that a finding points at copied of the settings above them.
    Services,
    /// What they copied of what decides who is let in to do what: not their ports.
    Admission,
    /// What is decided about requests, or anything else that any line may change, but neither ports of services, nor limits, nor which
    /// users have passwords.
    Decisions,
    /// The same, and which users have passwords.
    Users,
    /// The same as for decisions, and ports and limits.
    Settings,
    /// All of that.
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

    /// What its rules prevent, in a sentence.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Correctness => "The configuration does not do what is written.",
            Self::Security => "It lets someone in, or gives something away.",
            Self::Portability => "It depends on a version, a platform or an accident.",
            Self::Performance => "It is slower, or breaks earlier, than it need be.",
            Self::Style => "It is harder to read than it need be.",
        }
    }
}

impl Rule {
    /// Whether this name stands for it.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Whether this is the name of a rule that it has taken in.
    #[must_use]
    pub fn has_part(&self, name: &str) -> bool {
        self.parts.contains(&name)
    }

    /// A finding of this rule at `at`: its level, and whether 3proxy refuses the line, are the rule's.
    #[must_use]
    pub fn finding(&self, at: Loc, message: impl Into<std::borrow::Cow<'static, str>>) -> Finding {
        let mut finding = Finding::new(self.name, self.level, at, message);
        finding.refused = self.refused;
        finding
    }
}
