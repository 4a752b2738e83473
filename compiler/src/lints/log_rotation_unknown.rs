//! A rotation letter that 3proxy does not know.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A letter that is not a rotation type leaves the log file without a name.
    ///
    /// 3proxy knows C, H, D, W, M and Y (minute, hour, day, week, month, year), and only the first letter counts. With another one it
    /// makes no name at all and opens whatever its memory holds there: mostly that can't be opened, and the whole configuration is
    /// refused; or nothing is logged to this file.
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
    trap: Trap::Rotation => finding,
}

fn finding(letter: Misread<'_>) -> Finding {
    let cited = letter.cited();
    let finding = RULE
        .finding(letter.at, format!("`{cited}` is not a rotation, so this log file gets no name"))
        .label("C, H, D, W, M or Y");
    if letter.text.iter().all(u8::is_ascii_digit) {
        finding.help(format!("write `D` for a new file each day, and `rotate {cited}` to keep that many"))
    } else {
        finding.help("write `D` for a new file each day, or nothing for a single file")
    }
}
