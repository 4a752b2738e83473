//! `flush-without-effect`
use super::rule::{Lint, rule};

rule! {
    /// The access list is already empty, so `flush` has no effect.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// flush
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// flush
    /// allow alice
    /// socks -i10.0.0.1
    /// ```
    "flush-without-effect",
    level: Allow,
    group: Style,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for flush in lint.program.flushes.iter().filter(|flush| flush.list.is_none()) {
        lint.report(
            RULE.finding(flush.at, "this `flush` has no effect, because the access list is empty")
                .help("remove this `flush`"),
        );
    }
}
