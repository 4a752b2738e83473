//! Socket options that do not exist.
use grammar::{
    directive::closest,
    value::{SocketOption, SocketTrap},
};

use super::rule::{Misread, rule};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// A socket option that 3proxy does not know is silently ignored.
    ///
    /// 3proxy looks for the names that it knows anywhere in the word, and for nothing else: an option with another name, or in lower case,
    /// is not set. `TCP_FASTOPEN_CONNECT` sets `TCP_FASTOPEN` as well, whose name is in it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -ocTCP_NODELAY,TCP_FASTOPENS
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -ocTCP_NODELAY,TCP_FASTOPEN
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -ocTCP_NODELAY,TCP_FASTOPEN -osTCP_TIMESTAMPS
    /// ```
    "socket-option-unknown",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Socket(SocketTrap::Unknown) => finding,
}

fn finding(name: Misread<'_>) -> Option<Finding> {
    // Systems other than Linux know these.
    if ELSEWHERE.iter().any(|known| known.as_bytes() == name.text) {
        return None;
    }
    let finding = RULE
        .finding(name.at, format!("`{}` is not a socket option that 3proxy knows", name.cited()))
        .label("ignored");
    let upper = name.text.to_ascii_uppercase();
    Some(match closest(&upper, SocketOption::ALL.into_iter().map(SocketOption::name)) {
        Some(known) => {
            let title = format!("write `{known}`");
            finding.help(title.clone()).fix(name.replaced(title, Safety::Unsafe, known))
        }
        None => finding
            .help("remove it, or write one of those that `setsockopt` has: `TCP_NODELAY`, `SO_KEEPALIVE` …"),
    })
}

/// Options that 3proxy knows where the system has them.
const ELSEWHERE: [&str; 4] =
    ["TCP_TIMESTAMPS", "SO_EXCLUSIVEADDRUSE", "SO_PORT_SCALABILITY", "SO_REUSE_UNICASTPORT"];

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn each_unknown_name_is_found_where_it_stands() {
        check(
            "socket-option-unknown",
            r"
    proxy -ostcp_nodelay,SO_KEEPALIVE
    #       ^ `tcp_nodelay` is not a socket option
    socks -ol -olSO_REUSEADDR+SO_REUSEPORT
    socks -p1 -osUSE_TCP_FASTOPEN,
    #            ^ `USE_TCP_FASTOPEN` is no
    ",
        );
    }
}
