//! A `$` in a password, which names a file.
use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    sources::Loc,
};

rule! {
    /// An unquoted `$` in a password or hash names a file.
    ///
    /// Outside quotes, 3proxy replaces `$NAME` by the words of the file of that name. A hash such as `$1$salt$hash` is then
    /// looked for on the disk, and the configuration is refused.
    ///
    /// ```3proxy,fires
    /// users alice:CR:$1$abcdefgh$0123456789012345678901
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Quotes make it a password again:
    ///
    /// ```3proxy,fixed
    /// users alice:CR:"$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// A file of users is meant:
    ///
    /// ```3proxy,file=/etc/3proxy/users
    /// alice:CL:secret
    /// bob:CL:secret
    /// ```
    ///
    /// ```3proxy,clean
    /// users $/etc/3proxy/users
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    "password-read-as-include",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// Whether `path`, behind an unquoted `$` in a word whose text before it is `before`, is a password rather than a file that is
/// missing: a hash, or no path at all behind the colon of a user or, as `one` says, where a password stands alone.
pub(crate) fn is_password(before: &[u8], path: &[u8], one: bool) -> bool {
    let hash = path.split(|byte| *byte == b'$').next().is_some_and(|id| {
        id.len() < path.len() && !id.is_empty() && id.len() <= 8 && id.iter().all(u8::is_ascii_alphanumeric)
    });
    hash || (one || before.contains(&b':')) && !path.contains(&b'/')
}

/// The word at `word`, written as `text`, has an unquoted `$` at `dollar`, and no such file exists. The file's name is a password: it
/// is not cited.
pub(crate) fn finding(word: Loc, text: &[u8], dollar: u32) -> Finding {
    let place = |offset| Loc { file: word.file, span: grammar::Span::new(offset, offset) };
    let quote = |offset| Edit { at: place(offset), text: "\"".to_owned() };
    let found = RULE
        .finding(word, "the `$` in this word names a file that can't be read")
        .label("3proxy looks for a file here")
        .note("Outside quotes, `$NAME` is replaced by the words of the file with that name.")
        .help("put the password in quotes, as in `NAME:CR:\"$1$SALT$HASH\"` or `NAME:CL:\"PA$WORD\"`");
    if text.contains(&b'"') {
        return found;
    }
    let before = text.get(..dollar.saturating_sub(word.span.start) as usize).unwrap_or_default();
    let edits = vec![quote(word.span.start + password_start(before)), quote(word.span.end)];
    found.fix(Fix { title: "quote it".into(), safety: Safety::Safe, edits })
}

/// Where the password starts in a word with `before` before its `$`: behind `NAME:TYPE:`, `NAME:` or nothing. A quote within the
/// password would be right, too, but nobody could see that where the password is hidden.
fn password_start(before: &[u8]) -> u32 {
    let colon = before.iter().position(|byte| *byte == b':');
    let behind = |colon: usize| colon + if before.get(colon + 3) == Some(&b':') { 4 } else { 1 };
    colon.map_or(0, behind) as u32
}

#[cfg(test)]
mod tests {
    use super::is_password;
    use crate::lints::tests::{check, findings};

    #[test]
    fn the_password_is_quoted_as_a_whole() {
        for (written, meant) in [
            ("users alice:CL:pa$word", "users alice:CL:\"pa$word\""),
            ("users alice:pa$word", "users alice:\"pa$word\""),
            ("users alice:CL:a:b$c", "users alice:CL:\"a:b$c\""),
            (
                "parent 1000 http 192.0.2.1 3128 user pa$word",
                "parent 1000 http 192.0.2.1 3128 user \"pa$word\"",
            ),
            ("radius $word 192.0.2.1", "radius \"$word\" 192.0.2.1"),
        ] {
            let text = format!("{written}\n");
            let found = findings("password-read-as-include", &text);
            let [finding] = found.as_slice() else { panic!("{written}: {found:#?}") };
            let fixed = finding.fix.as_ref().unwrap().apply(finding.at.file, text.as_bytes());
            assert_eq!(String::from_utf8(fixed).unwrap(), format!("{meant}\n"));
        }
    }

    #[test]
    fn passwords_are_told_from_paths() {
        for (before, path, password, where_one_stands) in [
            ("alice:CR:", "1$salt$hash", true, true),
            ("alice:CR:", "apr1$salt$hash", true, true),
            ("alice:CR:", "1$salt$qRPK7m23/JusamGpoGLby/", true, true),
            ("alice:CL:pa", "word", true, true),
            ("", "/etc/3proxy/users", false, false),
            ("", "users", false, true),
            ("alice:CL:", "/run/secrets/alice", false, false),
            ("", "1$salt$hash", true, true),
        ] {
            let (before, path) = (before.as_bytes(), path.as_bytes());
            assert_eq!(is_password(before, path, false), password, "{before:?} {path:?}");
            assert_eq!(is_password(before, path, true), where_one_stands, "{before:?} {path:?}");
        }
    }

    #[test]
    fn the_word_is_marked() {
        check(
            "password-read-as-include",
            r"
users user0:CL:a user1:CR:$2y$10$abcdefghijklmnopqrstuv
#                ^ the `$` in this word names a file
users user2:CL:pa$word
#     ^ the `$` in this word names a file
parent 1000 http 192.0.2.1 3128 user $word
#                                    ^ the `$` in this word names a file
radius $word 192.0.2.1
#      ^ the `$` in this word names a file
",
        );
    }
}
