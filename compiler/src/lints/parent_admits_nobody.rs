//! Parents in this process that refuse all that is sent to them.
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
};

use super::{
    parent_to_itself::{
        Listeners, listeners,
        mutual::{asks, own},
        places,
    },
    rule::{Lint, rule},
};
use crate::{
    analysis::lists::{self, Entry},
    finding::{Finding, Level},
    program::{
        Program,
        acl::{Action, Matcher, Parent, ParentKind},
        auth::AuthType,
        service::Service,
    },
    way,
};

rule! {
    /// A parent is a service of this file, and that refuses every request that is sent to it.
    ///
    /// A service that asks for a name gets the one in the `parent` line, not the client's:
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// parent 1000 socks5 127.0.0.1 1080
    /// proxy -i192.168.0.1
    /// flush
    /// allow alice
    /// socks -i127.0.0.1
    /// ```
    ///
    /// Let it ask for none, or write a name and a password in the line:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice
    /// parent 1000 socks5 127.0.0.1 1080
    /// proxy -i192.168.0.1
    /// flush
    /// auth iponly
    /// allow * 127.0.0.1
    /// socks -i127.0.0.1
    /// ```
    ///
    /// And what comes from this process comes from an address of this machine. That is only a warning:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// parent 1000 socks5 127.0.0.1 1080
    /// proxy -i192.168.0.1
    /// flush
    /// allow * 192.168.0.0/16
    /// socks -i0.0.0.0
    /// ```
    "parent-admits-nobody",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Everything,
    check: check,
}

/// At most this many entries of lists are looked at.
const BUDGET: usize = 100_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(way::is_hop) || !program.process.plugins.is_empty() {
        return;
    }
    let listeners = listeners(program);
    let sources = exits(program);
    let (mut told, mut found, mut budget) = (BTreeSet::new(), Vec::new(), BUDGET);
    for entry in lists::entries(program, |_| Some(())).filter(|entry| entry.ace.redirects()) {
        for parent in first_hops(program, &entry) {
            let Some((service, why)) = refusing(program, &listeners, (&entry, parent), &sources, &mut budget)
            else {
                continue;
            };
            if told.insert(parent.at) {
                found.push(finding(parent, service, why));
            }
        }
    }
    for finding in found {
        lint.report(finding);
    }
}

/// Why a service refuses what is sent to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It asks for a name, and gets none.
    Name,
    /// Its list allows nothing that comes from this machine.
    List,
}

/// Where connections of this process may come from, beside what the system chooses.
fn exits(program: &Program) -> Vec<IpAddr> {
    let exits = program.services.iter().flat_map(|service| {
        let v4 = service.external.v4;
        let v6 = service.external.v6;
        [v4.at.map(|_| IpAddr::V4(v4.value)), v6.at.map(|_| IpAddr::V6(v6.value))]
    });
    let exits: BTreeSet<IpAddr> = exits.flatten().filter(|address| !address.is_unspecified()).collect();
    exits.into_iter().collect()
}

/// The parents to which an entry's requests are sent from this machine, and by which it is known what is asked for.
fn first_hops<'a>(program: &'a Program, entry: &Entry<'a>) -> Vec<&'a Parent> {
    let parents = program.acls.parents(entry.ace);
    // It changes the address that they come from, or says another one.
    let changes =
        |parent: &Parent| matches!(parent.kind, ParentKind::ExternalAddress | ParentKind::ProxyProtocol);
    if parents.iter().any(changes) {
        return Vec::new();
    }
    let first = way::groups(parents).into_iter().next();
    let hops = first.into_iter().flat_map(|group| group.members).map(|(parent, _)| parent);
    let is_own = |parent: &&Parent| parent.user.as_ref().is_some_and(|user| user.as_bytes() == b"*");
    hops.filter(|parent| way::is_hop(parent) && parent.port != 0 && !is_own(parent))
        .filter(|parent| !matches!(parent.kind, ParentKind::Tcp | ParentKind::Http))
        .collect()
}

/// The service that a parent is, if it refuses all that comes through it.
fn refusing<'a>(
    program: &'a Program,
    listeners: &Listeners,
    (entry, parent): (&Entry<'_>, &Parent),
    sources: &[IpAddr],
    budget: &mut usize,
) -> Option<(&'a Service, Why)> {
    let there = places(parent).into_iter().filter_map(|place| listeners.get(&place)).flatten();
    let mut services = there.filter_map(|at| program.services.get(*at)).peekable();
    let first = services.peek().copied()?;
    // With the entry in its own list it is a circle.
    let circles = |service: &Service| {
        service.asked_list().is_some_and(|acl| program.acls.entries(acl).any(|(id, _)| id == entry.id))
    };
    let mut why = None;
    for service in services {
        let len = service.asked_list().map_or(0, |acl| acl.len as usize);
        *budget = budget.checked_sub(1 + 2 * len)?;
        if circles(service) {
            return None;
        }
        why = Some(refuses(program, service, parent, sources)?);
    }
    why.map(|why| (&**first, why))
}

