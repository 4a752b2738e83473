//! Results for programs. The form is described in docs/json.md: change both, and [`VERSION`].
use std::io::{self, Write};

use compiler::{
    query::{describe, moment_name, operation_name},
    suite::{Difference, Ran, coverage},
};
use serde::Serialize;

use super::Results;
use crate::report::json::Place;

/// Goes up when something in the form is removed or means something else; additions leave it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tests: Vec<Test<'a>>,
    coverage: Option<Vec<Coverage>>,
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    tests: usize,
    passed: usize,
    failed: usize,
    left_out: usize,
}

#[derive(Serialize)]
struct Test<'a> {
    name: &'a str,
    path: &'a str,
    line: u32,
    passed: bool,
    request: Request,
    got: Got<'a>,
    differences: Vec<Differing<'a>>,
    missing: Vec<&'static str>,
}

#[derive(Serialize)]
struct Request {
    service: String,
    user: Option<String>,
    from: Option<String>,
    host: Option<String>,
    port: u16,
    address: Option<String>,
    op: &'static str,
    at: Option<String>,
}

#[derive(Serialize)]
struct Got<'a> {
    expect: &'static str,
    code: u16,
    entry: String,
    place: Option<Place>,
    parent: &'a [String],
    external: &'a [String],
}

#[derive(Serialize)]
struct Differing<'a> {
    key: &'a str,
    expected: &'a str,
    got: &'a str,
}

#[derive(Serialize)]
struct Coverage {
    service: String,
    tests: usize,
    entries: usize,
    reached: usize,
    percent: f64,
    unreached: Vec<Place>,
}

pub(super) fn write(out: &mut dyn Write, results: &Results<'_>) -> io::Result<()> {
    let (ran, failed) = (results.ran(), results.failed());
    let all: usize = results.files.iter().map(|file| file.tests).sum();
    let tests =
        results.files.iter().flat_map(|file| file.ran.iter().map(|ran| test(results, file.path, ran)));
    let document = Document {
        version: VERSION,
        tests: tests.collect(),
        coverage: results.coverage.map(|services| services.iter().map(|one| covered(results, one)).collect()),
        summary: Summary { tests: ran, passed: ran - failed, failed, left_out: all - ran },
    };
    crate::report::write_json(out, &document)
}

fn test<'a>(results: &Results<'_>, path: &'a str, ran: &'a Ran<'_>) -> Test<'a> {
    let (compiled, query) = (results.compiled, &ran.query);
    let entry = ran.got.entry.and_then(|entry| compiled.program.acls.ace(entry));
    let mut shown = Test {
        name: &ran.test.name,
        path,
        line: ran.test.at.line,
        passed: ran.differences.is_empty(),
        request: Request {
            service: describe(&compiled.sources, &compiled.program, query.service),
            user: query.user.as_ref().map(ToString::to_string),
            from: query.from.map(|from| from.to_string()),
            host: query.host(),
            port: query.port,
            address: query.address(&compiled.program).map(|address| address.to_string()),
            op: operation_name(query.operation),
            at: query.at.map(moment_name),
        },
        got: Got {
            expect: ran.got.outcome.name(),
            code: ran.answer.code.number(),
            entry: ran.got.deciding.to_string(),
            place: entry.map(|ace| Place::new(&compiled.sources, ace.at)),
            parent: &ran.got.parents,
            external: &ran.got.externals,
        },
        differences: Vec::new(),
        missing: Vec::new(),
    };
    for difference in &ran.differences {
        match difference {
            Difference::Value { key, expected, got } => {
                shown.differences.push(Differing { key, expected, got })
            }
            Difference::Missing(parts) => shown.missing.extend(parts.iter().map(|part| part.name())),
        }
    }
    shown
}

fn covered(results: &Results<'_>, one: &coverage::Coverage) -> Coverage {
    let compiled = results.compiled;
    let aces = one.unreached.iter().filter_map(|id| compiled.program.acls.ace(*id));
    Coverage {
        service: describe(&compiled.sources, &compiled.program, one.service),
        tests: one.tests,
        entries: one.entries,
        reached: one.reached,
        percent: one.percent(),
        unreached: aces.map(|ace| Place::new(&compiled.sources, ace.at)).collect(),
    }
}
