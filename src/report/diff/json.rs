//! The comparison for programs. The form is described in docs/json.md: change both, and [`VERSION`].
use std::io::{self, Write};

use compiler::{
    change::{Changes, Class, ListChange, Requests, ServiceChange, SettingChange, UserChange, Values},
    program::acl::{AceId, Operation},
    query::{describe, moment_name, operation_name},
    redact::shown,
    sources::Loc,
    table::Decision,
};
use serde_json::{Map, Value, json};

use super::{Names, Versions, words::Version};

/// Goes up when something in the form is removed or means something else; additions leave it.
const VERSION: u32 = 1;

/// Writes one document.
pub(crate) fn json(out: &mut dyn Write, versions: Versions<'_>, changes: &Changes) -> io::Result<()> {
    let Changes { opened, closed, changed, kept, settings: whole, users, lists, uncompared } = changes;
    let each =
        |version: Version<'_>, all: &[usize]| all.iter().map(|at| service(version, *at)).collect::<Vec<_>>();
    let changed = changed.iter().map(|ServiceChange { old, new, settings: differing }| {
        json!({
            "old": service(versions.before(), *old),
            "new": service(versions.after(), *new),
            "settings": settings(versions, differing),
        })
    });
    let is_guess =
        [versions.old, versions.new].iter().any(|one| one.findings.iter().any(|finding| finding.refused));
    let names = Names::of(versions);
    let document = json!({
        "version": VERSION,
        "differs": !changes.is_empty(),
        "guess": is_guess,
        "services": {
            "kept": kept,
            "opened": each(versions.after(), opened),
            "closed": each(versions.before(), closed),
            "changed": changed.collect::<Vec<_>>(),
        },
        "settings": settings(versions, whole),
        "users": users.iter().map(|one| user(versions, &names, one)).collect::<Vec<_>>(),
        "lists": lists.iter().map(|change| list(versions, change)).collect::<Vec<_>>(),
        "uncompared": pairs(versions, uncompared),
    });
    crate::report::write_json(out, &document)
}

fn service(version: Version<'_>, at: usize) -> Value {
    let Version(compiled) = version;
    let line = compiled.program.services.get(at).map(|service| service.at);
    json!({
        "name": describe(&compiled.sources, &compiled.program, at),
        "place": line.map(|at| place(version, at)),
    })
}

fn pairs(versions: Versions<'_>, services: &[(usize, usize)]) -> Vec<Value> {
    let pair = |(old, new): &(usize, usize)| json!({ "old": service(versions.before(), *old), "new": service(versions.after(), *new) });
    services.iter().map(pair).collect()
}

fn place(Version(compiled): Version<'_>, at: Loc) -> Value {
    let position = compiled.sources.line_column(at);
    let path = compiled.sources.get(at.file).map(|source| source.path.display().to_string());
    json!({ "path": path.unwrap_or_default(), "line": position.line, "column": position.column })
}

fn settings(versions: Versions<'_>, settings: &[SettingChange]) -> Vec<Value> {
    let side = |version: Version<'_>, at: Option<Loc>| {
        at.map(|at| json!({ "text": version.source(at), "place": place(version, at) }))
    };
    let setting = |SettingChange { name, old, new }: &SettingChange| json!({ "name": name, "old": side(versions.before(), *old), "new": side(versions.after(), *new) });
    settings.iter().map(setting).collect()
}

fn user(versions: Versions<'_>, names: &Names<'_>, user: &UserChange) -> Value {
    let UserChange { name: _, old, new } = user;
    json!({
        "name": names.name(user),
        "old": old.map(|at| place(versions.before(), at)),
        "new": new.map(|at| place(versions.after(), at)),
    })
}

fn list(versions: Versions<'_>, change: &ListChange) -> Value {
    json!({
        "services": pairs(versions, &change.services),
        "classes": change.classes.iter().map(|one| class(versions, one)).collect::<Vec<_>>(),
        "more": change.more,
        "undecided": change.undecided,
        "weights_not_followed": change.weights,
    })
}

fn class(versions: Versions<'_>, class: &Class) -> Value {
    json!({
        "old": verdict(versions.before(), class.old),
        "new": verdict(versions.after(), class.new),
        "complete": class.complete,
        "requests": class.requests.iter().map(requests).collect::<Vec<_>>(),
        "witness": witness(class),
    })
}

fn verdict(version: Version<'_>, (entry, decision): (Option<AceId>, Decision)) -> Value {
    let acls = &version.0.program.acls;
    let ace = entry.and_then(|id| acls.ace(id));
    let word = match decision {
        Decision::Allow => "allow",
        Decision::Deny => "deny",
        Decision::Redirect => "redirect",
        Decision::End => "end",
    };
    json!({
        "decision": word,
        "entry": ace.map(|ace| place(version, ace.at)),
        "parents": ace.map_or(&[][..], |ace| acls.parents(ace)).iter().map(ToString::to_string).collect::<Vec<_>>(),
        "logged": ace.is_none_or(|ace| !ace.nolog),
    })
}

fn requests(requests: &Requests) -> Value {
    let Requests { users, sources, hosts, addresses, ports, operations: asked, times } = requests;
    let fields = [
        ("users", users),
        ("sources", sources),
        ("hosts", hosts),
        ("addresses", addresses),
        ("ports", ports),
        ("times", times),
    ];
    let limited = fields.into_iter().filter(|(_, values)| !values.is_any());
    let mut all: Map<String, Value> =
        limited.map(|(name, values)| (name.to_owned(), self::values(values))).collect();
    all.insert("operations".to_owned(), json!(operations(asked)));
    Value::Object(all)
}

fn operations(operations: &[Operation]) -> Vec<&'static str> {
    operations.iter().map(|operation| operation_name(*operation)).collect()
}

fn values(Values { items, but, omitted, but_omitted, unknown }: &Values) -> Value {
    let shown = |items: &[String]| items.iter().map(|item| shown(item.as_bytes())).collect::<Vec<_>>();
    json!({ "items": items.as_deref().map(shown), "omitted": omitted, "but": shown(but), "but_omitted": but_omitted, "unknown": unknown })
}

fn witness(class: &Class) -> Value {
    let text = |bytes: &Vec<u8>| shown(bytes);
    let witness = &class.witness;
    json!({
        "user": witness.user.as_ref().map(text),
        "source": witness.source.to_string(),
        "host": witness.target.host.as_ref().map(text),
        "address": witness.target.address.map(|address| address.to_string()),
        "port": witness.port,
        "operation": operation_name(witness.operation),
        "time": moment_name(witness.time),
    })
}
