//! `fakeresolve-without-plus`
use std::{collections::BTreeSet, net::IpAddr};

use grammar::{Span, value};

use super::{
    columns,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        decided,
        lists::{self, Entry},
        witness::Witness,
    },
    finding::Finding,
    fix::{Fix, Safety},
    program::{
        acl::{Ace, Action, Parent, ParentKind},
        resolve::{Resolver, ResolverMode},
        service::{Service, ServiceKind},
    },
    sources::{Loc, Sources},
    way,
};

rule! {
    /// With `fakeresolve` every name is 127.0.0.2, and this request is sent on with that address instead of the name.
    ///
    /// `fakeresolve` leaves names to the parent. Only the types with a `+`, and `http` in the `proxy` service, tell the parent the name.
    ///
    /// ```3proxy,fires
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5+ 192.0.2.10 1080
    /// proxy
    /// ```
    ///
    /// Without a parent the connection goes to this machine itself:
    ///
    /// ```3proxy,fires
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// An entry for addresses may go direct:
    ///
    /// ```3proxy,clean
    /// fakeresolve
    /// auth iponly
    /// allow * 10.0.0.0/8 192.168.0.0/16
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128
    /// proxy
    /// ```
    "fakeresolve-without-plus",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// What every name is.
const FAKE: IpAddr = IpAddr::V4(Resolver::FAKE_V4);
/// At most this many requests are tried for each entry.
const TRIED: usize = 32;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mode = program.resolver.mode;
    let Some(fake) = mode.at.filter(|_| mode.value == ResolverMode::Fake) else { return };
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    let connects = |service: &Service| !matches!(service.kind, ServiceKind::Admin | ServiceKind::Dnspr);
    let entries = lists::entries(program, |service| connects(service).then_some(service.kind));
    for Entry { at, service, id, ace } in entries.filter(|entry| entry.ace.action == Action::Allow) {
        let Some(way) = loses_name(program.acls.parents(ace), service.kind) else { continue };
        let place = way.map_or(ace.at, |parent| parent.at);
        if told.contains(&place) {
            continue;
        }
        if let Some(witness) = decided::by_any_as(lint.policy(), at, id, TRIED, by_name) {
            told.insert(place);
            findings.push(finding(lint.sources, (fake, ace, service), way, &witness));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// How a request loses its name: at a parent, or (`Some(None)`) since there is none. `None`: the name is passed on.
fn loses_name(parents: &[Parent], kind: ServiceKind) -> Option<Option<&Parent>> {
    // What a local redirection makes of the request is said by the entry that decides it then.
    if parents.iter().any(Parent::is_local) {
        return None;
    }
    let groups = way::groups(parents);
    let hops = |group: &way::Group<'_>| {
        group.members.iter().any(|(parent, chance)| *chance > 0 && way::is_hop(parent))
    };
    // The last hop is told the target.
    let Some(last) = groups.iter().rfind(|group| hops(group)) else { return Some(None) };
    let tells = |parent: &Parent| match parent.kind {
        ParentKind::Http => true,
        ParentKind::ConnectName | ParentKind::Socks4Name | ParentKind::Socks5Name => true,
        // Bytes go there, whatever the target is: and a port mapper's target is no client's.
        ParentKind::Tcp => true,
        _ => kind == ServiceKind::Udppm,
    };
    let mut drawn = last.members.iter().filter(|(parent, chance)| *chance > 0 && way::is_hop(parent));
    drawn.find(|(parent, _)| !tells(parent)).map(|(parent, _)| Some(*parent))
}

/// A request by name, as the list sees it: at the address that every name has.
fn by_name(mut witness: Witness) -> Option<Witness> {
    if value::address(witness.target.host.as_deref()?).is_some() {
        return None;
    }
    witness.target.address = Some(FAKE);
    Some(witness)
}

fn finding(
    sources: &Sources,
    (fake, ace, service): (Loc, &Ace, &Service),
    way: Option<&Parent>,
    witness: &Witness,
) -> Finding {
    let finding = match way {
        Some(parent) => RULE
            .finding(
                parent.at,
                format!("a parent of type `{}` is sent 127.0.0.2 instead of the name", parent.kind.name()),
            )
            .label("is sent the address")
            .also(ace.at, "for what this entry matches")
            .fix(plus(sources, parent)),
        None => RULE
            .finding(ace.at, "requests by name go to 127.0.0.2, which is this machine itself")
            .label("has no parent that resolves the name"),
    };
    let help = if way.is_some() {
        "write a type with a `+`, or remove `fakeresolve`"
    } else {
        "give the entry a parent of a type with a `+`, or remove `fakeresolve`"
    };
    finding
        .also(fake, "resolves every name to 127.0.0.2")
        .also(service.at, "in this service")
        .note(format!("For example, {witness} is affected."))
        .help(help)
}

/// Puts a `+` behind the type.
fn plus(sources: &Sources, parent: &Parent) -> Option<Fix> {
    let can = matches!(parent.kind, ParentKind::Connect | ParentKind::Socks4 | ParentKind::Socks5);
    let at = columns::parent_type_at(sources, parent.at)?;
    let written = sources.text(at) == parent.kind.name().as_bytes();
    let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
    (can && written).then(|| Fix::replace("leave the name to the parent", Safety::Unsafe, end, "+"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn the_last_hop_is_told_the_target() {
        for text in [
            "allow *\nparent 1000 socks5 192.0.2.1 1080\nparent 1000 connect+ 192.0.2.2 3128\nproxy\n",
            "allow *\nparent 1000 http 192.0.2.1 3128\nproxy\n",
            "allow *\nparent 1000 extip 192.0.2.9 0\nparent 1000 socks5+ 192.0.2.1 1080\nsocks\n",
            "deny *\nsocks\n",
            "auth none\nsocks\n",
            "allow *\nparent 1000 socks5+ 192.0.2.1 1080\ntcppm 25 192.0.2.9 25\n",
        ] {
            check("fakeresolve-without-plus", &format!("fakeresolve\n{text}"));
        }
        check("fakeresolve-without-plus", "allow *\nparent 1000 socks5 192.0.2.1 1080\nproxy\n");
    }

    #[test]
    fn a_hop_of_a_group_or_an_address_alone_loses_the_name() {
        check(
            "fakeresolve-without-plus",
            r"
fakeresolve
allow * * *.example.com
parent 500 socks5+ 192.0.2.1 1080
parent 500 socks4 192.0.2.1 1080
#^ is sent 127.0.0.2
allow * * 10.0.0.0/8
allow * * !
#^ this machine itself
parent 1000 extip 192.0.2.9 0
proxy
socks
"
            .replace(" !", "")
            .as_str(),
        );
    }
}
