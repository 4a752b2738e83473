//! A period of a quota that 3proxy does not know.
use super::rule::{Misread, rule};
use crate::{finding::Finding, program::trap::Trap};

rule! {
    /// A letter that stands for no period makes a quota that never starts anew.
    ///
    /// 3proxy knows C, H, D, W, M and Y (minute, hour, day, week, month, year), and only the first letter counts. With another one it
    /// counts for all time, so that the client is cut off once and for ever; and a report is never written. Write `N` if that is meant.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// countin 1 X 1000 * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// countin 1 M 1000 * 10.0.0.0/8
    /// countout 2 N 100000 * 10.0.0.0/8
    /// counter /var/lib/3proxy/count D /var/lib/3proxy/report.txt
    /// proxy -i10.0.0.1
    /// ```
    "count-period-unknown",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::QuotaPeriod => finding,
}

fn finding(letter: Misread<'_>) -> Finding {
    RULE.finding(letter.at, format!("`{}` is not a period, so 3proxy takes it for never", letter.cited()))
        .label("C, H, D, W, M or Y; N for never")
        .help("write `M` for a month, `D` for a day, or `N` if never is meant")
}
