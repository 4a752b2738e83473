//! `parent-extends-distant-entry`
use std::collections::{BTreeSet, HashMap};

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    program::{
        acl::{Ace, AceId, Parent},
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// A parent extends an entry that a service above it has already copied.
    ///
    /// `parent` belongs to the last entry of the list, whatever comes between. So the service above goes direct, and the one below, by the
    /// same entry, through the parent.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// parent 1000 socks5 192.0.2.10 1080
    /// socks
    /// ```
    ///
    /// Give each service a list of its own:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// flush
    /// allow * 10.0.0.0/8
    /// parent 1000 socks5 192.0.2.10 1080
    /// socks
    /// ```
    "parent-extends-distant-entry",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let acls = &program.acls;
    if acls.parents.is_empty() {
        return;
    }
    let mut copied: HashMap<AceId, &Service> = HashMap::new();
    for service in &program.services {
        if let Some(acl) = service.acl {
            copied.entry(acl.last).or_insert(service);
        }
    }
    let late: BTreeSet<Loc> = program.behind_services.iter().map(|command| command.at).collect();
    // Versions of one entry, of which each but the last was copied.
    let mut before: HashMap<Loc, (AceId, &Ace)> = HashMap::new();
    for (id, ace) in (0..).map(AceId).zip(&acls.aces) {
        let Some((old, version)) = before.insert(ace.at, (id, ace)) else { continue };
        let had = acls.parents(version).len();
        let new = acls.parents(ace).get(had).filter(|parent| !late.contains(&parent.at));
        if let Some((parent, service)) = new.zip(copied.get(&old)) {
            lint.report(finding(parent, ace, service));
        }
    }
}

fn finding(parent: &Parent, ace: &Ace, service: &Service) -> Finding {
    RULE.finding(parent.at, "this parent belongs to an entry above a service line")
        .label("applies only to the services below")
        .also(ace.at, "extends this entry")
        .also(service.at, "this service has already copied it without the parent")
        .help("move it above the service, or write `flush` and the list of the services below")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn parents_of_one_entry_are_told_once() {
        check(
            "parent-extends-distant-entry",
            r"
allow *
parent 1000 extip 192.0.2.1 0
proxy
parent 500 socks5 192.0.2.2 1080
#^ an entry above a service
parent 500 socks5 192.0.2.3 1080
socks
",
        );
    }

    #[test]
    fn what_changes_something_else_or_comes_too_late_is_not_this() {
        for text in [
            "allow *\nproxy\nnolog\nsocks\n",
            "allow *\nproxy\nparent 1000 socks5 192.0.2.2 1080\n",
            "allow *\nproxy\nallow *\nparent 1000 socks5 192.0.2.2 1080\nsocks\n",
            "allow *\nconnlim 1 0\nparent 1000 socks5 192.0.2.2 1080\nproxy\n",
        ] {
            check("parent-extends-distant-entry", text);
        }
    }
}
