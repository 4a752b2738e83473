//! Failed tests for people: the entry that decided, as annotated source, and what differs.
use std::io::{self, Write};

use compiler::{
    Compiled,
    code::Code,
    finding::{Finding, Level},
    mask::Script,
    program::acl::AceId,
    query::describe,
    sources::Loc,
    suite::{
        Deciding, Ran,
        coverage::{self, Coverage},
    },
};

use super::{Lines, Results, SuiteFile};
use crate::report::{
    excerpt::{Excerpt, Room},
    line_at, line_start, place, printable,
    text::Text,
    thousands,
};

/// How many entries in a row that no test reaches are listed one by one.
const ONE_BY_ONE: usize = 8;

pub(super) fn write(out: &mut dyn Write, results: &Results<'_>, color: bool) -> io::Result<()> {
    let text = Text::new(color);
    for file in results.files {
        for ran in file.ran.iter().filter(|ran| !ran.differences.is_empty()) {
            let failure = failure(results, file, ran);
            writeln!(out, "{}", text.titled(&results.compiled.sources, "failed", &failure))?;
            write_differences(out, &text, ran)?;
            writeln!(out)?;
        }
    }
    if let Some(coverage) = results.coverage {
        write_coverage(out, results.compiled, coverage)?;
    }
    let (ran, failed) = (results.ran(), results.failed());
    let left_out = results.files.iter().map(|file| file.tests).sum::<usize>() - ran;
    write!(out, "{} passed, {failed} failed", ran - failed)?;
    if left_out > 0 {
        write!(out, ", {left_out} left out")?;
    }
    writeln!(out)
}

fn write_differences(out: &mut dyn Write, text: &Text, ran: &Ran<'_>) -> io::Result<()> {
    let is_missing = |difference: &_| matches!(Lines::of(difference), Lines::Missing(_));
    let missing = ran.differences.iter().filter(|difference| is_missing(difference)).count();
    let heading = match missing {
        0 => "expected (-), actual (+):",
        all if all == ran.differences.len() => "left open (?):",
        _ => "expected (-), actual (+), left open (?):",
    };
    writeln!(out, "{heading}")?;
    for difference in &ran.differences {
        match Lines::of(difference) {
            Lines::Differ { expected, got } => {
                writeln!(out, "{}", text.gone(&format!("- {}", printable(&expected))))?;
                writeln!(out, "{}", text.come(&format!("+ {}", printable(&got))))?;
            }
            Lines::Missing(why) => writeln!(out, "{}", text.come(&format!("? {why}")))?,
        }
    }
    Ok(())
}

/// The test and what decided, in the form of a finding.
fn failure(results: &Results<'_>, file: &SuiteFile<'_>, ran: &Ran<'_>) -> Finding {
    let compiled = results.compiled;
    let (at, label) = decided(compiled, ran);
    let test = ran.test;
    let asked = format!("{}:{}: {}", file.path, test.at.line, results.asked(&ran.query));
    let mut shown = Finding::new("", Level::Deny, at, test.name.clone()).label(label).note(asked);
    if let Some(Deciding::Line(named, line)) = &test.entry
        && test.entry.as_ref() != Some(&ran.got.deciding)
    {
        match entry_at(compiled, ran, named.as_deref(), *line) {
            Some(expected) if expected != at => shown = shown.also(expected, "this one is expected to"),
            Some(_) => {}
            None => shown = shown.note(format!("The list of this service has no entry in line {line}.")),
        }
    }
    shown
}

/// The place that decided, and what it has to do with it.
fn decided(compiled: &Compiled, ran: &Ran<'_>) -> (Loc, String) {
    let entry = ran.got.entry.and_then(|entry| compiled.program.acls.ace(entry));
    if let Some(ace) = entry {
        let label =
            if ran.answer.needs.is_empty() { "this entry decides" } else { "perhaps this entry decides" };
        return (ace.at, label.to_owned());
    }
    let code = ran.answer.code;
    let step = ran.answer.deciding();
    if let Some(step) = step.filter(|step| step.verdict.is_none() && !code.passes())
        && let Some(at) = step.at
    {
        let label = match code {
            Code::UNKNOWN_USER => "does not know the user",
            _ => "wants a user name",
        };
        return (at, label.to_owned());
    }
    let at = compiled.program.services.get(ran.query.service).map(|service| service.at).unwrap_or_default();
    let label = match ran.got.deciding {
        Deciding::End => "no entry of this service's list matches",
        _ if code.passes() => "this service asks no entry",
        _ => "this service wants a user name",
    };
    (at, label.to_owned())
}

