//! `weak-hash`
use super::rule::{Lint, rule};
use crate::program::auth::Password;

rule! {
    /// A user's password is kept as a hash that is quickly guessed at.
    ///
    /// MD5 (`$1$`) is tried a million times a second on one graphics card, and `NT` hashes have no salt: tables of them
    /// are for sale. `$3$` is BLAKE2b with a salt; a long password helps more than either.
    ///
    /// ```3proxy,fires
    /// users "alice:CR:$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// users "alice:CR:$3$abcdefgh$0123456789012345678901"
    /// auth strong
    /// proxy
    /// ```
    "weak-hash",
    level: Allow,
    group: Security,
    since: "0.1.0",
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for user in &lint.program.clone().users {
        let kind = match &user.password {
            Password::Crypt(hash) if hash.expose().starts_with(b"$1$") => "an MD5 hash (`$1$`)",
            Password::Nt(_) => "an NT hash, without a salt",
            Password::Crypt(_) | Password::Clear(_) => continue,
        };
        lint.report(
            RULE.finding(user.at, format!("the password of user `{}` is kept as {kind}", user.name))
                .help("make a hash of the form `$3$` with `cfgc crypt`"),
        );
    }
}
