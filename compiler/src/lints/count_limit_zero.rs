//! A quota of nothing.
use super::rule::rule;
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
};

rule! {
    /// 3proxy refuses a traffic quota of 0.
    ///
    /// The quota is a number of megabytes, digits only. To let nothing pass, write a `deny`.
    ///
    /// ```3proxy,fires
    /// countin 1 D 0 *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// countin 1 D 100 *
    /// proxy -i127.0.0.1
    /// ```
    "count-limit-zero",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the quota.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a quota that `{}` takes", word.text(), command.name()))
        .help("write a number of megabytes above 0")
}
