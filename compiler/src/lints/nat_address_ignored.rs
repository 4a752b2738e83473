//! An address of `-N` that is none.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// An address of `-Ne` or `-Ni` that 3proxy can't read is ignored.
    ///
    /// Clients are then given the address of the socket, which they can't reach from outside.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -i192.168.0.1 -Ne192.0.2.300
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// socks -i192.168.0.1 -Ne192.0.2.30
    /// ```
    "nat-address-ignored",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::NatAddress => finding,
}

fn finding(word: Misread<'_>) -> Finding {
    RULE.finding(word.at, format!("`{}` is not an address and is ignored", word.cited()))
        .help("write the address that clients should be given: `-Ne192.0.2.1`")
}
