//! `cleartext-password`
use super::{
    rule::{Lint, rule},
    user_words,
};
use crate::program::auth::Password;

rule! {
    /// A user's password is in clear text in the configuration.
    ///
    /// Whoever reads the file, a backup or a repository of it knows the password. A hash can only be guessed at.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
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
    "cleartext-password",
    level: Allow,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for user in &lint.program.users {
        let clear = matches!(&user.password, Password::Clear(password) if !password.expose().is_empty());
        if clear && !user_words::continues(lint.sources, user.at) {
            lint.report(
                RULE.finding(user.at, format!("the password of user `{}` is in clear text", user.name))
                    .help("write a hash (`NAME:CR:HASH`); `cfgc crypt` prints one"),
            );
        }
    }
}
