//! Something behind `-4` or `-6`.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// Text after `-4`, `-6`, `-46` or `-64` is not read.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -4,6
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -46
    /// ```
    "family-option-junk",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Family => finding,
}

fn finding(word: Misread<'_>) -> Finding {
    let flag = if word.unquoted().starts_with(b"-4") { "-4" } else { "-6" };
    RULE.finding(word.at, format!("`{}` is read as `{flag}` alone", word.cited()))
        .help("write `-46` for IPv4 before IPv6, `-64` for IPv6 before IPv4, or one of `-4` and `-6`")
}
