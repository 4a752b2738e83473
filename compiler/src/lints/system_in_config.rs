//! A shell command in the configuration.
use super::rule::{Lint, rule};

rule! {
    /// `system` runs a shell command each time the file is read.
    ///
    /// It runs with the rights that 3proxy has at that line, at the start and at each reload, and what it returns does not matter: 3proxy
    /// goes on if it fails. A service manager does that better.
    ///
    /// ```3proxy,fires
    /// system "/usr/local/bin/make-list > /etc/3proxy/list"
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "system-in-config",
    level: Allow,
    group: Security,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for command in &lint.program.process.system.clone() {
        let Some(at) = command.at else { continue };
        lint.report(
            RULE.finding(at, "a shell command runs each time this file is read")
                .help("run it before 3proxy starts: systemd has `ExecStartPre=` and `ExecReload=`"),
        );
    }
}
