//! `user-without-name`
use grammar::value::UserTrap;

use super::{
    empty_password,
    rule::{Lint, rule},
};
use crate::program::trap::Trap;

rule! {
    /// A word of a `users` line begins with a colon: it makes a user without a name.
    ///
    /// A space before the colon parts the name from the rest.
    ///
    /// ```3proxy,fires
    /// users alice :CL:wonderland
    /// auth strong
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonderland
    /// auth strong
    /// proxy
    /// ```
    "user-without-name",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (part, trap) in lint.traps() {
        if trap == Trap::User(UserTrap::EmptyName) && !empty_password::continues(lint.sources, part.whole) {
            // The word holds a password: it is not cited.
            lint.report(
                RULE.finding(part.whole, "this user has no name")
                    .label("begins with a colon")
                    .help("write `NAME:CL:PASSWORD` without spaces"),
            );
        }
    }
}
