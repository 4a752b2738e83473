//! `parent-star-without-user`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::{
    analysis::lists,
    finding::Finding,
    program::{acl::Parent, auth::AuthType, service::Service},
};

rule! {
    /// A parent should be sent the client's own name, but no type of the chain knows it.
    ///
    /// With `*` as the user, 3proxy passes on the name and password that the client gave. Under `iponly` they are hidden while the
    /// list is checked, so every such request fails, and the client is asked for a password again and again.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128 * *
    /// proxy
    /// ```
    ///
    /// `useronly` accepts the name without checking it, since the parent does that:
    ///
    /// ```3proxy,clean
    /// auth useronly
    /// allow * 10.0.0.0/8
    /// parent 1000 connect+ 192.0.2.10 3128 * *
    /// proxy
    /// ```
    "parent-star-without-user",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if !program.acls.parents.iter().any(Parent::wants_client_credentials) {
        return;
    }
    let mut told = BTreeSet::new();
    for entry in lists::entries(program, |service| is_nameless(service).then_some(())) {
        let star = program.acls.parents(entry.ace).iter().find(|parent| parent.wants_client_credentials());
        if let Some(parent) = star.filter(|parent| told.insert(parent.at)) {
            lint.report(finding(parent, entry.service));
        }
    }
}

/// Whether every type of the chain asks the list, and without a name.
fn is_nameless(service: &Service) -> bool {
    service.chain.value.iter().all(|step| step.kind == AuthType::IpOnly)
}

fn finding(parent: &Parent, service: &Service) -> Finding {
    let finding = RULE
        .finding(parent.at, "requests through this parent fail: there is no user name to send")
        .label("`*` means the client's own name and password");
    let finding = match service.chain.value.first().and_then(|step| step.at) {
        Some(at) => finding.also(at, "`iponly` hides them"),
        None => finding.note("There is no `auth` line, so the chain is `iponly`, which hides them."),
    };
    finding
        .also(service.at, "in this service")
        .help("write `auth useronly`, which takes any name, or `auth strong`, which checks it first")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn a_type_that_knows_a_name_may_come_yet() {
        for text in [
            "auth iponly useronly\nallow *\nparent 1000 http 192.0.2.1 3128 *\nproxy\n",
            "auth none\nallow *\nparent 1000 http 192.0.2.1 3128 *\nproxy\n",
            "auth iponly\nallow *\nparent 1000 http 192.0.2.1 3128 alice secret\nproxy\n",
        ] {
            check("parent-star-without-user", text);
        }
        check(
            "parent-star-without-user",
            "allow *\nparent 1000 http 192.0.2.1 3128 *\n#^ no user name\nproxy\nsocks\n",
        );
    }
}
