//! `user-without-name`
use grammar::value::UserTrap;

use super::{
    rule::{Misread, rule},
    user_words,
};
use crate::{finding::Finding, program::trap::Trap};

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
    trap: Trap::User(UserTrap::EmptyName) => finding,
}

fn finding(part: Misread<'_>) -> Option<Finding> {
    // The word holds a password: it is not cited.
    (!user_words::continues(part.sources, part.whole)).then(|| {
        RULE.finding(part.whole, "this user has no name")
            .label("begins with a colon")
            .help("write `NAME:CL:PASSWORD` without spaces")
    })
}
