//! `user-redefined`
use std::collections::HashMap;

use super::{
    rule::{Lint, rule},
    user_words,
};
use crate::finding::Level;

rule! {
    /// A user is defined twice: the last definition counts, for every service.
    ///
    /// 3proxy has one table of users, whatever stands between the lines. So the first password does not open anything.
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland
    /// auth strong
    /// proxy
    /// users alice:CL:looking-glass
    /// ```
    ///
    /// Write one of them:
    ///
    /// ```3proxy,clean
    /// users alice:CL:looking-glass
    /// auth strong
    /// proxy
    /// ```
    "user-redefined",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut known = HashMap::with_capacity(program.users.len());
    for user in &program.users {
        let Some(before) = known.insert(&user.name, user) else { continue };
        // What a space parted is no user that anybody meant.
        if [before.at, user.at].iter().any(|at| user_words::continues(lint.sources, *at)) {
            continue;
        }
        let same = before.password == user.password;
        let (said, what) = if same {
            ("is defined twice", "the same once more")
        } else {
            ("is redefined: only this password counts", "replaces the one before")
        };
        let mut finding = RULE
            .finding(user.at, format!("user `{}` {said}", user.name))
            .label(what)
            .also(before.at, "defined here first")
            .help("remove one of the definitions");
        if same {
            finding.level = Level::Allow;
        }
        lint.report(finding);
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        finding::Level,
        lints::tests::{check, findings},
    };

    #[test]
    fn names_are_compared_as_they_are() {
        check(
            "user-redefined",
            "users a:CL:x A:CL:y b:x\nusers b:CR:x b:CL:x\n#     ^ `b`\n#            ^ `b`\n",
        );
        check("user-redefined", "users a: CL: x b: CL: y\n");
    }

    #[test]
    fn the_same_again_is_no_more_than_untidy() {
        let found = findings("user-redefined", "users a:CL:x a:CL:x a:x a:NT:x\n");
        let levels: Vec<_> = found.iter().map(|finding| finding.level).collect();
        assert_eq!(levels, [Level::Allow, Level::Allow, Level::Warn]);
    }
}
