//! Users without a password.
use grammar::{
    Span,
    value::{PasswordKind, UserTrap, user},
};

use super::rule::{Lint, Part, rule};
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    program::trap::Trap,
    sources::{Loc, Sources},
};

rule! {
    /// A user without a password is let in without one.
    ///
    /// A space behind a colon parts the entry: the line below makes the users `alice` and `CL`, both with an empty password.
    ///
    /// ```3proxy,fires
    /// users alice: CL: secret
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
    /// An empty hash (`alice:CR:`) even lets any password in.
    ///
    /// ```3proxy,clean
    /// users alice:CL:secret bob:secret
    /// auth strong
    /// proxy -i127.0.0.1
    /// ```
    "empty-password",
    level: Deny,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (part, trap) in lint.traps() {
        if trap == Trap::User(UserTrap::EmptyPassword) && !continues(lint.sources, part.at) {
            let finding = found(lint.sources, part);
            lint.report(finding);
        }
    }
}

/// Whether the word that holds `at` is no entry of its own, since the one before it ends with a colon.
pub(super) fn continues(sources: &Sources, at: Loc) -> bool {
    let Around { before: Some(before), word: Some((_, word)), .. } = Around::new(sources, at) else {
        return false;
    };
    let is_type = matches!(word, b"CL:" | b"CR:" | b"NT:");
    before.ends_with(b":") && (is_type || !word.contains(&b':')) && !word.starts_with(b"#")
}

/// A word and those beside it, as written.
struct Around<'a> {
    before: Option<&'a [u8]>,
    word: Option<(Loc, &'a [u8])>,
    /// At most two.
    behind: Vec<(Loc, &'a [u8])>,
}

impl<'a> Around<'a> {
    /// Of the word that holds `at`.
    fn new(sources: &'a Sources, at: Loc) -> Self {
        let words = sources.words(at);
        let behind = words.partition_point(|word| word.span.start <= at.span.start);
        let text = |index: usize| {
            let place = Loc { file: at.file, span: words.get(index)?.span };
            Some((place, sources.text(place)))
        };
        Self {
            before: behind.checked_sub(2).and_then(text).map(|(_, text)| text),
            word: behind.checked_sub(1).and_then(text),
            behind: (behind..behind + 2).filter_map(text).collect(),
        }
    }

    /// The blanks that part an entry: behind its name, and behind its type.
    fn gaps(&self, sources: &Sources) -> Vec<Loc> {
        let mut gaps = Vec::new();
        let Some((mut last, text)) = self.word.filter(|(_, text)| text.ends_with(b":")) else { return gaps };
        let named_only = text.iter().filter(|byte| **byte == b':').count() == 1;
        for (place, text) in &self.behind {
            let typed = named_only && gaps.is_empty() && starts_with_type(text);
            if !typed && !continues(sources, *place) {
                break;
            }
            gaps.push(Loc { file: last.file, span: Span::new(last.span.end, place.span.start) });
            last = *place;
        }
        gaps
    }
}

fn starts_with_type(text: &[u8]) -> bool {
    text.starts_with(b"CL:") || text.starts_with(b"CR:") || text.starts_with(b"NT:")
}

fn found(sources: &Sources, part: Part<'_>) -> Finding {
    let word = part.unquoted();
    let name = word.split(|byte| *byte == b':').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let hashed = user(&word).value.is_some_and(|user| user.kind == PasswordKind::Crypt);
    let around = Around::new(sources, part.at);
    let gaps = around.gaps(sources);
    let message = if hashed {
        format!("user `{name}` has an empty hash, which any password fits")
    } else {
        format!("user `{name}` is let in with an empty password")
    };
    let finding = RULE
        .finding(around.word.map_or(part.at, |(word, _)| word), message)
        .label("no password stands behind the colon");
    if gaps.is_empty() {
        return finding.help(format!("write `{name}:CL:PASSWORD`, or remove the user"));
    }
    let edits = gaps.iter().map(|gap| Edit { at: *gap, text: String::new() }).collect();
    finding
        .note("A space ends the entry, so what follows it is read as further users.")
        .help(format!("write `{name}:CL:PASSWORD` without spaces"))
        .fix(Fix { title: "remove the spaces".to_owned(), safety: Safety::Safe, edits })
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn each_user_is_named_once() {
        check(
            "empty-password",
            r"
users user1:CL: user2:CR: user3:CL:x
#     ^ user `user1` is let in with an empty password
#               ^ user `user2` has an empty hash
users user4: CL: pass4 user5:CL:pass5
#     ^ user `user4` is let in with an empty password
users user6: pass6
#     ^ user `user6` is let in with an empty password
",
        );
    }
}
