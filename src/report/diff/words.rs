//! The words of a comparison.
use compiler::{
    Compiled,
    change::{Class, Requests, Values},
    mask::Script,
    program::acl::{AceId, Operation, Parent},
    query::{moment_name, operation_name},
    redact::shown,
    sources::Loc,
    table::Decision,
};
use grammar::Span;

use super::super::{excerpt::Excerpt, line_at, line_start, printable};

/// How many values of a field are named.
const VALUES: usize = 6;
/// How many bytes of a line are shown.
const SHOWN: usize = 160;

/// One of the configurations.
#[derive(Clone, Copy)]
pub(super) struct Version<'a>(pub(super) &'a Compiled);

impl Version<'_> {
    /// `line 3`, or where it is in another file `hosts.cfg:3`.
    pub(super) fn line(self, at: Loc) -> String {
        let Self(Compiled { sources, .. }) = self;
        let line = sources.line_column(at).line;
        match sources.get(at.file).filter(|source| source.included_at.is_some()) {
            Some(source) => format!("{}:{line}", printable(&source.path.display().to_string())),
            None => format!("line {line}"),
        }
    }

    /// What stands at a place, in one line, without secrets.
    pub(super) fn source(self, at: Loc) -> String {
        let Self(Compiled { sources, .. }) = self;
        let Some(source) = sources.get(at.file) else { return String::new() };
        let start = line_start(sources, at);
        let line = line_at(source, start);
        let from = (at.span.start as usize - start).min(line.len());
        let to = (at.span.end as usize - start).min(line.len()).min(from + SHOWN);
        let mut excerpt = Excerpt::default();
        let script = Script::of(sources, source).at(&source.text, start);
        excerpt.line(script, line, start, &(from..to.max(from)));
        let whole = at.span.end as usize - start <= to;
        let shown = excerpt.text.trim_matches('…').trim();
        if whole { printable(shown).into_owned() } else { format!("{}…", printable(shown)) }
    }

    /// The whole line of a place, without secrets.
    pub(super) fn whole(self, at: Loc) -> String {
        let Self(Compiled { sources, .. }) = self;
        let Some(source) = sources.get(at.file) else { return String::new() };
        let start = line_start(sources, at);
        let end = start + line_at(source, start).len();
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.source(Loc { span: Span::new(offset(start), offset(end)), ..at })
    }

    /// `allow (line 3)`, with the way out and what is not logged. Of parents the first is named, and the one that is `telling`.
    pub(super) fn verdict(self, entry: Option<AceId>, decision: Decision, telling: Option<usize>) -> String {
        let Self(compiled) = self;
        let acls = &compiled.program.acls;
        let Some(ace) = entry.and_then(|id| acls.ace(id)) else {
            return match decision {
                Decision::Allow | Decision::Redirect => "allow (no list is asked)".to_owned(),
                Decision::Deny | Decision::End => "deny (end of the list)".to_owned(),
            };
        };
        let parents = acls.parents(ace);
        let through = match (decision, parents) {
            (Decision::Redirect, [first, rest @ ..]) => {
                let other = telling.filter(|at| *at > 0).and_then(|at| parents.get(at));
                let named: Vec<String> = [first]
                    .into_iter()
                    .chain(other)
                    .map(|parent| printable(&parent.to_string()).into_owned())
                    .collect();
                let more = match (rest.len() + 1).saturating_sub(named.len()) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(" through {}{more}", named.join(", "))
            }
            _ => String::new(),
        };
        let word = if decision.passes() { "allow" } else { "deny" };
        let unlogged = if ace.nolog { ", not logged" } else { "" };
        format!("{word}{through}{unlogged} ({})", self.line(ace.at))
    }
}

/// The verdicts of a class, old and new, and what else differs where they read the same.
pub(super) fn verdicts(versions: [Version<'_>; 2], class: &Class) -> ([String; 2], Option<String>) {
    let sides = [class.old, class.new];
    let parents = |at: usize| -> &[Parent] {
        let (Some(Version(compiled)), Some((Some(entry), _))) = (versions.get(at), sides.get(at)) else {
            return &[];
        };
        let acls = &compiled.program.acls;
        acls.ace(*entry).map_or(&[], |ace| acls.parents(ace))
    };
    let (old, new) = (parents(0), parents(1));
    let shown = |parents: &[Parent], at: usize| parents.get(at).map(ToString::to_string);
    let count = old.len().max(new.len());
    let telling = (0..count).find(|at| shown(old, *at) != shown(new, *at));
    let [before, after] = versions;
    let both =
        [before.verdict(class.old.0, class.old.1, telling), after.verdict(class.new.0, class.new.1, telling)];
    let [old_text, new_text] = &both;
    let other = (old_text == new_text).then(|| old.iter().zip(new).find_map(other_parent)).flatten();
    (both, other)
}

/// What differs of two parents that read the same.
fn other_parent((old, new): (&Parent, &Parent)) -> Option<String> {
    let what = [
        ("weight", old.weight != new.weight),
        ("user", old.user != new.user),
        ("password", old.password != new.password),
    ];
    let differing: Vec<&str> = what.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    let parent = new.to_string();
    (!differing.is_empty())
        .then(|| format!("`{}` has another {}", printable(&parent), differing.join(" and another ")))
}

/// What a class of requests comes under.
pub(super) fn title(class: &Class) -> &'static str {
    match (class.old.1.passes(), class.new.1.passes()) {
        (false, true) => "newly allowed",
        (true, true) => "allowed another way",
        (true, false) => "newly refused",
        (false, false) => "refused by another entry",
    }
}

