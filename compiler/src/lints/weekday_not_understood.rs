//! Days of the week that 3proxy does not read.
use grammar::value::{WeekdayTrap, weekdays};

use super::{
    clock, columns,
    rule::{Misread, rule},
};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// Days are digits; anything else is skipped, and a field without a digit restricts nothing.
    ///
    /// 3proxy knows 0 to 7 (0 and 7 are Sunday) and ascending ranges. It skips every other byte, so `Mon-Fri` is every day.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * * * * Mon-Fri
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * * * * * 1-5
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// A range that descends is read as its two ends:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * * * * 5-1
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * * * * * 5-7,1
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * * * * * 0,2-4,6
    /// proxy -i127.0.0.1
    /// ```
    "weekday-not-understood",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Weekdays(fault) => |part| finding(part, fault),
}

fn finding(part: Misread<'_>, fault: WeekdayTrap) -> Option<Finding> {
    // Hours here are in the wrong column, and that is what to say.
    (!columns::holds_clock(part.word)).then(|| found(part, fault, weekdays(&part.unquoted()).value.is_some()))
}

/// `part` of a weekday field is not read as it is written. `restricts`: the field has other days.
fn found(part: Misread<'_>, trap: WeekdayTrap, restricts: bool) -> Finding {
    let cited = part.cited();
    let (message, label) = match trap {
        WeekdayTrap::NotUnderstood if restricts => {
            (format!("`{cited}` is not a day, and 3proxy skips it"), "skipped")
        }
        WeekdayTrap::NotUnderstood => {
            (format!("`{cited}` is not a day, so the entry matches on every day"), "restricts nothing")
        }
        WeekdayTrap::OutOfRange => {
            (format!("`{cited}` is not a day, and 3proxy counts it modulo 7"), "days are the digits 0 to 7")
        }
        WeekdayTrap::Descending => (
            format!("`{cited}` is a descending range, of which 3proxy reads only the two ends"),
            "the days between are not read",
        ),
    };
    let finding = RULE
        .finding(part.at, message)
        .label(label)
        .note("Days are the digits 0 to 7, where 0 and 7 are Sunday, and ascending ranges: `1-5`.");
    match clock::weekdays(&cited) {
        Some(days) => finding.help(format!("write `{days}`")).fix(part.replaced(
            "write the days as digits",
            Safety::Safe,
            days,
        )),
        None => finding.help("write the days as digits"),
    }
}

#[cfg(test)]
mod tests {
    use crate::lints::clock::weekdays;
    use crate::lints::tests::check;

    #[test]
    fn days_are_translated() {
        for (written, meant) in [
            ("Mon-Fri", Some("1-5")),
            ("sat-sun", Some("6-7")),
            ("Fri-Mon", Some("5-7,1")),
            ("Fri-Tue", Some("5-7,1-2")),
            ("Su", Some("0")),
            ("Sun-Sat", Some("0-6")),
            ("6-1", Some("6-7,1")),
            ("2-2", Some("2")),
            ("S", None),
            ("workdays", None),
            ("", None),
        ] {
            assert_eq!(weekdays(written).as_deref(), meant, "{written}");
        }
    }

    #[test]
    fn only_what_is_skipped_is_named() {
        check(
            "weekday-not-understood",
            r"
allow * * * * * Mon,3
#               ^ `Mon` is not a day, and 3proxy skips it
allow * * * * * Sat-Sun
#               ^ `Sat-Sun` is not a day, so the entry matches on every day
deny * * * * * 8
#              ^ counts it modulo 7
allow * * * * * 1,2,3-5
",
        );
    }
}
