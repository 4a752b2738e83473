//! `users-unused`
use super::rule::{Lint, rule};
use crate::program::auth::AuthType;

rule! {
    /// Users are defined, but no service asks for their passwords.
    ///
    /// Only `strong` in an `auth` line compares with `users`. `iponly` and `none` ask for no name, `useronly` takes any.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Ask for the passwords:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// allow alice 10.0.0.0/8
    /// proxy
    /// ```
    "users-unused",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Users,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let (Some(user), Some(service)) = (program.users.first(), program.services.last()) else { return };
    let asked = |kind| kind == AuthType::Strong;
    let strong =
        program.services.iter().any(|service| service.chain.value.iter().any(|step| asked(step.kind)));
    // A plugin may bring a type that asks them; and a chain that came too late has a finding of its own.
    let unsure = !program.process.plugins.is_empty() || !program.history.unread.is_empty();
    if strong || unsure || lint.has_behind_services("auth") {
        return;
    }
    let mut finding =
        RULE.finding(user.at, "no service asks for the passwords of these users").label("never compared");
    finding = match service.chain.at {
        Some(at) => finding.also(at, "this chain asks for no password"),
        None => {
            finding.note("There is no `auth` line, so the chain is `iponly`, which asks for no password.")
        }
    };
    lint.report(finding.help("write `auth strong` above the services, or remove the users"));
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn one_service_that_asks_is_enough() {
        for text in [
            "users a:CL:x\nauth iponly strong\nproxy\nauth none\nsocks\n",
            "users a:CL:x\nproxy\nauth strong\n",
            "users a:CL:x\n",
            "plugin x.so start\nusers a:CL:x\nauth my\nproxy\n",
        ] {
            check("users-unused", text);
        }
        check("users-unused", "proxy\nusers a:CL:x b:CL:y\n#     ^ no service asks\n");
    }
}
