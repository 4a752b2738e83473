//! What is wrong with a configuration, ready for any renderer.
use crate::{fix::Fix, sources::Loc};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Off unless asked for.
    Allow,
    /// Suspicious.
    Warn,
    /// 3proxy refuses the file, or the meaning is certainly not what is written. `run` refuses it too.
    Deny,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// How bad.
    pub level: Level,
    /// 3proxy itself rejects the file here: this finding can't be allowed away.
    pub refused: bool,
    /// Where: the primary label. Its text is [`Finding::label`].
    pub at: Loc,
    /// What is wrong, in one sentence without a capital or a period, that stands alone.
    pub message: String,
    /// What the primary place has to do with it; may be empty.
    pub label: String,
    /// Other places that matter: the line that made the trap, the line that springs it.
    pub labels: Vec<Label>,
    /// Why it is so, or a witness: full sentences.
    pub notes: Vec<String>,
    /// What to do, as a command.
    pub help: Option<String>,
    /// The edit that does it.
    pub fix: Option<Fix>,
}

/// A secondary place and what it has to do with the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub at: Loc,
    /// What.
    pub text: String,
}

impl Finding {
    /// A finding of `rule` at `at`, with nothing but its message.
    pub fn new(rule: &'static str, level: Level, at: Loc, message: impl Into<String>) -> Self {
        Self {
            rule,
            level,
            refused: false,
            at,
            message: message.into(),
            label: String::new(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Says what the primary place has to do with it.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn also(mut self, at: Loc, text: impl Into<String>) -> Self {
        self.labels.push(Label { at, text: text.into() });
        self
    }

    /// Says why.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Offers the edit.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}
