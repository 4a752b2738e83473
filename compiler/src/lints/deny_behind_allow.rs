//! A `deny` at the end of a list, where it refuses nothing.
use std::collections::BTreeSet;

use super::{
    matched::covers,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        lists::AskedList,
        witness::{Space, Witness},
    },
    program::{
        Program,
        acl::{Ace, AceId, Action, Matcher},
    },
    sources::Loc,
};

rule! {
    /// A `deny` at the end of a list has no effect: what the entries above allow stays allowed, and all else is refused anyway.
    ///
    /// The first entry that matches decides, and what no entry matches is refused. So a ban must stand above the entries that
    /// allow.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80,443
    /// deny * * *.ads.example
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * *.ads.example
    /// allow * 10.0.0.0/8 * 80,443
    /// proxy -i10.0.0.1
    /// ```
    "deny-behind-allow",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// At most this many entries of a list are looked at, from its end on and from its beginning.
const MOST: usize = 64;
/// Of the `allow`s above a ban, at most this many are looked at for those which are no exemption from it.
const MOST_EXEMPTING: usize = 256;
/// At most this many requests are tried for each, and for all lists together.
const TRIED: usize = 64;
const BUDGET: usize = 250_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let shadowed: BTreeSet<AceId> = lint.shadowed().iter().map(|shadowed| shadowed.entry).collect();
    let (mut found, mut budget) = (Vec::new(), BUDGET);
    for list in lint.asked_lists().iter() {
        // None of the bans stands before one of these: behind a ban there are only others.
        let allow = |(_, ace): &(AceId, &Ace)| ace.action == Action::Allow;
        let allows: Vec<&Ace> =
            program.acls.entries(list.acl).filter(allow).map(|(_, ace)| ace).take(MOST_EXEMPTING).collect();
        // Not what bans nothing in particular, or is told to be unreachable.
        let bans = final_denies(program, list)
            .filter(|(_, ace)| !ace.nolog && ace.weight == 0)
            .filter(|(id, ace)| ace.matcher.targets.is_some() && !shadowed.contains(id));
        for (_, ace) in bans {
            if let Some((passing, service, witness)) = passing(lint, list, ace, &allows, &mut budget) {
                found.push((ace.at, passing, service, witness));
            }
        }
    }
    for (at, passing, service, witness) in found {
        lint.report(
            RULE.finding(
                at,
                "this entry has no effect: requests that no entry above allows are refused anyway",
            )
            .label("comes too late")
            .also(passing, "allows what it was meant to refuse")
            .also(service, "in this service")
            .note(format!("For example, {witness} passes."))
            .help("move it above the `allow` entries"),
        );
    }
}

/// The `deny`s that a list ends with, the last first.
fn final_denies<'a>(program: &'a Program, list: &AskedList) -> impl Iterator<Item = (AceId, &'a Ace)> {
    let len = list.acl.len;
    let last: Vec<_> = program.acls.entries_from(list.acl, len.saturating_sub(MOST as u32)).collect();
    last.into_iter().rev().take_while(|(_, ace)| ace.action == Action::Deny)
}

/// A request that an entry matches and that one of the `allows` above it lets pass; the latter, and the service.
fn passing(
    lint: &Lint<'_>,
    list: &AskedList,
    deny: &Ace,
    allows: &[&Ace],
    budget: &mut usize,
) -> Option<(Loc, Loc, Witness)> {
    let program = lint.program;
    let (at, _) = list.copies.first()?;
    let service = program.services.get(*at)?;
    // Who lets some clients go anywhere before a ban for more of them exempts them.
    let exempts = |allow: &Matcher| {
        let is_for_some = allow.users.is_some() || allow.sources.is_some();
        let is_anywhere = allow.targets.is_none() && allow.ports.is_none() && allow.operations.is_none();
        is_for_some && is_anywhere && is_for_fewer(allow, &deny.matcher)
    };
    let above = allows.iter().filter(|ace| !exempts(&ace.matcher));
    let mut both = above.take(MOST).map(|allow| common(&deny.matcher, &allow.matcher));
    both.find_map(|matcher| {
        service.chain.value.iter().find_map(|step| {
            let space = Space::accepted(&matcher, service, step.kind, lint.policy());
            space.requests(TRIED.min(*budget)).find_map(|witness| {
                *budget = budget.saturating_sub(1);
                let verdict = lint.policy().decide(*at, &witness.request());
                let entry = program.acls.ace(verdict.entry?).filter(|_| verdict.passes())?;
                Some((entry.at, service.at, witness))
            })
        })
    })
}

/// Whether an entry is for a part of the clients that another is for.
fn is_for_fewer(entry: &Matcher, other: &Matcher) -> bool {
    let clients = |matcher: &Matcher| Matcher {
        users: matcher.users.clone(),
        sources: matcher.sources.clone(),
        ..Matcher::default()
    };
    let (entry, other) = (clients(entry), clients(other));
    covers(&other, &entry) && !covers(&entry, &other)
}

/// What `deny` lists, and where it lists nothing what `allow` does: requests that the former matches, and the latter may.
fn common(deny: &Matcher, allow: &Matcher) -> Matcher {
    Matcher {
        users: deny.users.clone().or_else(|| allow.users.clone()),
        sources: deny.sources.clone().or_else(|| allow.sources.clone()),
        targets: deny.targets.clone().or_else(|| allow.targets.clone()),
        ports: deny.ports.clone().or_else(|| allow.ports.clone()),
        operations: deny.operations.or(allow.operations),
        weekdays: deny.weekdays.or(allow.weekdays),
        periods: deny.periods.clone().or_else(|| allow.periods.clone()),
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn what_a_list_ends_with_is_judged_by_what_passes() {
        for (list, found) in [
            ("allow * * * 80 HTTP\nallow * * * 443 HTTPS\ndeny * * bad.example", 1),
            ("allow * * * 80\ndeny * * bad.example\ndeny * * worse.example", 2),
            ("allow * * * 80\ndeny * * bad.example\ndeny *", 1),
            ("allow * * * 80\ndeny * * bad.example\nallow *", 0),
            ("deny * * bad.example\nallow * * * 80\ndeny *", 0),
            ("allow * * good.example\ndeny * * bad.example", 0),
            ("deny * * bad.example", 0),
            // Who is exempt from a ban.
            ("allow * 192.168.0.9\ndeny * * bad.example", 0),
            ("allow root\ndeny * * bad.example", 0),
            ("allow * 10.0.0.0/24\ndeny * 10.0.0.0/8 bad.example", 0),
            ("allow * 10.0.0.0/8\ndeny * 10.0.0.0/24,192.168.0.0/16 bad.example", 1),
        ] {
            let text = format!("internal 127.0.0.1\nauth iponly\n{list}\nproxy\n");
            let told = findings("deny-behind-allow", &text);
            assert_eq!(told.len(), found, "{list}: {told:#?}");
        }
    }
}
