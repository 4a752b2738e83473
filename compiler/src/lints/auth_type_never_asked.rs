//! `auth-type-never-asked`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::auth::{AuthStep, AuthType};

rule! {
    /// A type has no effect: it comes after one that always succeeds, or it is named twice.
    ///
    /// The types are asked in turn until one succeeds, and `none` always does.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth none strong
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth iponly strong
    /// allow - 10.0.0.0/8
    /// allow alice
    /// proxy
    /// ```
    "auth-type-never-asked",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut told = BTreeSet::new();
    for service in &lint.program.services {
        let chain = &service.chain.value;
        let Some((step, before)) = vain(chain) else { continue };
        let (Some(at), Some(first)) = (step.at, before.at) else { continue };
        if !told.insert(at) {
            continue;
        }
        let name = step.kind.name();
        let (message, label, help) = if before.kind == AuthType::None {
            (
                format!("`{name}` is never asked, because `none` before it allows every request"),
                "allows every client",
                "remove `none`, or the types after it",
            )
        } else {
            (
                format!("`{name}` is asked twice, with the same result"),
                "asked here first",
                "remove one of the two",
            )
        };
        lint.report(
            RULE.finding(at, message).also(first, label).also(service.at, "by this service").help(help),
        );
    }
}

/// The first type that is asked in vain, and the one that makes it so.
fn vain(chain: &[AuthStep]) -> Option<(&AuthStep, &AuthStep)> {
    chain.iter().enumerate().find_map(|(at, step)| {
        let mut earlier = chain.iter().take(at);
        earlier
            .find(|before| before.kind == AuthType::None || before.kind == step.kind)
            .map(|before| (step, before))
    })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn behind_none_and_twice() {
        check(
            "auth-type-never-asked",
            r"
auth none iponly strong
#         ^ `iponly` is never asked
proxy
socks
auth strong iponly strong
#                  ^ asked twice
proxy -p2
auth strong none
proxy -p3
",
        );
    }
}
