//! A `deny` of one address of this machine.
use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
};

use grammar::{Span, value::items};

use super::{
    columns::{TARGETS, columns},
    reach::reaches_behind,
    rule::{Lint, rule},
};
use crate::{
    fix::{Fix, Safety},
    program::acl::{Ace, Action, AddressRange},
    sources::{Loc, Sources},
};

rule! {
    /// A `deny` of 127.0.0.1 leaves the other addresses of this machine open: 127.0.0.2 leads to it as well.
    ///
    /// All of 127.0.0.0/8 is this machine. What listens on every address, or on no certain one, is reached by each of them: the admin
    /// page, a database, whatever trusts local clients.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.1
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Deny all of them:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "loopback-denied-in-part",
    level: Warn,
    group: Security,
    since: "0.1.0",
    check: check,
}

/// One of those that are forgotten.
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// At most this many entries are walked in all: the rest of a generated file is not asked.
const BUDGET: usize = 1_000_000;
/// At most this many services with one list are asked.
const SERVICES: usize = 64;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (mut found, mut budget) = (BTreeSet::new(), BUDGET);
    for list in lint.asked_lists().iter() {
        let mut entries = program.acls.entries(list.acl);
        let Some((id, ace)) = entries.find(|(_, ace)| ace.action == Action::Deny && is_in_part(ace)) else {
            continue;
        };
        let reached = list.services(program).take(SERVICES).find_map(|service| {
            let witness = reaches_behind(id, &program.acls, service, OTHER.into(), &mut budget)?;
            Some((service.at, witness.to_string()))
        });
        if let Some((service, witness)) = reached {
            found.insert((ace.at, service, witness));
        }
    }
    for (at, service, witness) in found {
        lint.report(
            RULE.finding(at, "this `deny` covers one address of this machine, but others lead to it as well")
                .label("all of 127.0.0.0/8 is this machine")
                .also(service, "by this service")
                .note(format!("For example, {witness} passes."))
                .help("deny `127.0.0.0/8`")
                .fix(fix(lint.sources, at)),
        );
    }
}

/// Whether addresses of this machine are listed, but not all of them.
fn is_in_part(ace: &Ace) -> bool {
    let matcher = &ace.matcher;
    // One for some clients or some requests is an exception, and says nothing of the others.
    let is_for_all = matcher.users.is_none() && matcher.sources.is_none() && matcher.operations.is_none();
    let Some(targets) = matcher.targets.as_deref().filter(|_| is_for_all) else { return false };
    let has = |range: &AddressRange, address: Ipv4Addr| range.contains(IpAddr::V4(address));
    let listed = |address| targets.addresses.iter().any(|range| has(range, address));
    listed(Ipv4Addr::LOCALHOST) && !listed(OTHER)
}

/// Writes the network for the address.
fn fix(sources: &Sources, entry: Loc) -> Option<Fix> {
    let column = *columns(sources, entry).get(TARGETS)?;
    let (item, _) = items(sources.text(column)).find(|(_, item)| *item == b"127.0.0.1")?;
    let start = column.span.start;
    let at = Loc { file: column.file, span: Span::new(start + item.start, start + item.end) };
    Some(Fix::replace("deny all of 127.0.0.0/8", Safety::Unsafe, at, "127.0.0.0/8"))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn other_ways_to_this_machine_are_asked_for() {
        for (list, found) in [
            ("deny * * 127.0.0.1\nallow *", 1),
            ("deny * * 192.168.0.1,127.0.0.1,::1\nallow *", 1),
            ("deny * * 127.0.0.1\ndeny * * 127.0.0.0/8\nallow *", 0),
            ("deny * * 127.0.0.1\nallow * * *.example.net", 0),
            ("deny * * 127.0.0.1\nallow *\nparent 1000 http 203.0.113.7 3128", 0),
            ("deny * * 127.0.0.0/8\nallow *", 0),
            ("deny * * 10.0.0.1\nallow *", 0),
            ("allow * * 127.0.0.1\nallow *", 0),
            ("deny * * 127.0.0.1 * UDPASSOC\nallow * * * 80", 0),
            ("deny bob * 127.0.0.1\nallow *", 0),
            // What passes above the entry does so to 127.0.0.1 as well.
            ("allow bob * * 25\ndeny * * 127.0.0.1", 0),
        ] {
            let text = format!("internal 192.168.0.1\nauth iponly\n{list}\nproxy\n");
            assert_eq!(findings("loopback-denied-in-part", &text).len(), found, "{list}");
        }
    }
}
