//! Words of a `users` line that make no user.
use grammar::value::UserTrap;

use super::{
    rule::{Lint, Misread, rule},
    user_words,
};
use crate::{
    finding::{Finding, Level},
    fix::Safety,
    program::trap::Trap,
    sources::Loc,
};

rule! {
    /// A word of a `users` line that 3proxy can't read is silently dropped, so the user does not exist.
    ///
    /// A user is `NAME:TYPE:PASSWORD`. The type is `CL`, `CR` or `NT`, in capitals; without a colon the word is skipped. A longer
    /// type, as in `bob:MD5:HASH`, is read as the beginning of the password; this is only a warning.
    ///
    /// ```3proxy,fires
    /// users alice:Cl:secret
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// users alice:CL:secret
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// users alice:CL:secret "bob:CR:$1$abcdefgh$0123456789012345678901" carol:secret
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    "user-dropped",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let mut comment: Option<Loc> = None;
    let mut parted: Option<Loc> = None;
    for (part, trap) in lint.traps() {
        let Trap::User(trap) = trap else { continue };
        // In a file of users that is another fault.
        if user_words::comment(lint.sources, part.at).is_some() {
            continue;
        }
        if trap == UserTrap::NoColon {
            // Words in a row are one fault: parts of one user, or a list of names.
            let ahead = parted.replace(part.at);
            if ahead.is_some_and(|ahead| user_words::adjoin(lint.sources, ahead, part.at)) {
                continue;
            }
            // One comment is one fault, however many words it has.
            let line = |at: Loc| lint.sources.line_column(at).line;
            if comment.is_some_and(|at| at.file == part.at.file && line(at) == line(part.at)) {
                continue;
            }
            if part.text.starts_with(b"#") {
                comment = Some(part.at);
            }
        }
        // The rest of an entry that a space parted is no entry of its own.
        if trap == UserTrap::NoColon && user_words::continues(lint.sources, part.at) {
            continue;
        }
        if let Some(finding) = found(part, trap) {
            lint.report(finding);
        }
    }
}

/// `None`: the trap is another rule's.
fn found(part: Misread<'_>, trap: UserTrap) -> Option<Finding> {
    let word = part.unquoted();
    let name =
        String::from_utf8_lossy(word.split(|byte| *byte == b':').next().unwrap_or_default()).into_owned();
    let finding = match trap {
        // The word may be a password: it is not cited.
        UserTrap::NoColon if word.starts_with(b"#") => RULE
            .finding(part.at, "a `#` after a command does not start a comment, and this word is not a user")
            .label("skipped")
            .help("write the comment on a line of its own"),
        UserTrap::NoColon if word.iter().all(|byte| b",;|=".contains(byte)) => {
            let title = "separate the users with spaces alone";
            RULE.finding(part.at, "this word is not a user: users are separated by spaces alone")
                .label("skipped")
                .help(title)
                .fix(part.replaced(title, Safety::Safe, ""))
        }
        UserTrap::NoColon if is_path(&word) => RULE
            .finding(part.at, "this word is not a user, and without a `$` it names no file of users")
            .label("skipped")
            .help("write a `$` before the path of a file of users"),
        UserTrap::NoColon => RULE
            .finding(part.at, "this word is not a user, because it has no colon")
            .label("skipped")
            .help("write it as `NAME:CL:PASSWORD`"),
        UserTrap::TypeInPassword => return Some(type_in_password(&name, part)),
        UserTrap::UnknownType => return Some(unknown_type(&name, part)),
        UserTrap::HashTooLong => RULE
            .finding(part.whole, format!("user `{name}` is dropped, because the hash is too long"))
            .label("3proxy has room for 61 bytes")
            .help("write a hash of the forms `$1$` or `$3$`"),
        UserTrap::EmptyName | UserTrap::EmptyPassword | UserTrap::HashAsPassword | UserTrap::HashUnknown => {
            return None;
        }
    };
    Some(
        finding.note(
            "A user is `NAME:TYPE:PASSWORD`, where the type is `CL`, `CR` or `NT`, or `NAME:PASSWORD`.",
        ),
    )
}

/// Whether a word looks like the path of a file: a password may begin so, but seldom goes on so.
fn is_path(word: &[u8]) -> bool {
    let slashes = word.iter().filter(|byte| **byte == b'/').count();
    let is_plain = word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(byte));
    is_plain && (word.starts_with(b"./") || word.starts_with(b"/") && slashes > 1)
}

/// The two bytes between colons are no type. They may be part of a password, so they are cited only if they look like a type.
fn unknown_type(name: &str, kind: Misread<'_>) -> Finding {
    let capitals = kind.cited().to_ascii_uppercase();
    let meant = matches!(capitals.as_str(), "CL" | "CR" | "NT");
    let finding = RULE
        .finding(kind.at, format!("user `{name}` is dropped, because 3proxy does not know its type"))
        .label("the type")
        .note("Types are `CL` (the password itself), `CR` (its hash) and `NT`; two bytes between colons are always read as a type.");
    if meant {
        let fix = kind.replaced("write the type in capitals", Safety::Safe, capitals.clone());
        return finding.help(format!("write `{capitals}`")).fix(fix);
    }
    finding.help(format!("write `{name}:CL:PASSWORD`"))
}

/// What stands behind the name looks like a type and is none. It may be a part of the password, so it is not cited. The user is there,
/// so the finding only warns.
fn type_in_password(name: &str, part: Misread<'_>) -> Finding {
    let mut finding = RULE
        .finding(
            part.at,
            format!(
                "3proxy reads what looks like the type of user `{name}` as the beginning of the password"
            ),
        )
        .label("the password is everything after the colon")
        .note(
            "Types have two letters: `CL` (the password itself), `CR` (its hash: `$1$…` or `$3$…`) and `NT`.",
        )
        .help(format!(
            "write `{name}:CR:HASH`, or `{name}:CL:PASSWORD` if the password really begins like this"
        ));
    finding.level = Level::Warn;
    finding
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn each_kind_of_word_that_makes_no_user() {
        check(
            "user-dropped",
            r"
users user1:cl:a user2:PL:b user3 user4:ab:c
#           ^ user `user1` is dropped
#                      ^ user `user2` is dropped
#                           ^ this word is not a user, because it has no colon
#                                       ^ user `user4` is dropped
users user5:CL:a # the boss
#                ^ a `#` after a command does not start a comment
users user7:MD5:a user8:CL:MD5:a
#     ^ 3proxy reads what looks like the type of user `user7`
users user5 user6:CL:a
#     ^ this word is not a user
users /run/secrets/users
#     ^ this word is not a user, and without a `$` it names no file of users
users /a9/xQ==
#     ^ this word is not a user, because
users user6:a , user7:CL:a:b
#             ^ users are separated by spaces alone
",
        );
        let text = "users a:CL:x , b:CL:y\nauth strong\nallow a,b\nproxy\n";
        let found = findings("user-dropped", text);
        let mended = found[0].fix.as_ref().unwrap().apply(found[0].at.file, text.as_bytes());
        assert_eq!(String::from_utf8(mended).unwrap(), text.replace(" , ", "  "));
    }
}
