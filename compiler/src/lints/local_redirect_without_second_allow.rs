//! `local-redirect-without-second-allow`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    finding::Finding,
    policy::{
        Policy, decided,
        lists::{self, Entry},
        witness::{Space, Witness},
    },
    program::{
        acl::{Ace, Action, Parent},
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

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(Parent::is_local) {
        return;
    }
    let (mut told, mut findings, mut budget) = (BTreeSet::new(), Vec::new(), BUDGET);
    for Entry { at, service, id, ace } in lists::entries(program, |service| Some(service.kind)) {
        let first = program.acls.parents(ace).first();
        let Some((parent, to)) = first.and_then(|parent| Some((parent, parent.redirects_to()?))) else {
            continue;
        };
        if to == service.kind || told.contains(&parent.at) {
            continue;
        }
        let Some(witness) = decided::by_any(lint.policy(), at, id) else { continue };
        if may_pass(lint.policy(), at, service, to, &mut budget) == Some(false) {
            told.insert(parent.at);
            findings.push(finding(parent, ace, service, to, &witness));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// Whether the list of a service lets anything pass that was handed on to a service of the kind `to`. `None`: not known.
fn may_pass(
    policy: &Policy,
    at: usize,
    service: &Service,
    to: ServiceKind,
    budget: &mut usize,
) -> Option<bool> {
    let acls = &policy.program().acls;
    // What it has become: the same client and target, another operation.
    let become_ = Service { kind: to, ..service.clone() };
    for (_, ace) in acls.entries(service.acl?).filter(|(_, ace)| ace.action == Action::Allow) {
        if acls.parents(ace).first().is_some_and(Parent::is_local) {
            continue;
        }
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
        for rest in ["deny *\nallow *", "allow * * * * CONNECT", "allow * * * 80\nparent 1000 http 0.0.0.0 0"]
        {
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
