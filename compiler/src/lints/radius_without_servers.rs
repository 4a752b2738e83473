//! `radius-without-servers`
use std::collections::BTreeSet;

use super::rule::{Lint, rule};
use crate::program::{auth::AuthType, log::LogTarget};

rule! {
    /// RADIUS is to be asked, but no `radius` line names a server.
    ///
    /// `auth radius` then admits nobody, and `log radius` sends its records nowhere.
    ///
    /// ```3proxy,fires
    /// auth radius
    /// allow *
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,clean
    /// radius secret-of-sixteen-bytes 192.0.2.5
    /// auth radius
    /// allow *
    /// proxy
    /// ```
    "radius-without-servers",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Settings,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    if program.radius.is_some() || !program.history.unread.is_empty() {
        return;
    }
    let mut told = BTreeSet::new();
    for service in &program.services {
        let step = service.chain.value.iter().find(|step| step.kind == AuthType::Radius);
        let auth = step.and_then(|step| step.at).map(|at| (at, "`radius` admits nobody"));
        let log = Some(&service.log.target).filter(|log| log.value == LogTarget::Radius);
        let log = log.and_then(|log| log.at).map(|at| (at, "`log radius` writes nothing"));
        for (at, what) in auth.into_iter().chain(log) {
            if told.insert(at) {
                lint.report(
                    RULE.finding(at, format!("{what}: no server is named"))
                        .label("there is no `radius` line before the service")
                        .also(service.at, "by this service")
                        .help("write `radius SECRET SERVER` above the service"),
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn asking_and_accounting_need_a_server_anywhere() {
        check(
            "radius-without-servers",
            "log radius\n#^ writes nothing\nauth iponly radius\n#           ^ `radius` admits nobody\nproxy\nsocks\n",
        );
        check("radius-without-servers", "auth radius\nproxy\nradius secret 192.0.2.5\n");
    }
}
