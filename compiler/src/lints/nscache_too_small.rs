//! A cache of names that is too small.
use super::rule::rule;
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
};

rule! {
    /// 3proxy refuses a cache of names with fewer than 256 entries.
    ///
    /// ```3proxy,fires
    /// nscache 100
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.53
    /// nscache 65536
    /// proxy -i127.0.0.1
    /// ```
    "nscache-too-small",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the size.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not a size that `{}` takes", word.text(), command.name()))
        .help("write at least 256; `65536` is usual")
}
