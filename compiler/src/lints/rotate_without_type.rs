//! `rotate` for a log that does not rotate.
use super::rule::{Lint, rule};
use crate::program::log::LogFiles;

rule! {
    /// `rotate` has no effect, because this log never begins a new file.
    ///
    /// The letter after the file name says how often: without it, the log is a single file that only grows.
    ///
    /// ```3proxy,fires
    /// log /var/log/3proxy/3proxy.log
    /// rotate 30
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// log /var/log/3proxy/3proxy.log D
    /// rotate 30
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "rotate-without-type",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let LogFiles { keep, log_lines, archiver, .. } = &lint.program.process.log_files;
    let Some(at) = keep.at.filter(|_| keep.value > 0) else { return };
    // What its letter says, if it is no rotation, has a finding of its own.
    if log_lines.iter().any(|line| lint.sources.words(*line).len() > 2) {
        return;
    }
    let mut finding =
        RULE.finding(at, "nothing is rotated: no `log` line says how often").label("has no effect");
    if let Some(archiver) = archiver.as_ref().and_then(|archiver| archiver.at) {
        finding = finding.also(archiver, "so this never runs");
    }
    if log_lines.is_empty() {
        lint.report(finding.help("write `log FILE D` for a log with a new file each day"));
        return;
    }
    let finding =
        log_lines.iter().fold(finding, |finding, log| finding.also(*log, "a single file that only grows"));
    lint.report(finding.help("write the period after the file name: `log FILE D` for a new file each day"));
}