/// `CONNECT by bob from 10.1.0.0/16 to *:25`.
pub(super) fn requests(requests: &Requests, all: &[Operation]) -> String {
    let Requests { users, sources, hosts, addresses, ports, operations, times } = requests;
    let mut parts = Vec::new();
    if all.iter().any(|operation| !operations.contains(operation)) {
        parts.push(operations.iter().map(|one| operation_name(*one)).collect::<Vec<_>>().join(","));
    }
    for (word, values) in [("by", users), ("from", sources)] {
        if !values.is_any() {
            parts.push(format!("{word} {}", listed(values, "")));
        }
    }
    if !hosts.is_any() || !addresses.is_any() || !ports.is_any() {
        parts.push(format!("to {}", target(hosts, addresses, ports)));
    }
    if !times.is_any() {
        parts.push(format!("at {}", listed(times, "")));
    }
    if parts.is_empty() { "every request".to_owned() } else { parts.join(" ") }
}

fn target(hosts: &Values, addresses: &Values, ports: &Values) -> String {
    let target = match (hosts.is_any(), addresses.is_any()) {
        (true, true) => "*".to_owned(),
        (false, true) => listed(hosts, ""),
        (true, false) => listed(addresses, "no address"),
        (false, false) => format!("{} at {}", listed(hosts, ""), listed(addresses, "no address")),
    };
    let port = listed(ports, "unknown");
    match (ports.is_any(), target.contains([' ', ',', ':', '/']) || port.contains([' ', ','])) {
        (true, _) => target,
        (false, false) => format!("{target}:{port}"),
        (false, true) => format!("{target} port {port}"),
    }
}

fn listed(values: &Values, unknown: &str) -> String {
    let some = |items: &[String], omitted: usize| {
        let more = items.len().saturating_sub(VALUES) + omitted;
        let shown =
            items.iter().take(VALUES).map(|item| shown(item.as_bytes())).collect::<Vec<_>>().join(",");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let mut items = values.items.clone();
    match (&mut items, values.unknown) {
        (Some(items), Some(true)) if !unknown.is_empty() => items.push(unknown.to_owned()),
        _ => {}
    }
    let shown = items.map_or_else(|| "*".to_owned(), |items| some(&items, values.omitted));
    let mut but = values.but.clone();
    if values.unknown == Some(false) && values.items.is_none() {
        but.push(unknown.to_owned());
    }
    if but.is_empty() { shown } else { format!("{shown} but {}", some(&but, values.but_omitted)) }
}

/// A request of a class, with the time if that matters.
pub(super) fn witness(class: &Class) -> String {
    let host = class.witness.target.host.as_deref().unwrap_or_default();
    // What an entry was to say and does not, as `172.16.0.0/33`: read as a name, it is none that anybody asks for.
    if host.iter().any(|byte| b"/, ;".contains(byte)) {
        return format!("nobody asks for: `{}` is neither a name nor an address", shown(host));
    }
    format!("such as {}", request(class))
}

fn request(class: &Class) -> String {
    let timed = class.requests.iter().any(|requests| !requests.times.is_any());
    let at = if timed { format!(", {}", moment_name(class.witness.time)) } else { String::new() };
    let address = class.witness.target.address.filter(|address| {
        let host = class.witness.target.host.as_deref().map(String::from_utf8_lossy);
        class.requests.first().is_some_and(|requests| !requests.addresses.is_any())
            && host.is_some_and(|host| host != address.to_string())
    });
    let name =
        || String::from_utf8_lossy(class.witness.target.host.as_deref().unwrap_or_default()).into_owned();
    let resolved = address
        .map_or_else(String::new, |address| format!(" (if `{}` is {address})", shown(name().as_bytes())));
    format!("{}{resolved}{at}", shown(class.witness.to_string().as_bytes()))
}
