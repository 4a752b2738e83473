//! `mixed-auth-open`
use std::collections::BTreeSet;

use super::{
    reach::{Reach, beyond_this_machine, reach},
    rule::{Lint, rule},
    strangers::{Decider, Stranger, Strangers},
};
use crate::{
    finding::{Finding, Level},
    program::{
        auth::{AuthStep, AuthType},
        service::{Service, ServiceKind},
    },
};

rule! {
    /// A chain has a type that asks for a password, but an entry admits every client before that, under `iponly`.
    ///
    /// The types are asked in turn, and under `iponly` the access list is walked without a user name. So an entry that lists neither
    /// users nor addresses admits every client before or after `strong` has refused it, and nobody needs a password.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth iponly strong
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// List the clients that need no name, and the users:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth iponly strong
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    "mixed-auth-open",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Admission,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let services = program.services.iter().enumerate().filter(|(_, service)| is_mixed(service));
    let mixed = services.filter_map(|(at, service)| Some((at, service, asks(service)?, hides(service)?)));
    let mut told = BTreeSet::new();
    let mut findings = Vec::new();
    let mut strangers = Strangers::new(lint.options.runner);
    let decider = Decider::new(lint, is_mixed);
    for (at, service, password, hides) in mixed {
        let Some((step, stranger)) = strangers.open(&decider, at) else { continue };
        let chain = service.chain.at.unwrap_or(service.at);
        if step.kind == AuthType::IpOnly && told.insert(chain) {
            findings.push(finding(lint, service, (password, hides), &stranger));
        }
    }
    for finding in findings {
        lint.report(finding);
    }
}

/// What is open to the world, and the admin page, is another rule's.
fn is_mixed(service: &Service) -> bool {
    asks(service).is_some()
        && hides(service).is_some()
        && service.kind != ServiceKind::Admin
        && reach(service).is_none()
}

fn asks(service: &Service) -> Option<&AuthStep> {
    service.chain.value.iter().find(|step| step.kind.asks_password())
}

fn hides(service: &Service) -> Option<&AuthStep> {
    service.chain.value.iter().find(|step| step.kind == AuthType::IpOnly)
}

fn finding(
    lint: &Lint<'_>,
    service: &Service,
    (password, hides): (&AuthStep, &AuthStep),
    Stranger { witness, entry }: &Stranger,
) -> Finding {
    let name = password.kind.name();
    let mut finding = RULE
        .finding(
            password.at.unwrap_or(service.at),
            format!(
                "no client needs the password that `{name}` asks for, because `iponly` admits every client"
            ),
        )
        .label("a client that it refuses is still admitted");
    if let Some(at) = hides.at {
        finding = finding.also(at, "asks for no name");
    }
    finding = match entry.and_then(|id| lint.program.acls.ace(id)) {
        Some(ace) => finding.also(ace.at, "and this entry admits every client without a password"),
        None => finding.note("The access list is empty, so every client is allowed."),
    };
    if beyond_this_machine(service).is_none_or(|reach| reach == Reach::Network) {
        finding.level = Level::Warn;
    }
    finding
        .also(service.at, "of this service")
        .note(format!("For example, {witness} passes."))
        .help("list the clients that need no password (`allow - 10.0.0.0/8`), and the users in the other entries (`allow alice,bob`)")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn either_order_is_open() {
        check(
            "mixed-auth-open",
            r"
users alice:CL:x
internal 127.0.0.1
auth iponly strong
#           ^ no client needs the password
allow alice
allow *
proxy
socks
auth strong iponly
#    ^ no client needs
proxy -p3129
",
        );
    }

    #[test]
    fn an_open_proxy_is_said_once_and_a_list_of_clients_or_users_is_no_open_door() {
        check("mixed-auth-open", "users a:CL:x\nauth iponly strong\nallow *\nproxy\n");
        for list in ["allow * 10.0.0.0/8", "allow a", "allow a\ndeny *", "allow - * 10.0.0.0/8\nallow a"] {
            let text = format!("users a:CL:x\nauth iponly strong\n{list}\nproxy -i127.0.0.1\n");
            check("mixed-auth-open", &text);
        }
    }
}
