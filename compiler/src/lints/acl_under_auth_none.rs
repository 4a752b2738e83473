//! `acl-under-auth-none`
use std::collections::{BTreeMap, BTreeSet};

use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    program::{
        acl::{Ace, AceId, Acls, Action, ListId, Matcher},
        auth::AuthType,
        service::Service,
    },
    sources::Loc,
};

rule! {
    /// An access list stands under `auth none`, which never looks at it.
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
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    // How far services that ask walk each list.
    let mut walked: BTreeMap<ListId, u32> = BTreeMap::new();
    for service in program.services.iter().filter(|service| !under_none(service)) {
        if let Some(acl) = service.acl {
            let far = walked.entry(acl.list).or_default();
            *far = (*far).max(acl.len);
        }
    }
    let mut told = BTreeSet::new();
    let mut searched: BTreeMap<ListId, (u32, Option<AceId>)> = BTreeMap::new();
    for service in program.services.iter().filter(|service| under_none(service)) {
        let Some(acl) = service.acl else { continue };
        let from = walked.get(&acl.list).copied().unwrap_or_default();
        let (searched, found) = searched.entry(acl.list).or_insert((from, None));
        let list = program.acls.lists.get(acl.list.0 as usize).map_or(&[][..], Vec::as_slice);
        let copied = list.get(*searched as usize..acl.len.saturating_sub(1) as usize).unwrap_or_default();
        *searched = (*searched).max(acl.len.saturating_sub(1));
        let last = (acl.len > from).then_some(acl.last);
        let new =
            copied.iter().copied().chain(last).find(|id| program.acls.ace(*id).is_some_and(does_something));
        *found = found.or(new);
        let (Some(ace), Some(at)) = (found.and_then(|id| program.acls.ace(id)), none_at(service)) else {
            continue;
        };
        if told.insert(at) {
            report(lint, service, at, ace);
        }
    }
}

/// Whether a service passes everything without asking its list.
fn under_none(service: &Service) -> bool {
    service.chain.value.first().is_some_and(|step| step.kind == AuthType::None)
}

fn none_at(service: &Service) -> Option<Loc> {
    service.chain.value.first()?.at
}

/// Whether passing everything, directly, is something else than what an entry says.
fn does_something(ace: &Ace) -> bool {
    ace.action == Action::Deny || ace.redirects() || ace.matcher != Matcher::default()
}

fn report(lint: &mut Lint<'_>, service: &Service, at: Loc, ace: &Ace) {
    let acls: &Acls = &lint.program.acls;
    let mut finding = RULE
        .finding(at, "the access list is never looked at: `auth none` lets every request pass")
        .label("every request passes")
        .also(ace.at, "this entry is never asked");
    if let Some(parent) = acls.parents(ace).first() {
        finding = finding.also(parent.at, "this parent is never used: requests go direct");
    }
    finding = finding
        .also(service.at, "by this service")
        .help("write `auth iponly` for a list without passwords, or `auth strong` for one with users");
    let users =
        service.acl.is_some_and(|list| acls.entries(list).any(|(_, ace)| ace.matcher.users.is_some()));
    if !users {
        finding = finding.fix(Fix::replace("write `iponly` for `none`", Safety::Unsafe, at, "iponly"));
    }
    lint.report(finding);
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
#    ^ never looked at
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
            "deny * 10.0.0.1\nproxy\nauth none\n#    ^ never looked at\nallow * 10.0.0.0/8\nsocks\n",
        );
    }
}
