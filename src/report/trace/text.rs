//! The way of a request as annotated source: who asks, what the list says, which way it goes, which limits apply.
use std::{
    io::{self, Write},
    net::IpAddr,
};

use annotate_snippets::{AnnotationKind, Level as Tone};
use compiler::{
    program::{
        acl::AceId,
        auth::AuthType,
        service::{External, Service},
    },
    query::Outcome,
    sources::Loc,
    table::{Decision, Fields},
    trace::{Case, Near},
    way::Origin,
};

use super::{Subject, WayOut, reply, words};
use crate::report::{
    line_number, printable,
    text::{Mark, Piece, Text},
};

/// The most ways to end that are explained each.
const EXPLAINED: usize = 4;

/// A mark that owns its label.
pub(super) struct Said {
    at: Loc,
    kind: AnnotationKind,
    label: String,
}

impl Said {
    pub(super) fn new(at: Loc, kind: AnnotationKind, label: impl Into<String>) -> Self {
        Self { at, kind, label: label.into() }
    }
}

/// A part of what is told.
pub(super) struct Section<'a> {
    pub(super) name: &'a str,
    pub(super) message: String,
    pub(super) said: Vec<Said>,
    pub(super) notes: Vec<String>,
}

impl Subject<'_> {
    /// Writes it for people.
    pub(crate) fn text(&self, out: &mut dyn Write, color: bool) -> io::Result<()> {
        let text = Text::new(color);
        if !self.trace.needs.is_empty() {
            let fields = words::fields_text(self.trace.needs);
            let (cases, options) = (self.trace.cases.len(), options(self.trace.needs));
            writeln!(
                out,
                "It depends on the {fields}, and can end in {cases} ways; {options} says which.\n"
            )?;
        }
        let Some(service) = self.service() else { return Ok(()) };
        let cases = &self.trace.cases;
        let shown = self.explained();
        for case in &shown {
            self.case(out, &text, service, case)?;
        }
        for case in cases.iter().filter(|case| !shown.iter().any(|shown| std::ptr::eq(*shown, *case))) {
            writeln!(out, "{}", printable(&self.in_short(case)))?;
        }
        if shown.len() < cases.len() {
            writeln!(out)?;
        }
        if !self.trace.is_whole {
            writeln!(out, "There may be further ways: not every value was tried.")?;
        }
        Ok(())
    }

    /// The ways to end that are explained: of many, the first that lets the request pass, and the first that does not.
    fn explained(&self) -> Vec<&Case> {
        let cases = &self.trace.cases;
        if cases.len() <= EXPLAINED {
            return cases.iter().collect();
        }
        let passes = |case: &&Case| case.answer.outcome == Outcome::Allow;
        let (passing, refused) = (cases.iter().find(passes), cases.iter().find(|case| !passes(case)));
        passing.into_iter().chain(refused).collect()
    }

    /// One of many ways to end.
    fn in_short(&self, case: &Case) -> String {
        let at = case.entry().and_then(|entry| self.entry_at(entry));
        let by = match at {
            Some(at) => format!("by line {}", line_number(self.sources, at)),
            None => "by no entry".to_owned(),
        };
        let name = case.answer.outcome.name();
        match words::assumed(self.query, &case.query) {
            Some(assumed) => format!("{name}: {by}, if {assumed}, for example"),
            None => format!("{name}: {by}"),
        }
    }

    fn case(&self, out: &mut dyn Write, text: &Text, service: &Service, case: &Case) -> io::Result<()> {
        let verdict = self.verdict(service, case);
        let sections = [
            Some(verdict),
            self.chain(service, case),
            self.list(case),
            self.way(service, case),
            self.limits(case),
        ];
        let otherwise = self.otherwise(&case.otherwise);
        for section in sections.into_iter().flatten().chain(otherwise) {
            let tone = if case.answer.outcome == Outcome::Allow { Tone::INFO } else { Tone::ERROR };
            let tone = if section.name == case.answer.outcome.name() { tone } else { Tone::NOTE };
            let title = tone.with_name(section.name).primary_title(printable(&section.message));
            let marks =
                section.said.iter().map(|said| Mark::new(self.sources, said.at, said.kind, &said.label));
            let piece = Piece {
                title,
                marks: marks.collect(),
                notes: section.notes.iter().map(String::as_str).collect(),
                help: None,
            };
            writeln!(out, "{}\n", text.piece(self.sources, piece))?;
        }
        Ok(())
    }

    /// How it ends.
    fn verdict<'a>(&self, service: &Service, case: &'a Case) -> Section<'a> {
        let mut notes = Vec::new();
        if let Some(assumed) = words::assumed(self.query, &case.query) {
            notes.push(format!("This is how it ends if {assumed}, for example."));
        }
        match reply::of(service, case) {
            Some(reply) => notes
                .push(format!("The client sees: {}. The result code is {}.", reply.text, case.answer.code)),
            None => notes.push(format!("The result code is {}.", case.answer.code)),
        }
        Section {
            name: case.answer.outcome.name(),
            message: words::request(&case.query),
            said: Vec::new(),
            notes,
        }
    }

    /// Who asks: the types of the chain.
    fn chain<'a>(&self, service: &Service, case: &Case) -> Option<Section<'a>> {
        let mut said = vec![Said::new(service.at, AnnotationKind::Primary, "this service is asked")];
        let mut notes = Vec::new();
        let several = case.answer.steps.len() > 1;
        for (number, step) in (1..).zip(&case.answer.steps) {
            let text = words::step(step, &case.query, case.cache.as_ref());
            let text = if several { format!("{number}. {text}") } else { text };
            match step.at {
                Some(at) => said.push(Said::new(at, AnnotationKind::Context, text)),
                None => notes.push(format!("By default `auth {}`: {text}.", step.kind.name())),
            }
        }
        notes.extend(case.cache.as_ref().and_then(words::key));
        let not_asked = service.chain.value.len().saturating_sub(case.answer.steps.len());
        if case.answer.steps.is_empty() {
            notes.push("It asks nothing of a client without a name (`-u2`).".to_owned());
        } else if not_asked > 0 {
            notes.push("The types after it are not asked.".to_owned());
        }
        let message = match case.answer.user() {
            Some(user) => format!("`{}`", String::from_utf8_lossy(user)),
            None if case.answer.deciding().is_some_and(|step| step.found.is_ok()) => "anybody".to_owned(),
            None => "an unknown client".to_owned(),
        };
        Some(Section { name: "who", message, said, notes })
    }

    /// What the access list says in the step that decides.
    fn list<'a>(&self, case: &Case) -> Option<Section<'a>> {
        let step = case.answer.deciding().filter(|step| step.kind != AuthType::None)?;
        let verdict = step.verdict?;
        let service = self.service()?;
        let mut said: Vec<Said> = case.near.iter().filter_map(|near| self.near(near)).collect();
        let mut notes = Vec::new();
        let message = match (verdict.entry, verdict.decision, service.acl) {
            (Some(entry), ..) => {
                let ace = self.policy.program().acls.ace(entry)?;
                said.insert(0, Said::new(ace.at, AnnotationKind::Primary, words::action(ace)));
                format!("the entry in line {} {}", line_number(self.sources, ace.at), words::action(ace))
            }
            (None, Decision::End, Some(list)) => {
                let last = self.policy.program().acls.ace(list.last)?;
                let not_last = case.near.iter().all(|near| near.entry != list.last);
                if not_last {
                    said.push(Said::new(last.at, AnnotationKind::Context, "the last entry"));
                }
                format!("none of its {} entries matches, and the end of a list refuses", list.len)
            }
            (None, Decision::Allow, _) => "there is no entry, so everything passes".to_owned(),
            (None, ..) => return None,
        };
        notes.push(self.fixed_by(case));
        Some(Section { name: "list", message, said, notes })
    }

    fn near(&self, near: &Near) -> Option<Said> {
        let at = self.entry_at(near.entry)?;
        Some(Said::new(at, AnnotationKind::Context, words::why_not(near.why)))
    }

    fn entry_at(&self, entry: AceId) -> Option<Loc> {
        self.policy.program().acls.ace(entry).map(|ace| ace.at)
    }

    fn fixed_by(&self, case: &Case) -> String {
        if case.depends_on.is_empty() {
            return "It says so whatever is asked.".to_owned();
        }
        format!("It says so to every request with the same {}.", words::fields_text(case.depends_on))
    }

    /// Which way a request goes that passes.
    fn way<'a>(&self, service: &Service, case: &Case) -> Option<Section<'a>> {
        let way = self.way_out(case)?;
        let mut said = Vec::new();
        for (number, group) in (1..).zip(&way.groups) {
            let hop = if way.groups.len() > 1 { format!("group {number}: ") } else { String::new() };
            for (parent, chance) in &group.members {
                let label = format!("{hop}{}", words::percent(f64::from(*chance) / 1000.0));
                said.push(Said::new(parent.at, AnnotationKind::Context, label));
            }
        }
        let External { v4, v6 } = service.external;
        let own = [(v4.at, IpAddr::V4(v4.value)), (v6.at, IpAddr::V6(v6.value))];
        // One of a family that the request does not go out by has no part in it.
        for (at, _) in own.into_iter().filter(|(_, address)| way.origins.contains(&Origin::Address(*address)))
        {
            if let Some(at) = at.filter(|at| !said.iter().any(|said| said.at == *at)) {
                said.push(Said::new(at, AnnotationKind::Context, "the service's own source address"));
            }
        }
        let origins: Vec<_> = way.origins.iter().map(|origin| words::origin(*origin)).collect();
        let message = format!("{}, from {}", through(&way), origins.join(" or "));
        Some(Section { name: "way", message, said, notes: notes(&way, service) })
    }

    /// Limits that apply.
    fn limits<'a>(&self, case: &Case) -> Option<Section<'a>> {
        if !case.limits_need.is_empty() {
            let message = format!("which apply depends on the {}", words::fields_text(case.limits_need));
            return Some(Section { name: "limits", message, said: Vec::new(), notes: Vec::new() });
        }
        let limits = case.limits.iter().filter_map(|limit| words::limit(self.policy, *limit));
        let said: Vec<_> = limits.map(|(at, text)| Said::new(at, AnnotationKind::Context, text)).collect();
        let message =
            if said.len() == 1 { "one applies".to_owned() } else { format!("{} apply", said.len()) };
        (!said.is_empty()).then(|| Section { name: "limits", message, said, notes: Vec::new() })
    }
}

