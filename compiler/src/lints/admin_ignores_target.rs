//! `admin-ignores-target`
use std::collections::BTreeSet;

use super::{
    reach::beyond_this_machine,
    rule::{Lint, rule},
};
use crate::{
    analysis::{
        decided,
        lists::{self, Entry},
        witness::Witness,
    },
    finding::{Finding, Level},
    program::{
        acl::{Ace, Action},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// An entry with targets decides who may see the admin page, which has no target: its targets are not compared.
    ///
    /// The addresses that are meant stand in the second column, the clients'. This page is open to everyone:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * 127.0.0.0/8
    /// admin
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 127.0.0.0/8
    /// admin
    /// ```
    ///
    /// A `deny` of targets that the page copied from the proxy's list refuses every client:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * 127.0.0.0/8
    /// allow * 192.168.0.0/16
    /// proxy
    /// admin -i127.0.0.1
    /// ```
    "admin-ignores-target",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (mut told, mut findings) = (BTreeSet::new(), Vec::new());
    let entries = lists::entries(program, |service| (service.kind == ServiceKind::Admin).then_some(()));
    for Entry { at, service, id, ace } in entries.filter(|entry| entry.ace.matcher.targets.is_some()) {
        let decided = decided::by_any(lint.policy(), at, id);
        if let Some(witness) = decided.filter(|_| told.insert(ace.at)) {
            findings.push(finding(ace, service, &witness));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

fn finding(ace: &Ace, service: &Service, witness: &Witness) -> Finding {
    let (message, help) = match ace.action {
        Action::Allow => (
            "this entry allows the admin page whatever its targets are, because the page has no target",
            "list the clients in the second column: `allow * 127.0.0.0/8`",
        ),
        Action::Deny => (
            "this entry refuses the admin page whatever its targets are, because the page has no target",
            "write `flush` and the page's own list above it",
        ),
    };
    let mut finding = RULE
        .finding(ace.at, message)
        .label("its targets are not compared")
        .also(service.at, "the list of this admin page");
    if ace.action == Action::Deny {
        finding.level = Level::Warn;
        finding = finding.note(format!("For example, {witness} is refused."));
    } else {
        finding = finding.note(format!("For example, {witness} passes."));
    }
    if ace.action == Action::Allow && beyond_this_machine(service).is_some() {
        finding = finding.note("The page can be reached from other machines.");
    }
    finding.help(help)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn entries_that_decide_nothing_there_are_left_alone() {
        for text in [
            "auth iponly\nallow * 10.0.0.0/8\nallow * * 10.0.0.0/8\nproxy\nflush\nallow * 10.0.0.0/8\nadmin\n",
            "auth none\nallow * * 10.0.0.0/8\nadmin -i127.0.0.1\n",
            "auth iponly\ndeny *\nallow * * 10.0.0.0/8\nadmin\n",
            "auth iponly\nallow * * 10.0.0.0/8 * HTTP\ndeny *\nproxy\nadmin\n",
        ] {
            check("admin-ignores-target", text);
        }
    }

    #[test]
    fn users_do_not_hide_it() {
        check(
            "admin-ignores-target",
            "users a:CL:x\nauth strong\nallow a * 10.0.0.1\n#^ this entry allows the admin page\nadmin -p81\nadmin -p82\n",
        );
    }
}
