//! Addresses to listen on that are none.
use super::rule::{Part, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// An address to listen on that is none is ignored, and the service may listen everywhere.
    ///
    /// 3proxy keeps the address in force before; with none it listens on every interface. A number must have no zero before
    /// it: `127.0.0.02` is no address.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.300
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.30
    /// ```
    "listen-address-ignored",
    level: Deny,
    group: Security,
    since: "0.1.0",
    trap: Trap::ListenAddress => finding,
}

fn finding(word: Part<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` holds no address, and is ignored", word.cited()))
        .label("the service listens elsewhere, or on every interface")
        .help("write an address such as `127.0.0.1`")
}
