//! Asking a Policy what the tests ask, and comparing.
use super::{Deciding, Suite, SuiteError, Test, Written};
use crate::{
    Compiled,
    policy::Policy,
    program::acl::AceId,
    query::{self, Answer, Outcome, Part, Query, Words},
    sources::FileId,
    table::{Decision, Fields},
    way::{self, Origin},
};

/// A test that was run.
#[derive(Clone, Debug)]
pub struct Ran<'a> {
    /// The test.
    pub test: &'a Test,
    /// What was asked.
    pub query: Query,
    /// What came of it.
    pub answer: Answer,
    /// The same, as tests name it.
    pub got: Got,
    /// What is not as expected; empty: it passed.
    pub differences: Vec<Difference>,
}

/// What came of a request, in the words of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    /// How it ends.
    pub outcome: Outcome,
    /// The entry that decided.
    pub entry: Option<AceId>,
    /// What decided: an entry by its line, `end` or `none`.
    pub deciding: Deciding,
    /// The ways that it goes; none if it is refused.
    pub parents: Vec<String>,
    /// Its source addresses; none if it is refused.
    pub externals: Vec<String>,
}

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// A value.
    Value {
        /// The test's key for it.
        key: &'static str,
        /// What the test says.
        expected: String,
        /// What is.
        got: String,
    },
    /// The test leaves out what decides, so there is no answer: its keys.
    Missing(Vec<Part>),
}

impl Suite {
    /// Runs the tests that `wanted` picks by name, in file order.
    ///
    /// # Errors
    /// The requests that can't be asked: an unknown service, a target that is none. Then nothing is run.
    pub fn run<'a>(
        &'a self,
        compiled: &Compiled,
        policy: &Policy,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Vec<Ran<'a>>, Vec<SuiteError>> {
        let (mut ran, mut errors) = (Vec::new(), Vec::new());
        for test in self.tests.iter().filter(|test| wanted(&test.name)) {
            match query(compiled, test) {
                Ok(query) => ran.push(one(compiled, policy, test, query)),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(ran) } else { Err(SuiteError::sorted(errors)) }
    }
}

fn query(compiled: &Compiled, test: &Test) -> Result<Query, SuiteError> {
    let request = &test.request;
    let written = |part| match part {
        Part::Service => &request.service,
        Part::User => &request.user,
        Part::From => &request.from,
        Part::To => &request.to,
        Part::Op => &request.op,
        Part::At => &request.at,
        Part::Resolve => &request.resolve,
    };
    let word = |part| written(part).as_ref().map(|written: &Written| written.text.as_str());
    let words = Words {
        service: word(Part::Service),
        user: word(Part::User),
        from: word(Part::From),
        to: word(Part::To),
        op: word(Part::Op),
        at: word(Part::At),
        resolve: word(Part::Resolve),
    };
    Query::read(&compiled.sources, &compiled.program, &words).map_err(|error| SuiteError {
        at: written(error.part).as_ref().map_or(test.at, |written| written.at),
        message: error.message,
        help: error.help,
    })
}

fn one<'a>(compiled: &Compiled, policy: &Policy, test: &'a Test, query: Query) -> Ran<'a> {
    let answer = query::decide(policy, &query);
    let got = got(compiled, policy, &query, &answer);
    let differences = if answer.needs.is_empty() {
        differences(compiled, test, &got)
    } else {
        vec![Difference::Missing(missing(answer.needs))]
    };
    Ran { test, query, answer, got, differences }
}

/// The keys to write for fields that a test leaves out.
fn missing(needs: Fields) -> Vec<Part> {
    let parts = [(Fields::SOURCE, Part::From), (Fields::ADDRESS, Part::Resolve), (Fields::TIME, Part::At)];
    parts.into_iter().filter(|(field, _)| needs.has(*field)).map(|(_, part)| part).collect()
}

fn got(compiled: &Compiled, policy: &Policy, query: &Query, answer: &Answer) -> Got {
    let verdict = answer.verdict();
    let entry = verdict.and_then(|verdict| verdict.entry);
    let deciding = match (entry.and_then(|entry| compiled.program.acls.ace(entry)), verdict) {
        (Some(ace), _) => {
            let source = compiled.sources.get(ace.at.file).filter(|_| ace.at.file != FileId(0));
            let file = source.map(|source| source.path.display().to_string());
            Deciding::Line(file, compiled.sources.line_column(ace.at).line)
        }
        (None, Some(verdict)) if verdict.decision == Decision::End => Deciding::End,
        (None, _) => Deciding::Nothing,
    };
    let (mut parents, mut externals) = (Vec::new(), Vec::new());
    let service = policy.program().services.get(query.service);
    if let (Outcome::Allow, Some(verdict), Some(service)) = (answer.outcome, verdict, service) {
        let groups = way::groups(policy.parents(verdict));
        parents.extend(way::hops(&groups).into_iter().map(ToString::to_string));
        if way::direct_share(&groups) > 0.0 {
            parents.push("direct".to_owned());
        }
        let origins =
            way::origins(&groups, service.external, service.family(), query.address(policy.program()));
        externals.extend(origins.into_iter().map(|origin| match (origin, query.from) {
            (Origin::Address(address), _) | (Origin::Client, Some(address)) => address.to_string(),
            (Origin::Client, None) => "client".to_owned(),
            (Origin::Prefix(address, length), _) => format!("{address}/{length}"),
            (Origin::Any, _) => "any".to_owned(),
        }));
    }
    parents.dedup();
    Got { outcome: answer.outcome, entry, deciding, parents, externals }
}

fn differences(compiled: &Compiled, test: &Test, got: &Got) -> Vec<Difference> {
    let mut differences = Vec::new();
    let mut differs = |key, expected: String, got: String| {
        differences.push(Difference::Value { key, expected, got });
    };
    if test.outcome != got.outcome {
        differs("expect", test.outcome.name().to_owned(), got.outcome.name().to_owned());
    }
    if let Some(entry) = test.entry.as_ref().filter(|entry| !is_entry(compiled, entry, &got.deciding)) {
        differs("entry", entry.to_string(), got.deciding.to_string());
    }
    let some = |values: &[String]| {
        if values.is_empty() { "none: it is refused".to_owned() } else { values.join(", ") }
    };
    if let Some(parents) = &test.parents {
        let (mut expected, mut found) = (parents.clone(), got.parents.clone());
        expected.sort();
        expected.dedup();
        found.sort();
        if expected != found {
            differs("parent", some(parents), some(&got.parents));
        }
    }
    if let Some(external) = &test.external
        && got.externals != [canonical(external)]
    {
        differs("external", external.clone(), some(&got.externals));
    }
    differences
}

/// An address in the one form in which it is compared; other texts as they are.
fn canonical(text: &str) -> String {
    text.parse::<std::net::IpAddr>()
        .map_or_else(|_| text.to_owned(), |address| address.to_canonical().to_string())
}

/// Whether what decided is what a test names: it need not write the whole path of a file.
fn is_entry(compiled: &Compiled, expected: &Deciding, got: &Deciding) -> bool {
    let (Deciding::Line(Some(named), line), Deciding::Line(file, found)) = (expected, got) else {
        return expected == got;
    };
    let main = || compiled.sources.get(FileId(0)).map(|source| source.path.display().to_string());
    let file = file.clone().or_else(main).unwrap_or_default();
    line == found && std::path::Path::new(&file).ends_with(named)
}
