//! The way of a request for programs. The form is described in docs/json.md: change both, and [`VERSION`].
use std::io::{self, Write};

use compiler::{
    chain::Identity,
    program::acl::{Ace, Action},
    query::{Query, Step, moment_name, operation_name},
    redact,
    table::{Decision, Fields},
    trace::{Case, Near, Otherwise, Reason, Why},
};
use serde::Serialize;

use super::{Subject, WayOut, reply, words};
use crate::report::json::{Place, included_from};

/// Goes up when something in the form is removed or means something else; additions leave it.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document {
    version: u32,
    service: Service,
    needs: Vec<&'static str>,
    whole: bool,
    cases: Vec<CaseForm>,
}

#[derive(Serialize)]
struct Service {
    name: String,
    place: Place,
}

#[derive(Serialize)]
struct CaseForm {
    request: Request,
    assumed: Vec<&'static str>,
    outcome: &'static str,
    code: u16,
    reply: Option<Reply>,
    chain: Vec<StepForm>,
    cache: Option<Cache>,
    entry: Option<Entry>,
    depends_on: Vec<&'static str>,
    near: Vec<NearForm>,
    way: Option<Way>,
    limits: Vec<Limit>,
    limits_need: Vec<&'static str>,
    otherwise: Vec<OtherwiseForm>,
}

#[derive(Serialize)]
struct OtherwiseForm {
    when: &'static str,
    reasons: Vec<&'static str>,
    outcome: Option<&'static str>,
    code: Option<u16>,
    entry: Option<Entry>,
    text: String,
}

#[derive(Serialize)]
struct Request {
    user: Option<String>,
    from: Option<String>,
    host: Option<String>,
    address: Option<String>,
    port: u16,
    operation: &'static str,
    at: Option<String>,
}

#[derive(Serialize)]
struct Reply {
    protocol: &'static str,
    status: Option<u16>,
    text: String,
}

#[derive(Serialize)]
struct StepForm {
    r#type: &'static str,
    /// `None`: the default chain.
    place: Option<Place>,
    found: &'static str,
    user: Option<String>,
    decision: Option<&'static str>,
    code: u16,
    text: String,
}

#[derive(Serialize)]
struct Cache {
    place: Option<Place>,
    key: Vec<KeyPart>,
    bound_to_address: bool,
    seconds: u32,
    misses: Option<&'static str>,
}

#[derive(Serialize)]
struct KeyPart {
    field: &'static str,
    value: String,
}

#[derive(Serialize)]
struct Entry {
    action: &'static str,
    place: Place,
    included_from: Vec<Place>,
}

#[derive(Serialize)]
struct NearForm {
    entry: Entry,
    why: &'static str,
    fields: Vec<&'static str>,
}

#[derive(Serialize)]
struct Way {
    groups: Vec<GroupForm>,
    direct: f64,
    attempts: u32,
    source_addresses: Vec<String>,
}

#[derive(Serialize)]
struct GroupForm {
    parents: Vec<ParentForm>,
    nobody: f64,
}

#[derive(Serialize)]
struct ParentForm {
    place: Place,
    r#type: String,
    host: String,
    port: u16,
    chance: f64,
}

#[derive(Serialize)]
struct Limit {
    place: Place,
    text: String,
}

