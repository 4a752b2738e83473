//! `hash-as-password`
use grammar::{Span, value::UserTrap};

use super::rule::{Misread, rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    program::trap::Trap,
    sources::Loc,
};

rule! {
    /// 3proxy reads this hash as the password itself.
    ///
    /// Without the type `CR`, the word after the name is the password. So the user's own password is refused, and anyone who has seen the hash
    /// can log in with it.
    ///
    /// ```3proxy,fires
    /// users "alice:$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users "alice:CR:$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// allow alice
    /// proxy
    /// ```
    ///
    /// A password may begin with a `$`:
    ///
    /// ```3proxy,clean
    /// users "alice:CL:$ecret" "bob:CR:$1$abcdefgh$0123456789012345678901"
    /// auth strong
    /// allow alice,bob
    /// proxy
    /// ```
    "hash-as-password",
    level: Deny,
    group: Security,
    since: "0.1.0",
    trap: Trap::User(UserTrap::HashAsPassword) => finding,
}

/// `part` is the type, or the name where there is none; or the whole word, if that has quotes.
fn finding(part: Misread<'_>) -> Finding {
    let word = part.unquoted();
    let mut fields = word.split(|byte| *byte == b':');
    let name = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
    let typed = fields.next() == Some(b"CL");
    let known = [&b":$1$"[..], b":$3$"].iter().any(|form| word.windows(form.len()).any(|part| part == *form));
    let finding = RULE
        .finding(part.at, format!("the hash of user `{name}` is read as the password itself"))
        .label("the hash works as the password, and the real password does not");
    if !known {
        return finding.help("make a supported hash with `cfgc crypt`, and write it as `NAME:CR:HASH`");
    }
    finding.help("write `NAME:CR:HASH`").fix(fix(part, &name, typed))
}

/// Writes `CR` as the type.
fn fix(part: Misread<'_>, name: &str, typed: bool) -> Option<Fix> {
    // Where the name ends in the word as it is written.
    let before = part.word.iter().position(|byte| *byte == b':')?;
    let plain = part.word.get(..before)?.iter().filter(|byte| **byte != b'"').eq(name.as_bytes());
    let start = part.whole.span.start + u32::try_from(before + 1).ok()?;
    let end = if typed { start + 3 } else { start };
    let typed_there = part.word.get(before + 1..before + 4) == Some(b"CL:");
    (plain && typed == typed_there).then(|| {
        let at = Loc { file: part.whole.file, span: Span::new(start, end) };
        Fix::replace("write the type `CR`", Safety::Unsafe, at, "CR:")
    })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    #[test]
    fn with_and_without_a_type() {
        check(
            "hash-as-password",
            "users \"a:CL:$1$salt$hash\" \"b:$apr1$salt$hash\" \"c:CL:$1$\" d:CL:$\n#^ of user `a`\n#^ of user `b`\n",
        );
    }

    #[test]
    fn an_unknown_form_is_not_mended_by_a_type() {
        for (word, mended) in [("\"a:CL:$1$s$h\"", true), ("\"a:$3$s$h\"", true), ("\"a:$2y$s$h\"", false)] {
            let found = findings("hash-as-password", &format!("users {word}\n"));
            assert_eq!(found.len(), 1, "{word}");
            assert_eq!(found[0].fix.is_some(), mended, "{word}");
        }
    }
}
