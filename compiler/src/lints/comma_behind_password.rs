//! A comma or a semicolon between users.
use std::ops::Range;

use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    fix::{Edit, Fix, Safety},
    program::auth::User,
    sources::{Loc, Sources},
};

rule! {
    /// A comma behind a password is a part of it: the users of a `users` line are separated by spaces. So is a semicolon.
    ///
    /// So the user can't log in with the password that was meant.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland, bob:CL:builder
    /// auth strong
    /// allow alice,bob
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// users alice:CL:wonderland bob:CL:builder
    /// auth strong
    /// allow alice,bob
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// A password may hold a comma, and in quotes it certainly is meant:
    ///
    /// ```3proxy,clean
    /// users alice:CL:wonder,land "bob:CL:builder," carol:CL:christmas,
    /// auth strong
    /// allow alice,bob,carol
    /// proxy -i127.0.0.1
    /// ```
    "comma-behind-password",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let users = &lint.program.users;
    for (index, user) in users.iter().enumerate() {
        // Most have none.
        let text = lint.sources.text(user.at);
        if !text.iter().any(parts) || text.contains(&b'"') {
            continue;
        }
        let next = users.get(index + 1).filter(|next| is_behind(lint.sources, user, next));
        let commas: Vec<Range<usize>> = commas(text, next.is_some()).collect();
        let Some(first) = commas.first() else { continue };
        let what = if text.get(first.start) == Some(&b',') { "comma" } else { "semicolon" };
        let edits: Vec<Edit> = commas
            .into_iter()
            .map(|at| {
                let place = |byte: usize| user.at.span.start + u32::try_from(byte).unwrap_or(u32::MAX);
                let span = Span::new(place(at.start), place(at.end));
                let text = if at.end == text.len() { "" } else { " " };
                Edit { at: Loc { file: user.at.file, span }, text: text.to_owned() }
            })
            .collect();
        let title = "separate the users with spaces alone";
        lint.report(
            RULE.finding(
                user.at,
                format!("the {what} is part of the password: users are separated by spaces"),
            )
            .label(format!("the password has a {what}"))
            .help(title)
            .fix(Fix { title: title.into(), safety: Safety::Unsafe, edits }),
        );
    }
}

/// The names of the users that a comma made part of a password, of which this rule tells.
pub(super) fn swallowed<'a>(sources: &'a Sources, user: &User) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    let text = sources.text(user.at);
    let text = if text.iter().any(parts) && !text.contains(&b'"') { text } else { &[] };
    let users = commas(text, false).filter_map(|at| text.get(at.end..));
    users.filter_map(|user| user.split(|byte| *byte == b':').next())
}

/// Whether a byte parts users elsewhere.
const fn parts(byte: &u8) -> bool {
    matches!(*byte, b',' | b';')
}

/// The commas and semicolons of a user's word that were meant to part users: one at its end, if another user is behind it, and those before another user in it.
fn commas(word: &[u8], is_followed: bool) -> impl Iterator<Item = Range<usize>> {
    let password = word.iter().enumerate().filter(|(_, byte)| **byte == b':').nth(1).map(|(at, _)| at + 1);
    let commas = word.iter().enumerate().filter(|(_, byte)| parts(byte)).map(|(at, _)| at);
    commas
        .filter(move |at| {
            let rest = word.get(at + 1..).unwrap_or_default();
            let ends = if rest.is_empty() { is_followed } else { begins_a_user(rest) };
            password.is_some_and(|start| *at > start) && ends
        })
        .map(|at| at..at + 1)
}

/// `NAME:TYPE:`.
fn begins_a_user(text: &[u8]) -> bool {
    let mut fields = text.splitn(3, |byte| *byte == b':');
    let name = fields.next().is_some_and(|name| !name.is_empty() && !name.iter().any(parts));
    name && matches!(fields.next(), Some(b"CL" | b"CR" | b"NT")) && fields.next().is_some()
}

/// Whether nothing but blanks is between two users.
fn is_behind(sources: &Sources, user: &User, next: &User) -> bool {
    let (before, behind) = (user.at, next.at);
    before.file == behind.file && before.span.end < behind.span.start && {
        let gap = Loc { file: before.file, span: Span::new(before.span.end, behind.span.start) };
        sources.text(gap).iter().all(u8::is_ascii_whitespace)
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::{check, findings};

    const RULE: &str = "comma-behind-password";

    #[test]
    fn commas_that_part_users_are_told_and_no_other() {
        for (users, fixed) in [
            ("a:CL:Kq81, b:CL:Kq82", "a:CL:Kq81 b:CL:Kq82"),
            ("a:CL:Kq81,b:CL:Kq82", "a:CL:Kq81 b:CL:Kq82"),
            ("a:CL:Kq81;b:CL:Kq82", "a:CL:Kq81 b:CL:Kq82"),
            ("a:CL:Kq81; b:CL:Kq82", "a:CL:Kq81 b:CL:Kq82"),
            ("a:CL:K,q81,b:CL:Kq82,c:NT:00", "a:CL:K,q81 b:CL:Kq82 c:NT:00"),
        ] {
            let text = |users: &str| format!("users {users}\nauth strong\nallow *\nproxy\n");
            let found = findings(RULE, &text(users));
            let [finding] = found.as_slice() else { panic!("{users}: {found:#?}") };
            let fix = finding.fix.as_deref().unwrap();
            let mended = fix.apply(finding.at.file, text(users).as_bytes());
            assert_eq!(String::from_utf8(mended).unwrap(), text(fixed));
            // The password is told nowhere.
            assert!(!format!("{finding:?}").contains("Kq8"), "{finding:?}");
        }
        for users in [
            "a:CL:x,",
            "a:CL:x,y b:CL:z",
            "a:CL:x,\nusers b:CL:y",
            "a:CL:x,b:y",
            "a,b:CL:x",
            "\"a:CL:x,\" b:CL:y",
        ] {
            check(RULE, &format!("users {users}\nauth strong\nallow *\nproxy\n"));
        }
    }
}
