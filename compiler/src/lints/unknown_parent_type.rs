//! A type of parent that does not exist.
use super::rule::rule;
use crate::{
    finding::Finding,
    fix::{Fix, Safety},
    lower::command::Arg,
};

rule! {
    /// 3proxy knows no parent of this type, and refuses the whole file.
    ///
    /// Types are case sensitive. A trailing `s` asks for TLS to the parent, a `+` before it sends names instead of addresses.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// parent 1000 SOCKS5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow *
    /// parent 1000 socks5 192.0.2.1 1080
    /// proxy -i127.0.0.1
    /// ```
    "unknown-parent-type",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the type; `near` was probably meant.
pub(crate) fn finding(word: &Arg<'_>, near: Option<&str>) -> Finding {
    let finding = RULE.finding(word.at, format!("`{}` is not a type of parent", word.text()));
    match near {
        _ if word.value.eq_ignore_ascii_case(b"socks") => {
            finding.help("write `socks5`, or `socks4` if that is what the parent speaks")
        }
        Some(near) => finding.help(format!("write `{near}`")).fix(Fix::replace(
            format!("write `{near}`"),
            Safety::Safe,
            word.at,
            near,
        )),
        None => finding.help("write a type such as `socks5`, `connect` or `http`"),
    }
}
