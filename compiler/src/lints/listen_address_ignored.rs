//! Addresses to listen on that are none.
use super::{
    meant,
    rule::{Misread, rule},
};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// An invalid address to listen on is ignored, and the service may listen everywhere.
    ///
    /// 3proxy keeps the address in force before; with none it listens on every interface. A number must have no zero before it:
    /// `127.0.0.02` is not an address. An invalid IPv6 address after an IPv4 address, or the other way round, is not ignored:
    /// 3proxy forgets the earlier address and listens on every interface.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.300
    /// ```
    ///
    /// ```3proxy,fires
    /// internal 127.0.0.1
    /// internal :::
    /// proxy
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
    trap: trap @ (Trap::ListenAddress | Trap::ListenForgotten) => |word| finding(&word, trap),
}

fn finding(word: &Misread<'_>, trap: Trap) -> Finding {
    let (message, label) = if trap == Trap::ListenForgotten {
        ("is not an address, and 3proxy drops the one before it", "the service listens on every interface")
    } else {
        ("is not an address, and is ignored", "the service listens elsewhere, or on every interface")
    };
    RULE.finding(word.at, format!("`{}` {message}", word.cited())).label(label).help(help(&word.cited()))
}

fn help(written: &str) -> String {
    let option = written.strip_prefix("-i");
    match (meant::host_and_port(option.unwrap_or(written)), option) {
        (Some((host, port)), Some(_)) => format!("write the port apart: `-i{host} -p{port}`"),
        (Some((host, port)), None) => {
            format!("write `internal {host}`, and the port at the service: `-p{port}`")
        }
        (None, _) => "write an address such as `127.0.0.1`".to_owned(),
    }
}
