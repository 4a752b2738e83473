//! More name servers than count.
use super::rule::{Lint, rule};

rule! {
    /// Name servers beyond the fifth are ignored.
    ///
    /// 3proxy has room for five, and silently ignores further `nserver` lines.
    ///
    /// ```3proxy,fires
    /// nserver 192.0.2.1
    /// nserver 192.0.2.2
    /// nserver 192.0.2.3
    /// nserver 192.0.2.4
    /// nserver 192.0.2.5
    /// nserver 192.0.2.6
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// nserver 192.0.2.1
    /// nserver 192.0.2.2
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "nserver-too-many",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let resolver = &lint.program.resolver;
    let Some(first) = resolver.ignored_servers.first().copied() else { return };
    let more = resolver.ignored_servers.len();
    let fifth = resolver.servers.last().and_then(|server| server.at);
    let what =
        if more == 1 { "this name server is".to_owned() } else { format!("these {more} name servers are") };
    let finding = RULE
        .finding(first, format!("{what} ignored: 3proxy has room for five"))
        .help("keep the five that you need");
    lint.report(match fifth {
        Some(fifth) => finding.also(fifth, "the fifth, and the last that is used"),
        None => finding,
    });
}
