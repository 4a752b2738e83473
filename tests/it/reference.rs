//! Where 3proxy decides otherwise than cfgc does, `cfgc trace` says so: what it says 3proxy does is what 3proxy was seen to do.
use std::{collections::BTreeSet, path::Path};

use compiler::{
    compile,
    policy::Policy,
    program::auth::{AuthType, CacheField, Password},
    query::{Outcome, Query, Resolution},
    sources::MemoryFiles,
    table::{Fields, Verdict},
    trace::{self, Case, When},
    way,
};
use serde_json::Value;

use crate::{
    loads::{DIR, expanded},
    support::recorded,
    trace::{alternatives, query},
};

/// The recorded cases whose decisions are compared.
const TOPICS: [&str; 6] = ["acl-", "auth", "parent-auth", "users-file", "resolver", "flush"];

/// Where a parent refuses what it is sent: that is not decided here.
const BY_THE_PARENT: [&str; 1] = ["parent-auth-013"];

/// What makes 3proxy decide otherwise in the recorded cases, and is told.
const TOLD: &[&str] = &[
    "acl-dst-010",
    "acl-dst-011",
    "acl-dst-013",
    "acl-hosts-012",
    "acl-hosts-018",
    "acl-hosts-019",
    "acl-src-017",
    "acl-src-018",
    "acl-time-020",
    "acl-weight-004",
    "authcache-010",
    "authcache-011",
    "authcache-012",
    "authcache-013",
    "authcache-014",
    "authcache-016",
    "authcache-017",
    "authcache-018",
    "authcache-027",
    "authcache-028",
    "authcache-029",
    "authcache-032",
    "authcache-034",
    "authcache-036",
    "authcache-039",
    "authcache-043",
    "authcache-046",
    "authcache-053",
    "users-file-007",
    "users-file-023",
];

/// Where another client's hit decides: not compared.
const BY_HITS: &[&str] = &["authcache-005", "authcache-042", "authcache-047", "authcache-048"];

/// How a request can end under 3proxy, and whether it goes direct then, if that is sure.
struct End {
    outcome: Option<Outcome>,
    direct: Option<bool>,
}