/// Why a service refuses all that comes through a parent. `None`: it may let something pass.
fn refuses(program: &Program, service: &Service, parent: &Parent, sources: &[IpAddr]) -> Option<Why> {
    if service.options.proxy_protocol.is_some() || service.target.is_some() {
        return None;
    }
    let from = [own(service), IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let comes = |matcher: &Matcher| {
        matcher.sources.as_deref().is_none_or(|ranges| {
            from.iter().chain(sources).any(|source| ranges.iter().any(|range| range.contains(*source)))
        })
    };
    let can = || service.kind.operations().iter().filter(|operation| asks(parent.kind, **operation));
    let allows = |name: Option<&[u8]>| {
        let Some(acl) = service.asked_list() else { return true };
        program.acls.entries(acl).any(|(_, ace)| {
            let listed = &ace.matcher.users;
            ace.action == Action::Allow
                && comes(&ace.matcher)
                && listed.as_ref().is_none_or(|users| users.iter().any(|user| user == name.unwrap_or(b"-")))
                && ace.matcher.operations.is_none_or(|operations| can().any(|one| operations.has(*one)))
        })
    };
    let name = parent.user.as_ref().map(grammar::Text::as_bytes);
    let mut why = Why::Name;
    for step in service.chain.value.iter() {
        match (step.kind, name) {
            (AuthType::IpOnly, _) if !allows(None) => why = Why::List,
            (AuthType::Strong | AuthType::UserOnly | AuthType::Radius, None) => {}
            (AuthType::Strong | AuthType::UserOnly | AuthType::Radius, Some(name)) if !allows(Some(name)) => {
                why = Why::List;
            }
            _ => return None,
        }
    }
    Some(why)
}

fn finding(parent: &Parent, service: &Service, why: Why) -> Finding {
    let finding = RULE
        .finding(parent.at, "this parent is a service of this file that refuses every request from here")
        .label("nothing passes it");
    match why {
        Why::Name => finding
            .also(service.at, "asks for a name, and the `parent` line gives none")
            .help("write a name and a password in the `parent` line, or `auth iponly` and `allow * 127.0.0.1` above that service"),
        Why::List => {
            let finding = finding
                .also(service.at, "its list allows nothing that comes from this machine")
                .help("add `allow * 127.0.0.1` to the list of that service");
            Finding { level: Level::Warn, ..finding }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn only_who_refuses_everything_is_told() {
        for (parent, lines, is_found) in [
            ("connect 127.0.0.1 3129", "auth strong\nallow a\nproxy -i127.0.0.1 -p3129", true),
            ("connect 127.0.0.1 3129 a x", "auth strong\nallow a\nproxy -i127.0.0.1 -p3129", false),
            ("connect 127.0.0.1 3129 * x", "auth strong\nallow a\nproxy -i127.0.0.1 -p3129", false),
            ("connect 127.0.0.1 3129 b x", "auth strong\nallow a\nproxy -i127.0.0.1 -p3129", true),
            ("connect 127.0.0.1 3129", "auth iponly strong\nallow a\nproxy -i127.0.0.1 -p3129", true),
            ("connect 127.0.0.1 3129", "auth iponly strong\nallow *\nproxy -i127.0.0.1 -p3129", false),
            ("connect 127.0.0.1 3129", "auth none\nallow a\nproxy -i127.0.0.1 -p3129", false),
            ("connect 127.0.0.1 3129", "auth iponly\nallow * 10.0.0.0/8\nproxy -p3129", true),
            ("connect 10.0.0.1 3129", "auth iponly\nallow * 10.0.0.0/8\nproxy -i10.0.0.1 -p3129", false),
            ("connect 127.0.0.1 3129", "auth iponly\nallow * * * * HTTP\nproxy -p3129", true),
            ("connect 127.0.0.1 3129", "auth iponly\nallow * 127.0.0.1 * 443\nproxy -p3129", false),
            ("connect 127.0.0.1 3129", "auth iponly\nproxy -p3129", false),
            ("connect 127.0.0.1 3129", "auth iponly\nallow * 10.0.0.0/8\nproxy -p3129 -H", false),
            (
                "connect 127.0.0.1 3129",
                "external 10.0.0.9\nauth iponly\nallow * 10.0.0.0/8\nproxy -p3129",
                false,
            ),
            ("http 127.0.0.1 3129", "auth strong\nallow a\nproxy -p3129", false),
            ("connect 192.0.2.9 3129", "auth strong\nallow a\nproxy -p3129", false),
            (
                "extip 10.0.0.9 0\nparent 1000 connect 127.0.0.1 3129",
                "auth iponly\nallow * 10.0.0.0/8\nproxy -p3129",
                false,
            ),
        ] {
            let text = format!(
                "users a:CL:x\nauth iponly\nallow * 192.168.0.0/16\nparent 1000 {parent}\nproxy -i192.168.0.1\nflush\n{lines}\n"
            );
            let found = findings("parent-admits-nobody", &text);
            assert_eq!(found.len(), usize::from(is_found), "{parent} / {lines}: {found:#?}");
        }
    }
}
