//! `strong-without-users`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::{Program, auth::AuthType, trap::Trap};

rule! {
    /// A chain asks for a password, but no user has one.
    ///
    /// `strong` compares with the `users` lines, and there is none. A file of passwords is not read until a line names it.
    ///
    /// ```3proxy,fires
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Name the users, or the file that lists them:
    ///
    /// ```3proxy,file=passwords
    /// alice:CL:wonderland
    /// ```
    ///
    /// ```3proxy,clean
    /// users $passwords
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    "strong-without-users",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Users,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    if !has_no_users(lint.program) {
        return;
    }
    let mut told = BTreeSet::new();
    // Where clients can give no name, users would not help.
    for service in lint.program.services.iter().filter(|service| service.kind.learns_names()) {
        let Some(step) = service.chain.value.iter().find(|step| step.kind == AuthType::Strong) else {
            continue;
        };
        let at = step.at.unwrap_or(service.at);
        if told.insert(at) {
            lint.report(
                RULE.finding(at, "`strong` admits nobody, because there are no users")
                    .label("there is no `users` line")
                    .also(service.at, "by this service")
                    .help("write `users NAME:CL:PASSWORD`, or `users $FILE` for a file of such words"),
            );
        }
    }
}

/// Whether `users` lines name nobody, although nothing is wrong with them: a word that makes no user, and a file that can't be read,
/// have a finding of their own.
fn has_no_users(program: &Program) -> bool {
    program.users.is_empty()
        && program.history.unread.is_empty()
        && program.process.plugins.is_empty()
        && !program.traps.iter().any(|trapped| matches!(trapped.trap, Trap::User(_)))
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, check_with};

    #[test]
    fn one_finding_for_a_chain() {
        check(
            "strong-without-users",
            "auth iponly strong\n#           ^ admits nobody\nallow *\nproxy\nsocks\nauth strong\n#    ^ nobody\nproxy -p3129\n",
        );
    }

    #[test]
    fn users_that_are_dropped_missing_or_brought_by_a_plugin_are_no_matter_of_this_rule() {
        for users in
            ["users \"a:CL:x", "users alice", "users $missing", "include missing", "plugin x.so start"]
        {
            check("strong-without-users", &format!("{users}\nauth strong\nproxy\n"));
        }
        check_with("strong-without-users", "include u\nauth strong\nproxy\n", &[("u", "users a:CL:x\n")]);
        check("strong-without-users", "auth radius\nproxy\n");
    }
}
