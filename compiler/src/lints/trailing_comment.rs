//! A `#` behind a command.
use super::rule::rule;
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
};

rule! {
    /// A `#` starts a comment only at the beginning of a line; after a command it is an argument.
    ///
    /// So `allow #all` is an entry for a user called `#all`, and `users alice:CL:x #bob:CL:y` makes an account `#bob`. If such a name is
    /// meant, write it in quotes.
    ///
    /// ```3proxy,fires
    /// auth useronly
    /// allow #all
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fires
    /// users alice:CL:wonderland #bob:CL:builder
    /// auth strong
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// # all
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth useronly
    /// allow "#bob"
    /// proxy -i127.0.0.1
    /// ```
    "trailing-comment",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    from lowering,
}

/// `word` is written with a `#` at its start.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("this is not a comment, but an argument of `{}`", command.name()))
        .help("put the comment on a line of its own")
}

/// `word` is an account whose name is written with a `#` at its start.
pub(crate) fn account(word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, "this is not a comment, but an account: its name begins with a `#`")
        .help("remove the account, or put the comment on a line of its own")
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn accounts_are_no_comments() {
        check(
            "trailing-comment",
            r##"
internal 127.0.0.1
users a:CL:x #b:CL:y #c:CL:z
#            ^ this is not a comment, but an account: its name begins with a `#`
users #d:CL:x
#     ^ this is not a comment, but an account: its name begins with a `#`
users e:CL:#x "#f:CL:y" g:CL:x # h
auth strong
allow *
proxy
"##,
        );
    }
}