/// The options that would leave one case.
const fn options(needs: Fields) -> &'static str {
    match (needs.has(Fields::ADDRESS), needs.has(Fields::TIME)) {
        (true, true) => "with both `--resolve` and `--at` it",
        (true, false) => "`--resolve`",
        _ => "`--at`",
    }
}

fn through(way: &WayOut<'_>) -> String {
    if way.groups.is_empty() || way.direct >= 1.0 {
        "direct".to_owned()
    } else if way.direct > 0.0 {
        format!("through parents, or direct ({} of the draws)", words::percent(way.direct))
    } else {
        "through parents".to_owned()
    }
}

fn notes(way: &WayOut<'_>, service: &Service) -> Vec<String> {
    let mut notes = Vec::new();
    let drawn = way.groups.iter().flat_map(|group| &group.members).filter(|(_, chance)| *chance > 0);
    let mut within =
        drawn.filter_map(|(parent, _)| parent.redirects_to()).filter(|kind| *kind != service.kind);
    if let Some(kind) = within.next() {
        notes.push(format!(
            "What is asked then goes to `{}` within this process, and the list is asked again for it, without the entries that do this: `cfgc trace` does not go that far.",
            kind.name()
        ));
    }
    let nobody = way.groups.iter().any(|group| group.nobody > 0);
    if way.groups.len() > 1 {
        notes.push("One parent of each group is drawn, and these form a chain.".to_owned());
    }
    if nobody && way.groups.len() > 1 {
        let shares = (1..).zip(&way.groups).filter(|(_, group)| group.nobody > 0);
        let shares: Vec<_> = shares
            .map(|(number, group)| format!("{number} ({})", words::percent(f64::from(group.nobody) / 1000.0)))
            .collect();
        notes.push(format!("It may happen that no parent of group {} is drawn.", shares.join(", ")));
    }
    if !way.groups.is_empty() {
        notes.push(format!("On failure another parent is drawn, up to {} attempts.", way.attempts));
    }
    notes
}