impl Subject<'_> {
    /// Writes it for programs.
    pub(crate) fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let Some(service) = self.service() else { return Ok(()) };
        let document = Document {
            version: VERSION,
            service: Service {
                name: compiler::query::describe(self.sources, self.policy.program(), self.query.service),
                place: Place::new(self.sources, service.at),
            },
            needs: self.trace.needs.names().collect(),
            whole: self.trace.is_whole,
            cases: self.trace.cases.iter().map(|case| self.case_form(service, case)).collect(),
        };
        crate::report::write_json(out, &document)
    }

    fn case_form(&self, service: &compiler::program::service::Service, case: &Case) -> CaseForm {
        let reply = reply::of(service, case);
        let entry = case.entry().and_then(|entry| self.policy.program().acls.ace(entry));
        let limits = case.limits.iter().filter_map(|limit| words::limit(self.policy, *limit));
        CaseForm {
            request: self.request(&case.query),
            assumed: self.assumed(&case.query).names().collect(),
            outcome: case.answer.outcome.name(),
            code: case.answer.code.number(),
            reply: reply.map(|reply| Reply {
                protocol: reply.protocol,
                status: reply.status,
                text: reply.text,
            }),
            chain: case.answer.steps.iter().map(|step| self.step(step, case)).collect(),
            cache: self.cache(case),
            entry: entry.map(|entry| self.entry(entry)),
            depends_on: case.depends_on.names().collect(),
            near: case.near.iter().filter_map(|near| self.near_form(near)).collect(),
            way: self.way_out(case).map(|way| self.way_form(&way)),
            limits: limits.map(|(at, text)| Limit { place: Place::new(self.sources, at), text }).collect(),
            limits_need: case.limits_need.names().collect(),
            otherwise: case.otherwise.iter().map(|otherwise| self.otherwise_form(otherwise)).collect(),
        }
    }

    fn request(&self, query: &Query) -> Request {
        let address = query.address(self.policy.program());
        Request {
            user: query.user.as_ref().map(ToString::to_string),
            from: query.from.map(|from| from.to_string()),
            host: query.host(),
            address: address.map(|address| address.to_string()),
            port: query.port,
            operation: operation_name(query.operation),
            at: query.at.map(moment_name),
        }
    }

    /// What a case has and was not asked.
    fn assumed(&self, query: &Query) -> Fields {
        let address = query.resolved != self.query.resolved;
        let time = query.at != self.query.at;
        [(address, Fields::ADDRESS), (time, Fields::TIME)]
            .into_iter()
            .filter(|(is_assumed, _)| *is_assumed)
            .fold(Fields::NONE, |fields, (_, field)| fields.with(field))
    }

    fn step(&self, step: &Step, case: &Case) -> StepForm {
        let (found, user) = match &step.found {
            Ok(Identity::Unchecked) => ("unchecked", None),
            Ok(Identity::Hidden) => ("hidden", None),
            Ok(Identity::User { name, .. }) => ("user", Some(String::from_utf8_lossy(name).into_owned())),
            Err(_) => ("nobody", None),
        };
        let decision = step.verdict.filter(|_| found != "unchecked").map(|verdict| match verdict.decision {
            Decision::Allow => "allow",
            Decision::Redirect => "redirect",
            Decision::Deny => "deny",
            Decision::End => "end",
        });
        StepForm {
            r#type: step.kind.name(),
            place: step.at.map(|at| Place::new(self.sources, at)),
            found,
            user,
            decision,
            code: step.code.number(),
            text: words::step(step, &case.query, case.cache.as_ref()),
        }
    }

    fn cache(&self, case: &Case) -> Option<Cache> {
        let cache = case.cache.as_ref()?;
        let parts = cache.parts.iter();
        Some(Cache {
            place: cache.at.map(|at| Place::new(self.sources, at)),
            key: parts.map(|(field, value)| KeyPart { field: field.name(), value: value.clone() }).collect(),
            bound_to_address: cache.is_bound,
            seconds: cache.seconds,
            misses: cache.misses.map(words::miss_name),
        })
    }

    fn entry(&self, ace: &Ace) -> Entry {
        Entry {
            action: match ace.action {
                Action::Allow => "allow",
                Action::Deny => "deny",
            },
            place: Place::new(self.sources, ace.at),
            included_from: included_from(self.sources, ace.at),
        }
    }

    fn otherwise_form(&self, otherwise: &Otherwise) -> OtherwiseForm {
        let entry = otherwise.ends.and_then(|ends| ends.verdict?.entry);
        let ace = entry.and_then(|entry| self.policy.program().acls.ace(entry));
        OtherwiseForm {
            when: otherwise.when.name(),
            reasons: otherwise.reasons.iter().map(Reason::name).collect(),
            outcome: otherwise.ends.map(|ends| ends.outcome.name()),
            code: otherwise.ends.map(|ends| ends.code.number()),
            entry: ace.map(|ace| self.entry(ace)),
            text: self.sentence("3proxy ", otherwise),
        }
    }

    fn near_form(&self, near: &Near) -> Option<NearForm> {
        let entry = self.entry(self.policy.program().acls.ace(near.entry)?);
        let (why, fields) = match near.why {
            Why::Differs(fields) => ("differs", fields),
            Why::Outweighed(_) => ("outweighed", Fields::WEIGHT),
            Why::Unredirectable => ("unredirectable", Fields::OPERATION),
        };
        Some(NearForm { entry, why, fields: fields.names().collect() })
    }

    fn way_form(&self, way: &WayOut<'_>) -> Way {
        let chance = |thousandths: u16| f64::from(thousandths) / 1000.0;
        let groups = way.groups.iter().map(|group| GroupForm {
            parents: group
                .members
                .iter()
                .map(|(parent, thousandths)| ParentForm {
                    place: Place::new(self.sources, parent.at),
                    r#type: format!("{}{}", parent.kind.name(), if parent.secure { "s" } else { "" }),
                    host: redact::shown_of(self.sources, parent.at, &parent.host.to_string()),
                    port: parent.port,
                    chance: chance(*thousandths),
                })
                .collect(),
            nobody: chance(group.nobody),
        });
        Way {
            groups: groups.collect(),
            direct: way.direct,
            attempts: way.attempts,
            source_addresses: way.origins.iter().map(|origin| words::origin(*origin)).collect(),
        }
    }
}
