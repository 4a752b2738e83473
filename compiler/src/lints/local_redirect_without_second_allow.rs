//! `local-redirect-without-second-allow`
use std::collections::{BTreeSet, HashMap};

use super::{
    matched::Universe,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        decided,
        lists::{self, Entry},
        requests::{askable::Askable, cell::Work},
        witness::{Space, Witness},
    },
    finding::Finding,
    policy::Policy,
    program::{
        acl::{Ace, AclRef, Acls, Action, Matcher, Parent},
        service::{Service, ServiceKind},
    },
    table::Request,
};

rule! {
    /// Requests that a local redirection hands on are refused by the same list.
    ///
    /// The list is walked again for what the request has become, without the entries that redirect within the process. So another `allow`
    /// must be in it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// parent 1000 http 0.0.0.0 0
    /// socks
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8 * 80
    /// parent 1000 http 0.0.0.0 0
    /// allow * 10.0.0.0/8 * 80 HTTP
    /// socks
    /// ```
    "local-redirect-without-second-allow",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

/// At most this many requests are tried for each entry that may let the redirected one pass, and at most this many for all of them.
const TRIED: usize = 32;
const BUDGET: usize = 200_000;
/// How much work is put into what the entries have in common.
const WORK: u64 = 20_000_000;
/// And how much into each two.
const WORK_OF_PAIR: usize = 1000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(Parent::is_local) {
        return;
    }
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    let (mut budget, mut work) = (BUDGET, Work(WORK));
    let mut others: HashMap<AclRef, Vec<&Ace>> = HashMap::new();
    for Entry { at, service, id, ace } in lists::entries(program, |service| Some(service.kind)) {
        let first = program.acls.parents(ace).first();
        let Some((parent, to)) = first.and_then(|parent| Some((parent, parent.redirects_to()?))) else {
            continue;
        };
        if to == service.kind || told.contains(&parent.at) {
            continue;
        }
        let Some(acl) = service.acl else { continue };
        let others = others.entry(acl).or_insert_with(|| allowing(&program.acls, acl));
        let Some(witness) = decided::by_any(lint.policy(), at, id) else { continue };
        let meeting = meeting(ace, others, to, &mut work);
        if may_pass(lint.policy(), at, service, to, &meeting, &mut budget) == Some(false) {
            told.insert(parent.at);
            findings.push(finding(parent, ace, service, to, &witness));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// The entries of a list that let pass what was handed on.
fn allowing(acls: &Acls, acl: AclRef) -> Vec<&Ace> {
    let is_local = |ace: &Ace| acls.parents(ace).first().is_some_and(Parent::is_local);
    let entries = acls.entries(acl).map(|(_, ace)| ace);
    entries.filter(|ace| ace.action == Action::Allow && !is_local(ace)).collect()
}

/// Those of `others` that some request may match which `redirecting` handed on to a service of the kind `to`: the client, the target
/// and the time are the same. If that is too much work, all.
fn meeting<'a>(redirecting: &Ace, others: &[&'a Ace], to: ServiceKind, work: &mut Work) -> Vec<&'a Ace> {
    let handed_on = Matcher { operations: Some(to.operations().into()), ..redirecting.matcher.clone() };
    let asked = Askable::everything();
    let meets = |ace: &&&Ace| {
        if !work.spend(WORK_OF_PAIR) {
            return true;
        }
        let universe = Universe::of(&asked, [&handed_on, &ace.matcher].into_iter());
        universe.meets(&universe.matched(&handed_on), &ace.matcher, work) || !work.spend(1)
    };
    others.iter().filter(meets).copied().collect()
}

/// Whether one of some entries of a service's list lets anything pass that was handed on to a service of the kind `to`. `None`: not
/// known.
fn may_pass(
    policy: &Policy,
    at: usize,
    service: &Service,
    to: ServiceKind,
    entries: &[&Ace],
    budget: &mut usize,
) -> Option<bool> {
    // What it has become: the same client and target, another operation.
    let become_ = Service { kind: to, ..service.clone() };
    for ace in entries {
        for step in service.chain.value.iter() {
            let space = Space::accepted(&ace.matcher, &become_, step.kind, policy);
            for witness in space.requests(TRIED) {
                *budget = budget.checked_sub(1)?;
                let request = Request { redirected: true, ..witness.request() };
                if policy.decide(at, &request).passes() {
                    return Some(true);
                }
            }
        }
    }
    Some(false)
}

fn finding(parent: &Parent, ace: &Ace, service: &Service, to: ServiceKind, witness: &Witness) -> Finding {
    RULE.finding(
        parent.at,
        "requests that are redirected here are refused, because no other entry allows them",
    )
    .label(format!("goes on as a request to `{}`, for which the list is checked again", to.name()))
    .also(ace.at, "this entry is skipped then")
    .also(service.at, "by this service")
    .note(format!("For example, {witness} is refused."))
    .help("write an `allow` for such requests after it")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn any_entry_that_lets_it_pass_will_do() {
        for rest in
            ["allow *", "allow * * * 80 HTTP", "deny * * evil.example\nallow *", "allow * * * * HTTP_GET"]
        {
            check(
                "local-redirect-without-second-allow",
                &format!("allow * * * 80\nparent 1000 http 0.0.0.0 0\n{rest}\nsocks\n"),
            );
        }
    }

    #[test]
    fn an_entry_for_something_else_will_not_do() {
        for rest in [
            "deny *\nallow *",
            "allow * * * * CONNECT",
            "allow * * * 80\nparent 1000 http 0.0.0.0 0",
            "allow * * * 443",
            "allow * * * 1-79,81-65535 HTTP",
        ] {
            let text = format!(
                "allow * * * 80\nparent 1000 http 0.0.0.0 0\n#^ requests that are redirected here are refused\n{rest}\nsocks\nsocks -p2\n"
            );
            check("local-redirect-without-second-allow", &text);
        }
        check(
            "local-redirect-without-second-allow",
            "deny *\nallow * * * 80\nparent 1000 http 0.0.0.0 0\nsocks\n",
        );
    }
}
