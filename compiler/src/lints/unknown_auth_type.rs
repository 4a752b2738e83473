//! A way to authenticate that does not exist.
use super::{argument_count, meant, rule::rule};
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::{Arg, Command},
};

rule! {
    /// 3proxy knows no such type of authentication, and refuses the whole file.
    ///
    /// Types are `none`, `iponly`, `useronly`, `dnsname`, `strong`, `radius`, `cache` and `cacheacl`, case and all.
    ///
    /// ```3proxy,fires
    /// auth Strong
    /// users alice:CL:rabbit
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth strong
    /// users alice:CL:rabbit
    /// proxy -i127.0.0.1
    /// ```
    "unknown-auth-type",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the type; `near` was certainly meant.
pub(crate) fn finding(command: &Command<'_>, word: &Arg<'_>, near: Option<&str>) -> Finding {
    let finding = RULE.finding(word.at, format!("`{}` is not a type of authentication", word.text()));
    if word.value.starts_with(b"#") {
        return finding.help("put the comment on a line of its own");
    }
    if let Some((help, fix)) = argument_count::assigned(command)
        && command.argument(0).is_some_and(|first| first.at == word.at)
    {
        return finding.help(help).fix(fix);
    }
    match near.or_else(|| meant::auth_type(&word.value)) {
        Some(near) => finding.help(format!("write `{near}`")).fix(Fix::replace(
            format!("write `{near}`"),
            Safety::Unsafe,
            word.at,
            near,
        )),
        None => finding.help("write a type such as `strong` or `iponly`"),
    }
}
