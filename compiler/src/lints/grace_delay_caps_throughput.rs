//! A grace delay that makes connections slow.
use std::collections::HashSet;

use super::rule::{Lint, rule};
use crate::{finding::Level, program::service::ServiceOptions};

rule! {
    /// A grace delay caps the speed of each connection at one buffer per delay.
    ///
    /// While it waits, 3proxy reads nothing; after each wait it reads one buffer at most: 16 KiB when it copies (or what `-b` says), 64 KiB,
    /// a pipe, when it splices. Ten milliseconds are 13 Mbit/s. The wait ends as soon as reads are larger than the first number, so
    /// clients on fast links may not meet it.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1 -g8000,3,10
    /// ```
    ///
    /// A delay that leaves 50 Mbit/s is reported only on request (`--warn`). Right, where nothing should be capped:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 192.168.0.0/16
    /// proxy -i192.168.0.1
    /// ```
    "grace-delay-caps-throughput",
    level: Warn,
    group: Performance,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// What one read takes when copying, if `-b` says nothing, in bytes.
const BUFFER: u64 = 16 * 1024;
/// A pipe, as splicing uses it, in bytes.
const PIPE: u64 = 64 * 1024;
/// A cap from which on it is only told on request, in kbit/s.
const FAST: u64 = 50_000;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = HashSet::new();
    for service in &program.services {
        let options = &service.options;
        let Some((grace, at)) = options.grace.and_then(|grace| Some((grace.value, grace.at?))) else {
            continue;
        };
        let Some(delay) = u64::try_from(grace.delay_ms).ok().filter(|delay| *delay > 0) else { continue };
        if grace.reads <= 0 || !told.insert(at) {
            continue;
        }
        let (bytes, how) = read_at_once(options);
        // Bits per millisecond are kbit/s.
        let cap = bytes * 8 / delay;
        let mut finding = RULE
            .finding(
                at,
                format!("this delay caps each direction of a connection at {} Mbit/s", megabits(cap)),
            )
            .label(format!("{} KiB in {delay} ms, {how}", bytes / 1024));
        if how == COPIED {
            let spliced = PIPE * 8 / delay;
            finding =
                finding.note(format!("Where 3proxy splices (`-s`), it is {} Mbit/s.", megabits(spliced)));
        }
        if cap >= FAST {
            finding.level = Level::Allow;
        }
        lint.report(
            finding.help("write a shorter delay: `-g8000,2,2` is 65 Mbit/s; for web traffic, remove it"),
        );
    }
}

/// How it is said that data is copied.
const COPIED: &str = "copied";

/// What one read takes at most, and how data is moved.
fn read_at_once(options: &ServiceOptions) -> (u64, &'static str) {
    let always = options.splice.is_some_and(|splice| (1..=3).contains(&splice.value.mode));
    if always {
        return (PIPE, "spliced");
    }
    let given = options.buffer_size.and_then(|size| u64::try_from(size.value).ok()).filter(|size| *size > 0);
    (given.unwrap_or(BUFFER), COPIED)
}

/// As people say it: `13`, `0.4`.
fn megabits(kilobits: u64) -> String {
    match kilobits {
        0..10_000 => format!("{}.{}", kilobits / 1000, kilobits % 1000 / 100),
        _ => (kilobits / 1000).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use crate::{finding::Level, lints::tests::findings};

    #[test]
    fn the_cap_is_a_buffer_in_a_delay() {
        for (options, expected, level) in [
            ("-g8000,3,10", "13 Mbit/s", Level::Warn),
            ("-g8000,2,3", "43 Mbit/s", Level::Warn),
            ("-g8000,2,2", "65 Mbit/s", Level::Allow),
            ("-g8000,2,1", "131 Mbit/s", Level::Allow),
            ("-g8000,3,10 -s3", "52 Mbit/s", Level::Allow),
            ("-g8000,3,20 -s1", "26 Mbit/s", Level::Warn),
            ("-g8000,3,10 -s0 -b4096", "3.2 Mbit/s", Level::Warn),
        ] {
            let found = findings("grace-delay-caps-throughput", &format!("proxy {options}\n"));
            assert!(found[0].message.ends_with(expected), "{options}: {}", found[0].message);
            assert_eq!(found[0].level, level, "{options}");
        }
        for off in ["-g8000,2,0", "-g0,0,10", "-g"] {
            assert!(findings("grace-delay-caps-throughput", &format!("proxy {off}\n")).is_empty(), "{off}");
        }
    }
}
