//! Passwords that are guessed first.
use super::{
    rule::{Lint, rule},
    user_words,
};
use crate::program::auth::Password;

rule! {
    /// A password is the user's own name, or one that everyone tries first.
    ///
    /// Open ports are found within hours, and attackers then try `admin` with `admin`, `proxy` with `proxy` and a few dozen common
    /// passwords. A proxy that lets them in is used as an open one.
    ///
    /// ```3proxy,fires
    /// users admin:CL:admin
    /// auth strong
    /// allow admin
    /// proxy -i192.168.0.1
    /// ```
    ///
    /// Use a long random password, best as a hash that `cfgc crypt` makes:
    ///
    /// ```3proxy,clean
    /// users "admin:CR:$1$k3Jw9sQz$1Z1Ql1sKbqYxg6bHkX3uT/"
    /// auth strong
    /// allow admin
    /// proxy -i192.168.0.1
    /// ```
    "guessable-password",
    level: Warn,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// What is tried first, in lower case. Digits that count up are [counted](is_counted).
const COMMON: [&str; 33] = [
    "000000",
    "111111",
    "123123",
    "3proxy",
    "3proxypass",
    "654321",
    "666666",
    "abc123",
    "admin",
    "administrator",
    "changeme",
    "default",
    "guest",
    "letmein",
    "login",
    "master",
    "monkey",
    "p@ssw0rd",
    "pass",
    "passw0rd",
    "password",
    "password1",
    "proxy",
    "proxypass",
    "qwerty",
    "qwerty123",
    "root",
    "secret",
    "socks",
    "test",
    "user",
    "user1",
    "welcome",
];

fn check(lint: &mut Lint<'_>) {
    for user in &lint.program.users {
        let Password::Clear(password) = &user.password else { continue };
        let password = password.expose();
        if password.is_empty() || user_words::continues(lint.sources, user.at) {
            continue;
        }
        // Which of the two is not said, and with no word that may be one: it would be hidden, and so told.
        if password.eq_ignore_ascii_case(user.name.as_bytes()) || is_common(password) {
            lint.report(
                RULE.finding(user.at, "the password of this account is easy to guess")
                    .label("the same as the name, or a common password")
                    .help("choose a long random password"),
            );
        }
    }
}

fn is_common(password: &[u8]) -> bool {
    is_counted(password) || COMMON.iter().any(|common| password.eq_ignore_ascii_case(common.as_bytes()))
}

/// Whether it is `1234…`, as long as it is.
fn is_counted(password: &[u8]) -> bool {
    password.len() > 2 && b"1234567890".starts_with(password)
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::findings;

    #[test]
    fn what_everyone_tries_is_found_and_not_told() {
        let mut told = Vec::new();
        for (word, found) in [
            ("admin:CL:admin", 1),
            ("zeefeer:CL:Zeefeer", 1),
            ("zeefeer:zeefeer", 1),
            ("adm:CL:123", 1),
            ("adm:CL:password", 1),
            ("adm:CL:user", 1),
            ("adm:CL:12345678", 1),
            ("bob:CL:P@ssw0rd", 1),
            ("bob:CL:hunter2", 0),
            ("bob:CL:bobby", 0),
            ("bob:CL:1243", 0),
            ("bob:CL:", 0),
            ("bob:CR:bob", 0),
        ] {
            let text = format!("users {word}\nauth strong\nallow *\nproxy -i127.0.0.1\n");
            let findings = findings("guessable-password", &text);
            assert_eq!(findings.len(), found, "{word}");
            // The same words for each password: they don't tell which it is.
            let texts =
                |it: &crate::finding::Finding| (it.message.clone(), it.label.clone(), it.help.clone());
            told.extend(findings.iter().map(texts));
        }
        told.dedup();
        assert_eq!(told.len(), 1, "{told:#?}");
    }
}
