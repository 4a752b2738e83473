//! `none` as a last resort.
use super::rule::{Lint, rule};
use crate::program::auth::AuthType;

rule! {
    /// With `none` after another type every request passes: a client that the first refuses is admitted by the second.
    ///
    /// 3proxy tries the types of an `auth` line in turn until one succeeds, and `none` always does. No access list is asked then.
    ///
    /// ```3proxy,fires
    /// auth strong none
    /// users alice:CL:rabbit
    /// allow alice
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth strong
    /// users alice:CL:rabbit
    /// allow alice
    /// proxy -i127.0.0.1
    /// ```
    "none-behind-password",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = None;
    for service in &lint.program.services {
        let chain = &service.chain;
        if chain.at == told {
            continue;
        }
        let none = chain.value.iter().skip(1).find(|step| step.kind == AuthType::None);
        let Some(none) = none else { continue };
        told = chain.at;
        lint.report(
            RULE.finding(
                none.at.unwrap_or(service.at),
                "`none` admits every client that the types before it refuse",
            )
            .also(service.at, "every request to this service passes")
            .help("remove it, or write `auth none` if no client should be asked"),
        );
    }
}
