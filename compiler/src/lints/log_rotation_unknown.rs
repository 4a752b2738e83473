//! A rotation letter that 3proxy does not know.
use super::rule::{Lint, rule};
use crate::program::trap::Trap;

rule! {
    /// A letter that stands for no rotation leaves the log file without a name.
    ///
    /// 3proxy knows C, H, D, W, M and Y (minute, hour, day, week, month, year), and only the first letter counts. With another one it
    /// opens a file named by nothing but its path, once, and never a new one.
    ///
    /// ```3proxy,fires
    /// log /var/log/3proxy/3proxy.log 30
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
    "log-rotation-unknown",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    for (letter, trap) in lint.traps() {
        if trap != Trap::Rotation {
            continue;
        }
        let finding = RULE
            .finding(
                letter.at,
                format!("`{}` is no rotation: this log never gets a new file", letter.cited()),
            )
            .label("C, H, D, W, M or Y");
        lint.report(if letter.text.iter().all(u8::is_ascii_digit) {
            finding.help(format!(
                "write `D` for a file each day, and `rotate {}` to keep so many",
                letter.cited()
            ))
        } else {
            finding.help("write `D` for a file each day, or nothing for one file")
        });
    }
}
