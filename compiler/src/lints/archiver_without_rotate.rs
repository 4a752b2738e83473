//! An archiver that never runs.
use super::rule::{Lint, rule};
use crate::program::log::LogFiles;

rule! {
    /// `archiver` packs old log files when a new one begins and `rotate` keeps some: without both it never runs.
    ///
    /// ```3proxy,fires
    /// log /var/log/3proxy/3proxy.log D
    /// archiver gz /bin/gzip %F
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// log /var/log/3proxy/3proxy.log D
    /// archiver gz /bin/gzip %F
    /// rotate 30
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "archiver-without-rotate",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Order,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let LogFiles { keep, archiver, log_lines, .. } = &lint.program.process.log_files;
    let Some(at) = archiver.as_ref().and_then(|archiver| archiver.at) else { return };
    let rotates = log_lines.iter().any(|line| lint.sources.words(*line).len() > 2);
    // Where `rotate` waits for the same, that is told of it: `rotate-without-type`.
    if keep.value > 0 {
        return;
    }
    let (missing, help) = if rotates {
        ("`rotate` is missing", "write `rotate N` to keep N old files")
    } else {
        (
            "the log does not begin new files",
            "write `log FILE D` for a new file each day, and `rotate N` to keep N old ones",
        )
    };
    let mut finding = RULE.finding(at, format!("the archiver never runs: {missing}")).help(help);
    if let Some(keep) = keep.at.filter(|_| keep.value <= 0) {
        finding = finding.also(keep, "keeps no old file");
    }
    if !rotates {
        for line in log_lines {
            finding = finding.also(*line, "a single file that only grows");
        }
    }
    lint.report(finding);
}
