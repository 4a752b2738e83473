//! A quota that is no number.
use super::rule::rule;
use crate::{
    finding::Finding,
    lower::command::{Arg, Command},
};

rule! {
    /// A traffic quota without digits is read as whatever stood in memory.
    ///
    /// 3proxy neither refuses such a line nor takes it for 0: the quota differs from start to start. The usual cause is a word that is
    /// missing, so that those after it are read as something else. `cfgc run` leaves such a line out.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// countin D 100 alice
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// countin 1 D 100 *
    /// proxy -i127.0.0.1
    /// ```
    "count-limit-unread",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    from lowering,
}

/// `word` is the quota.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>) -> Finding {
    let name = command.name();
    RULE.finding(
        word.at,
        format!("`{}` is not a number, so the quota of this `{name}` is undefined", word.text()),
    )
    .label("megabytes are expected here")
    .help(format!("write `{name} NUMBER PERIOD MEGABYTES USERS …`: `{name} 1 D 100 alice`"))
}