/// The entry of the service's list in this line.
fn entry_at(compiled: &Compiled, ran: &Ran<'_>, file: Option<&str>, line: u32) -> Option<Loc> {
    let list = compiled.program.services.get(ran.query.service)?.acl?;
    let mut places = compiled.program.acls.entries(list).map(|(_, ace)| ace.at);
    places.find(|at| {
        let is_file = match (file, compiled.sources.get(at.file)) {
            (Some(file), Some(source)) => source.path.ends_with(file),
            (None, Some(source)) => source.included_at.is_none(),
            (_, None) => false,
        };
        is_file && compiled.sources.line_column(*at).line == line
    })
}

fn write_coverage(out: &mut dyn Write, compiled: &Compiled, services: &[Coverage]) -> io::Result<()> {
    let (reached, entries) =
        services.iter().fold((0, 0), |(reached, all), one| (reached + one.reached, all + one.entries));
    writeln!(out, "coverage: {}", share(reached, entries))?;
    for one in services {
        let name = describe(&compiled.sources, &compiled.program, one.service);
        let tests = if one.tests == 1 { "1 test".to_owned() } else { format!("{} tests", one.tests) };
        writeln!(out, "  {}: {}, {tests}", printable(&name), share(one.reached, one.entries))?;
        for run in runs(compiled, one) {
            write_unreached(out, compiled, &run)?;
        }
    }
    writeln!(out)
}

/// The entries that no test reaches: those that stand behind each other together.
fn runs(compiled: &Compiled, one: &Coverage) -> Vec<Vec<AceId>> {
    let list = compiled.program.services.get(one.service).and_then(|service| service.acl);
    let mut unreached = one.unreached.iter().copied().peekable();
    let mut runs: Vec<Vec<AceId>> = vec![Vec::new()];
    for (id, _) in list.into_iter().flat_map(|list| compiled.program.acls.entries(list)) {
        if unreached.next_if_eq(&id).is_none() {
            runs.push(Vec::new());
        } else if let Some(run) = runs.last_mut() {
            run.push(id);
        }
    }
    runs.retain(|run| !run.is_empty());
    runs
}

fn write_unreached(out: &mut dyn Write, compiled: &Compiled, run: &[AceId]) -> io::Result<()> {
    let lines = |ids: &[AceId]| ids.iter().filter_map(|id| entry_line(compiled, *id)).collect::<Vec<_>>();
    let folded = run.len() > ONE_BY_ONE;
    for line in lines(if folded { run.get(..1).unwrap_or_default() } else { run }) {
        writeln!(out, "    no test reaches {line}")?;
    }
    let last = run.last().filter(|_| folded).and_then(|last| entry_line(compiled, *last));
    if let Some(last) = last {
        let more = run.len() - 1;
        writeln!(out, "    nor the {} entries below it, up to {last}", thousands(more))?;
    }
    Ok(())
}

/// `3 of 4 entries (75.0 %)`.
fn share(reached: usize, entries: usize) -> String {
    if entries == 0 {
        return "no entries".to_owned();
    }
    format!("{reached} of {entries} entries ({:.1} %)", coverage::percent(reached, entries))
}

/// `path:line:column: allow …`.
fn entry_line(compiled: &Compiled, id: AceId) -> Option<String> {
    let at = compiled.program.acls.ace(id)?.at;
    let source = compiled.sources.get(at.file)?;
    let start = line_start(&compiled.sources, at);
    let line = line_at(source, start);
    let mut shown = Excerpt::default();
    shown.line(
        Script::of(&compiled.sources, source).at(&source.text, start),
        line,
        start,
        &Room::default().window(line.len(), 0),
    );
    Some(format!("{}: {}", place(&compiled.sources, at), printable(shown.text.trim_end())))
}
