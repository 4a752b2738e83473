//! Policy tests: requests with the answers that are expected, as `cfgc test` runs them. The form is described in
//! docs/policy-tests.md: change both.
//!
//! [`read`](Suite::read) makes a [`Suite`] of a file, [`Suite::run`] asks a Policy each of its requests and says what differs,
//! [`coverage`](coverage::of) which entries no test reached.
use grammar::LineColumn;

use crate::query::Outcome;

pub mod coverage;
mod read;
mod run;
#[cfg(test)]
mod tests;

pub use run::{Difference, Got, Ran};

/// The tests of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suite {
    /// In file order.
    pub tests: Vec<Test>,
}

/// One test: a request, and what is expected of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// What it is called; no other test of the file has the name.
    pub name: String,
    /// Where it starts.
    pub at: LineColumn,
    /// The words of the request.
    pub request: WrittenRequest,
    /// How the request ends.
    pub outcome: Outcome,
    /// What decides that.
    pub entry: Option<Deciding>,
    /// The ways that it goes, all of them: parents as `TYPE HOST PORT`, or `direct`.
    pub parents: Option<Vec<String>>,
    /// The source address that the target or the first parent sees.
    pub external: Option<String>,
}

/// A request as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenRequest {
    /// Which service is asked.
    pub service: Option<Written>,
    /// User name.
    pub user: Option<Written>,
    /// The client's address.
    pub from: Option<Written>,
    /// The target.
    pub to: Option<Written>,
    /// The operation.
    pub op: Option<Written>,
    /// The time.
    pub at: Option<Written>,
    /// What the target's name resolves to.
    pub resolve: Option<Written>,
}

/// A value and where it stands: in the test, or in the defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The value.
    pub text: String,
    /// Where.
    pub at: LineColumn,
}

/// What is expected to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deciding {
    /// The entry in this line, of this file; without one, of the configuration itself.
    Line(Option<String>, u32),
    /// The end of a list in which no entry matches.
    End,
    /// No entry: the list is empty, or it is not asked.
    Nothing,
}

/// Why a file is no suite, or can't be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteError {
    /// Where.
    pub at: LineColumn,
    /// What is wrong, without a capital or a period.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

impl SuiteError {
    /// In file order, each once: what is wrong with a default is wrong in every test.
    fn sorted(mut errors: Vec<Self>) -> Vec<Self> {
        errors.sort_by_key(|error| error.at);
        errors.dedup();
        errors
    }
}

impl std::fmt::Display for Deciding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Line(Some(file), line) => write!(f, "{file}:{line}"),
            Self::Line(None, line) => write!(f, "{line}"),
            Self::End => f.write_str("end"),
            Self::Nothing => f.write_str("none"),
        }
    }
}
