//! `daemon` behind services or logs.
use grammar::directive::Effect;

use super::rule::{Lint, rule};
use crate::finding::Level;

rule! {
    /// `daemon` belongs before all services and logs.
    ///
    /// What was started before it goes to the background with the process: threads of services do not survive that, and logs on standard
    /// output end. A service that starts before it keeps its socket, and answers nobody: that is denied.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// daemon
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// daemon
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "daemon-not-first",
    level: Allow,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let commands = &lint.program.commands;
    let Some(at) = commands.iter().position(|ran| ran.row.name == "daemon") else { return };
    let (before, behind) = commands.split_at(at);
    let service = before.iter().find(|ran| ran.row.effect == Effect::Service);
    let started = service.or_else(|| before.iter().find(|ran| ran.row.name == "log"));
    if let (Some(started), Some(daemon)) = (started, behind.first()) {
        let (daemon, name, at) = (daemon.at, started.row.name, started.at);
        let mut finding = RULE
            .finding(daemon, format!("`daemon` comes after `{name}`"))
            .also(at, "started before the process goes to the background")
            .help("move `daemon` to the start of the file");
        if service.is_some() {
            // The socket stays open, and nobody accepts from it.
            finding.level = Level::Deny;
        }
        lint.report(finding);
    }
}
