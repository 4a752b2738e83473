//! Days of the week that 3proxy does not read.
use grammar::value::{WeekdayTrap, weekdays};

use super::{
    columns,
    rule::{Part, rule},
};
use crate::{finding::Finding, fix::Safety, program::trap::Trap};

rule! {
    /// Days are digits; what is no digit is skipped, and a field without a digit restricts nothing.
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

fn finding(part: Part<'_>, fault: WeekdayTrap) -> Option<Finding> {
    // Hours here are in the wrong column, and that is what to say.
    (!columns::holds_clock(part.word)).then(|| found(part, fault, weekdays(&part.unquoted()).value.is_some()))
}

/// `part` of a weekday field is not read as it is written. `restricts`: the field has other days.
fn found(part: Part<'_>, trap: WeekdayTrap, restricts: bool) -> Finding {
    let cited = part.cited();
    let (message, label) = match trap {
        WeekdayTrap::NotUnderstood if restricts => {
            (format!("`{cited}` is no day, and 3proxy skips it"), "skipped")
        }
        WeekdayTrap::NotUnderstood => {
            (format!("`{cited}` is no day, so the entry matches on every day"), "restricts nothing")
        }
        WeekdayTrap::OutOfRange => {
            (format!("`{cited}` is no day, and 3proxy counts it modulo 7"), "days are 0 to 7")
        }
        WeekdayTrap::Descending => (
            format!("`{cited}` descends, and 3proxy reads its two ends only"),
            "the days between are not read",
        ),
    };
    let finding = RULE
        .finding(part.at, message)
        .label(label)
        .note("Days are the digits 0 to 7, where 0 and 7 are Sunday, and ascending ranges: `1-5`.");
    match translated(&cited) {
        Some(days) => finding.help(format!("write `{days}`")).fix(part.replaced(
            "write the days as digits",
            Safety::Safe,
            days,
        )),
        None => finding.help("write the days as digits"),
    }
}

/// The days that are meant, as digits: a day or a range of days, by name or digit.
fn translated(text: &str) -> Option<String> {
    let Some((first, last)) = text.split_once('-') else { return Some(day(text)?.to_string()) };
    match (day(first)?, day(last)?) {
        (first, last) if first < last => Some(format!("{first}-{last}")),
        (first, last) if first == last => Some(first.to_string()),
        (first, 0) => Some(ascending(first, 7)),
        (first, last) => {
            let tail = if last == 0 { "0".to_owned() } else { ascending(1, last) };
            Some(format!("{},{tail}", ascending(first, 7)))
        }
    }
}

fn ascending(first: u8, last: u8) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn day(text: &str) -> Option<u8> {
    const NAMES: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    if let Ok(digit @ 0..=7) = text.parse::<u8>() {
        return Some(digit % 7);
    }
    let text = text.to_ascii_lowercase();
    let long_enough = text.len() >= 2;
    (0..).zip(NAMES).find(|(_, name)| long_enough && name.starts_with(&text)).map(|(day, _)| day)
}

#[cfg(test)]
mod tests {
    use super::translated;
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
            assert_eq!(translated(written).as_deref(), meant, "{written}");
        }
    }

    #[test]
    fn only_what_is_skipped_is_named() {
        check(
            "weekday-not-understood",
            r"
allow * * * * * Mon,3
#               ^ `Mon` is no day, and 3proxy skips it
allow * * * * * Sat-Sun
#               ^ `Sat-Sun` is no day, so the entry matches on every day
deny * * * * * 8
#              ^ counts it modulo 7
allow * * * * * 1,2,3-5
",
        );
    }
}