#[test]
fn what_is_told_of_3proxy_is_what_it_does() {
    let (mut compared, mut wrong, mut told, mut by_hits) = (0, Vec::new(), BTreeSet::new(), BTreeSet::new());
    for case in recorded::golden() {
        let topic = case["topic"].as_str().unwrap();
        let by_parent = BY_THE_PARENT.iter().any(|id| case["id"] == *id);
        let wanted = TOPICS.iter().any(|start| topic.starts_with(start)) && !by_parent;
        if !wanted || case["expect"]["loads"] != true {
            continue;
        }
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", expanded(case["config"].as_str().unwrap()));
        for (name, text) in case["files"].as_object().into_iter().flatten() {
            files.insert(format!("{DIR}/{name}"), expanded(text.as_str().unwrap()));
        }
        let compiled = compile(Path::new("3proxy.cfg"), &files);
        let policy = Policy::compile(&compiled.program);
        for (number, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let Some(mut query) = query(step, &compiled).filter(|query| is_plain(step, &policy, query))
            else {
                continue;
            };
            if query.unknown(&compiled.program).has(Fields::ADDRESS) {
                query.resolved = resolved(&case, &query);
            }
            let trace = trace::explain(&policy, &query);
            // The clock of the recording is not known.
            let [explained] = trace.cases.as_slice() else { continue };
            let recorded = &case["expect"]["steps"][number];
            if recorded["outcome"].is_null() {
                continue;
            }
            compared += 1;
            let ends = ends(&policy, explained);
            let fits: Vec<_> = ends.iter().map(|end| fits(recorded, end)).collect();
            // A hit that makes a client another one is taken here as there; what is told is of an empty cache.
            let by_hit = explained.cache.as_ref().is_some_and(|key| {
                key.misses.is_none() && !key.parts.iter().any(|(field, _)| *field == CacheField::User)
            });
            if !fits.contains(&true) && by_hit {
                by_hits.insert(case["id"].as_str().unwrap().to_owned());
                continue;
            }
            if !fits.contains(&true) {
                let shown: Vec<_> = ends.iter().map(|end| (end.outcome, end.direct)).collect();
                wrong
                    .push(format!("{} step {number}: {} told as {shown:?}", case["id"], recorded["outcome"]));
            }
            let own = End {
                outcome: Some(explained.answer.outcome),
                direct: direct(&policy, explained.answer.verdict()),
            };
            if !self::fits(recorded, &own) {
                told.insert(case["id"].as_str().unwrap().to_owned());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 600, "{compared} compared");
    assert_eq!(told.iter().map(String::as_str).collect::<Vec<_>>(), TOLD);
    assert_eq!(by_hits.iter().map(String::as_str).collect::<Vec<_>>(), BY_HITS);
}

/// Whether all that a step brings is in the query, and the query's password can be compared.
fn is_plain(step: &Value, policy: &Policy, query: &Query) -> bool {
    // A name without a password is not taken for one that can prove itself there.
    let unproved = step["user"].is_string() && !step["password"].is_string();
    let in_another_way = step["headers"].is_array() || step["userinfo"].is_string();
    let user = query.user.as_ref().and_then(|user| policy.user(user.as_bytes()));
    let hashed = match user {
        Some(Password::Crypt(hash)) => !hash.expose().is_empty(),
        Some(Password::Nt(_)) => true,
        Some(Password::Clear(_)) | None => false,
    };
    let service = &policy.program().services[query.service];
    let by_host_name = service.chain.value.iter().any(|step| step.kind == AuthType::DnsName);
    !unproved && !in_another_way && !hashed && !by_host_name
}

/// What the names of a case's world resolve to.
fn resolved(case: &Value, query: &Query) -> Resolution {
    let host = query.host().unwrap();
    let addresses = &case["dns"][&host];
    let address = ["A", "AAAA"].iter().find_map(|kind| addresses[*kind].as_str());
    address.map_or(Resolution::Nothing, |address| Resolution::Address(address.parse().unwrap()))
}

/// The ways to end that are told for 3proxy.
fn ends(policy: &Policy, case: &Case) -> Vec<End> {
    let mut own = End { outcome: Some(case.answer.outcome), direct: direct(policy, case.answer.verdict()) };
    let mut further = Vec::new();
    for otherwise in &case.otherwise {
        let end = End {
            outcome: otherwise.ends.map(|ends| ends.outcome),
            direct: otherwise.ends.and_then(|ends| direct(policy, ends.verdict)),
        };
        if otherwise.when == When::Always {
            own = end;
        } else {
            further.push(end);
        }
    }
    further.push(own);
    further
}

fn direct(policy: &Policy, verdict: Option<Verdict>) -> Option<bool> {
    let share = way::direct_share(&way::groups(verdict.map_or(&[][..], |verdict| policy.parents(verdict))));
    if share >= 1.0 {
        Some(true)
    } else if share <= 0.0 {
        Some(false)
    } else {
        None
    }
}

/// Whether a step ended so.
fn fits(recorded: &Value, end: &End) -> bool {
    let Some(outcome) = end.outcome else { return true };
    let ended = alternatives(&recorded["outcome"]).into_iter().any(|recorded| match recorded {
        "ok" => outcome == Outcome::Allow,
        "rejected" => outcome != Outcome::Allow,
        "denied" => matches!(outcome, Outcome::Deny | Outcome::AuthRequired),
        "auth-required" => matches!(outcome, Outcome::Deny | Outcome::AuthRequired),
        "connect-failed" => matches!(outcome, Outcome::Allow | Outcome::Unresolved),
        _ => true,
    });
    let passed = recorded["outcome"] == "ok" && outcome == Outcome::Allow;
    let went = recorded["via"].as_array().filter(|_| passed).map(Vec::is_empty);
    ended && (went.is_none() || end.direct.is_none() || went == end.direct)
}
