//! A command that the target does not know.
use std::collections::HashSet;

use super::rule::{Lint, rule};
use crate::options::Runner;

rule! {
    /// A 3proxy of the series that the file is for may not know this command, and then refuses the file.
    ///
    /// The series is 1.0, or what `target` in `cfgc.toml` says.
    ///
    /// ```3proxy,fires
    /// ssl_ktls
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// ssl_client_verify
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "directive-since",
    level: Allow,
    group: Portability,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let oldest = match lint.options.runner {
        Runner::ThreeProxy09 => [0, 9, 0],
        Runner::ThreeProxy10 => [1, 0, 0],
        Runner::Cfgc => return,
    };
    let program = lint.program;
    let newer = program.commands.iter().filter(|ran| version(ran.row.since) > oldest);
    // Each command is told once.
    let mut told = HashSet::new();
    for ran in newer.filter(|ran| told.insert(ran.row.name)) {
        let (name, since) = (ran.row.name, ran.row.since);
        lint.report(
            RULE.finding(
                ran.at,
                format!("`{name}` is known since 3proxy {since}: an older one refuses the file"),
            )
            .help("see that every host has it (`3proxy --version`), or take the line out"),
        );
    }
}

/// `1.0.1` as numbers; what is missing is 0.
fn version(text: &str) -> [u16; 3] {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or_default());
    let mut next = || parts.next().unwrap_or_default();
    [next(), next(), next()]
}
