//! `acl-under-auth-none`
use std::collections::{BTreeMap, BTreeSet};

use super::rule::{Lint, rule};
use crate::{
    analysis::lists::{Having, Once},
    finding::Finding,
    fix::{Fix, Safety},
    program::{
        acl::{Ace, Acls, Action, ListId, Matcher},
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// An access list follows `auth none`, which never checks it.
    ///
    /// With `auth none` every request passes: no entry refuses it, and no parent is used. For a list without passwords write
    /// `auth iponly`.
    ///
    /// ```3proxy,fires
    /// auth none
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// A list that another service walks is not meant for this one, nor is one that lets everything pass:
    ///
    /// ```3proxy,clean
    /// allow * 10.0.0.0/8
    /// proxy
    /// auth none
    /// tcppm 2525 mail.example.com 25
    /// flush
    /// allow *
    /// tcppm 5353 ns.example.com 53
    /// ```
    "acl-under-auth-none",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut once = Once::default();
    for acl in program.services.iter().filter_map(|service| service.asked_list()) {
        once.skip(acl);
    }
    let mut named = Having::new(&program.acls, |ace| ace.matcher.users.is_some());
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    // Of each list, the first entry that is never asked.
    let mut unasked: BTreeMap<ListId, Option<&Ace>> = BTreeMap::new();
    for service in program.services.iter().filter(|service| !service.asks_list()) {
        let Some(acl) = service.acl else { continue };
        let first = once.fresh(&program.acls, acl).map(|(_, ace)| ace).find(|ace| does_something(ace));
        let unasked = unasked.entry(acl.list).or_default();
        *unasked = unasked.or(first);
        let (Some(ace), Some(at)) = (*unasked, none_at(service)) else { continue };
        if told.insert(at) {
            findings.push(finding(&program.acls, service, at, ace, named.holds(acl)));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

fn none_at(service: &Service) -> Option<Loc> {
    service.chain.value.first()?.at
}

/// Whether passing everything, directly, is something else than what an entry says.
fn does_something(ace: &Ace) -> bool {
    ace.action == Action::Deny || ace.redirects() || ace.matcher != Matcher::default()
}

/// `named`: an entry lists users.
fn finding(acls: &Acls, service: &Service, at: Loc, ace: &Ace, named: bool) -> Finding {
    let mut finding = RULE
        .finding(at, "the access list is never checked: `auth none` allows every request")
        .label("allows every request")
        .also(ace.at, "this entry is never reached");
    if let Some(parent) = acls.parents(ace).first() {
        finding = finding.also(parent.at, "this parent is never used: requests go direct");
    }
    let finding = finding
        .also(service.at, "by this service")
        .help("write `auth iponly` for a list without passwords, or `auth strong` for one with users");
    let instead = || Fix::replace("write `iponly` for `none`", Safety::Unsafe, at, "iponly");
    finding.fix((!named).then(instead))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_parent_is_part_of_a_list() {
        check(
            "acl-under-auth-none",
            r"
auth none
#    ^ never checked
allow *
parent 1000 socks5 192.0.2.10 1080
socks
",
        );
    }

    #[test]
    fn the_default_chain_walks_the_list() {
        check("acl-under-auth-none", "deny *\nproxy\n");
    }

    #[test]
    fn a_later_service_may_walk_what_an_earlier_one_did_not() {
        check("acl-under-auth-none", "auth none\ndeny * 10.0.0.1\ndnspr\nauth iponly\nallow *\nproxy\n");
    }

    #[test]
    fn entries_added_for_the_service_are_not_excused_by_those_before() {
        check(
            "acl-under-auth-none",
            "deny * 10.0.0.1\nproxy\nauth none\n#    ^ never checked\nallow * 10.0.0.0/8\nsocks\n",
        );
    }
}
