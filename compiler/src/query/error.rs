//! What is wrong with a query as it is written.
use std::fmt;

/// A word of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Which service is asked.
    Service,
    /// The user name.
    User,
    /// The client's address.
    From,
    /// The target.
    To,
    /// The operation.
    Op,
    /// The time.
    At,
    /// What the target's name resolves to.
    Resolve,
}

impl Part {
    /// Its name, in test files and as an option.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::User => "user",
            Self::From => "from",
            Self::To => "to",
            Self::Op => "op",
            Self::At => "at",
            Self::Resolve => "resolve",
        }
    }
}

/// Why words are no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    /// Which word is wrong, or missing.
    pub part: Part,
    /// What is wrong, without a capital or a period.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The services that could be meant, as indexes into [`Program::services`](crate::program::Program::services): none or several.
    pub services: Vec<usize>,
}

impl QueryError {
    /// An error with nothing but its message.
    pub(super) fn new(part: Part, message: impl Into<String>) -> Self {
        Self { part, message: message.into(), help: None, services: Vec::new() }
    }

    /// Says what to write instead.
    pub(super) fn help(mut self, help: impl Into<Option<String>>) -> Self {
        self.help = help.into();
        self
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for QueryError {}
