//! `weak-hash`
use super::rule::{Lint, rule};
use crate::program::auth::Password;

rule! {
    /// A user's password is kept as an NT hash, which is quick to guess.
    ///
    /// It has no salt: equal passwords have equal hashes, and tables of them are for sale. `$1$` has a salt and is slow to try; `$3$` has a
    /// salt. A long random password helps more than either.
    ///
    /// ```3proxy,fires
    /// users alice:NT:0123456789ABCDEF0123456789ABCDEF
    /// auth strong
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users "alice:CR:$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// proxy
    /// ```
    "weak-hash",
    level: Allow,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for user in &lint.program.users {
        if matches!(user.password, Password::Nt(_)) {
            let message =
                format!("the password of user `{}` is kept as an NT hash, without a salt", user.name);
            lint.report(
                RULE.finding(user.at, message).help("make a salted hash with `cfgc crypt --scheme md5`"),
            );
        }
    }
}
