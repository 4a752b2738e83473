//! `service` does nothing.
use super::rule::{Lint, rule};

rule! {
    /// `service` does nothing: it is left over from Windows 9x.
    ///
    /// ```3proxy,fires
    /// service
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right (3proxy is installed as a Windows service by `3proxy --install`):
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "service-deprecated",
    level: Allow,
    group: Style,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    if let Some(at) = lint.program.process.service {
        lint.report(RULE.finding(at, "`service` no longer has any effect").help("remove it"));
    }
}
