//! `final-deny-missing`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::{
    acl::{AclRef, Action},
    auth::AuthType,
};

rule! {
    /// Clients that this list does not match are asked for a password that nothing checks.
    ///
    /// A request that no entry matches is answered with 407, so browsers show a login window, even where no name or password is ever
    /// asked for. An explicit `deny *` at the end answers 403, and says to readers where the list ends.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// deny *
    /// proxy -i10.0.0.1
    /// ```
    "final-deny-missing",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut seen: BTreeSet<AclRef> = BTreeSet::new();
    for list in lint.asked_lists().iter() {
        let any = |action| program.acls.entries(list.acl).any(|(_, ace)| ace.action == action);
        // Of a list that only denies there is more to say.
        if !any(Action::Allow) {
            continue;
        }
        for (at, acl) in &list.copies {
            let Some((service, last)) = program.services.get(*at).zip(program.acls.ace(acl.last)) else {
                continue;
            };
            let http = service.kind.speaks_http();
            let asks = service.chain.value.iter().any(|step| step.kind != AuthType::IpOnly);
            if http && !asks && !last.matcher.lists_nothing() && seen.insert(*acl) {
                lint.report(
                    RULE.finding(
                        last.at,
                        "clients not matched by this list are asked for a password that nothing checks",
                    )
                    .label("the last entry")
                    .also(service.at, "requests that no entry matches are answered with 407 here")
                    .help("write `deny *` at the end of the list: it answers 403"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn only_http_without_passwords_shows_a_login_window_for_nothing() {
        check(
            "final-deny-missing",
            r"
internal 127.0.0.1
allow * 10.0.0.0/8
parent 1000 socks5 192.0.2.1 1080
socks
allow * 10.0.0.1
#^ asked for a password
auto
auth iponly strong
proxy
auth strong
proxy -p3129
flush
auth iponly
allow *
proxy -p3130
",
        );
    }
}
