//! Users without a password.
use grammar::value::{PasswordKind, UserTrap, user};

use super::{
    rule::{Misread, rule},
    user_words::{Around, continues},
};
use crate::{
    finding::Finding,
    fix::{Edit, Fix, Safety},
    program::trap::Trap,
};

rule! {
    /// A user without a password is let in without one.
    ///
    /// A space after a colon splits the entry: the line below makes the users `alice` and `CL`, both with an empty password.
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
    trap: Trap::User(UserTrap::EmptyPassword) => finding,
}

fn finding(part: Misread<'_>) -> Option<Finding> {
    // One without a name has a finding of its own.
    let has_name = !part.unquoted().starts_with(b":");
    (has_name && !continues(part.sources, part.at)).then(|| found(part))
}

fn found(part: Misread<'_>) -> Finding {
    let sources = part.sources;
    let word = part.unquoted();
    let name = word.split(|byte| *byte == b':').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).into_owned();
    let hashed = user(&word).value.is_some_and(|user| user.kind == PasswordKind::Crypt);
    let around = Around::new(sources, part.at);
    let gaps = around.gaps(sources);
    let message = if hashed {
        format!("user `{name}` has an empty hash, which every password matches")
    } else {
        format!("user `{name}` is admitted with an empty password")
    };
    let finding = RULE
        .finding(around.word.map_or(part.at, |(word, _)| word), message)
        .label("there is no password after the colon");
    if gaps.is_empty() {
        return finding.help(format!("write `{name}:CL:PASSWORD`, or remove the user"));
    }
    let edits = gaps.iter().map(|gap| Edit { at: *gap, text: String::new() }).collect();
    finding
        .note("A space ends the entry, so what follows it is read as further users.")
        .help(format!("write `{name}:CL:PASSWORD` without spaces"))
        .fix(Fix { title: "remove the spaces".into(), safety: Safety::Safe, edits })
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
#     ^ user `user1` is admitted with an empty password
#               ^ user `user2` has an empty hash
users user4: CL: pass4 user5:CL:pass5
#     ^ user `user4` is admitted with an empty password
users user6: pass6
#     ^ user `user6` is admitted with an empty password
",
        );
    }
}
