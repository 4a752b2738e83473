//! Periods that 3proxy does not read.
use grammar::value::{PeriodTrap, periods};

use super::{
    clock,
    rule::{Misread, rule},
};
use crate::{finding::Finding, fix::Safety, program::trap::Trap, sources::Loc};

rule! {
    /// A period that is not `HH:MM:SS-HH:MM:SS`, or that runs over midnight, is ignored, and so is what follows it.
    ///
    /// An entry whose only period is ignored matches at any time:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * * * * * 9:00-18:00
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * * * * * * 09:00:00-18:00:00
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Split a night at midnight:
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * * * * * * 22:00:00-06:00:00
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * * * * * * 22:00:00-24:00:00,00:00:00-06:00:00
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * * * * * 1-5 00:00:00-06:00:00,18:30:00-24:00:00
    /// proxy -i127.0.0.1
    /// ```
    "period-ignored",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    trap: Trap::Periods(fault) => |part| finding(part, fault),
}

/// `part` of a period field is not read as it is written. `restricts`: the field has other periods.
fn finding(part: Misread<'_>, trap: PeriodTrap) -> Finding {
    let restricts = periods(&part.unquoted()).value.is_some();
    // Digits at the places of a period's make one, even over a comma: what is written are several.
    let several = part.text.contains(&b',');
    let part = if several { to_the_end(part) } else { part };
    let cited = part.cited();
    let consequence = if restricts {
        "and 3proxy ignores it and everything after it"
    } else {
        "so the entry matches at any time"
    };
    let message = match trap {
        PeriodTrap::Separators if several => format!("`{cited}` is read as one period"),
        _ if several => format!("`{cited}` are not periods, {consequence}"),
        PeriodTrap::Malformed => format!("`{cited}` is not a period, {consequence}"),
        PeriodTrap::Overnight => format!("`{cited}` runs over midnight, {consequence}"),
        PeriodTrap::Empty => format!("`{cited}` ends when it begins, so it never matches"),
        PeriodTrap::OutOfRange => format!("`{cited}` is not a time of day"),
        PeriodTrap::Separators => format!("`{cited}` is read as a period only by luck"),
        PeriodTrap::Junk => format!("`{cited}` after a period is ignored, and so is everything after it"),
    };
    let finding = RULE.finding(part.at, message).label("not `HH:MM:SS-HH:MM:SS`").note(
        "A period is `HH:MM:SS-HH:MM:SS` in local time, within one day; a list is separated by commas.",
    );
    let overnight = trap == PeriodTrap::Overnight && !several;
    let finding = if overnight { finding.label("ends before it begins") } else { finding };
    match clock::periods(&cited) {
        Some(meant) => finding.help(format!("write `{meant}`")).fix(part.replaced(
            "write it in full",
            Safety::Safe,
            meant,
        )),
        None => finding.help("write each period as `HH:MM:SS-HH:MM:SS`, within one day"),
    }
}

/// From the part on, all that its word holds.
fn to_the_end(part: Misread<'_>) -> Misread<'_> {
    let skipped = part.at.span.start.saturating_sub(part.whole.span.start) as usize;
    let text = part.word.get(skipped..).unwrap_or(part.text);
    let span = grammar::Span::new(part.at.span.start, part.whole.span.end);
    Misread { at: Loc { file: part.at.file, span }, text, ..part }
}

#[cfg(test)]
mod tests {
    use crate::lints::clock::periods;
    use crate::lints::tests::{check, findings};

    #[test]
    fn periods_are_translated() {
        for (written, meant) in [
            ("9:00:00-18:00:00", Some("09:00:00-18:00:00")),
            ("9-18", Some("09:00:00-18:00:00")),
            ("0900-1730", Some("09:00:00-17:30:00")),
            ("22:00-06:00", Some("22:00:00-24:00:00,00:00:00-06:00:00")),
            ("22:00:00-00:00:00", Some("22:00:00-24:00:00")),
            ("09.00.00-18.00.00", Some("09:00:00-18:00:00")),
            ("08:00:00-08:00:00", None),
            ("25:00:00-26:00:00", None),
            ("9am-5pm", None),
            ("é900-1000", None),
            ("night", None),
            ("09:00-18:00,19-20", Some("09:00:00-18:00:00,19:00:00-20:00:00")),
            ("09:00-18:00,night", None),
        ] {
            assert_eq!(periods(written).as_deref(), meant, "{written}");
        }
    }

    #[test]
    fn a_list_that_3proxy_reads_over_its_comma_is_mended_as_a_whole() {
        let written = "deny * * * * * * 09:00-18:00,19-20:30\n";
        let found = findings("period-ignored", written);
        let [finding] = found.as_slice() else { panic!("{found:#?}") };
        let fixed = finding.fix.as_ref().unwrap().apply(finding.at.file, written.as_bytes());
        let meant = "deny * * * * * * 09:00:00-18:00:00,19:00:00-20:30:00\n";
        assert_eq!(String::from_utf8(fixed).unwrap(), meant);
    }

    #[test]
    fn the_ignored_period_is_named() {
        check(
            "period-ignored",
            r"
allow * * * * * * 09:00:00-12:00:00,13:00-18:00
#                                   ^ `13:00-18:00` is not a period, and 3proxy ignores it
deny * * * * * * night
#                ^ `night` is not a period, so the entry matches at any time
allow * * * * * * 09:00:00-18:00:00;
#                                  ^ `;` after a period is ignored
allow * * * * * * 09:00-18:00,19-20
#                 ^ `09:00-18:00,19-20` are not periods, so the entry matches at any time
allow * * * * * * 00:00-09:00,19-20
#                 ^ `00:00-09:00,19-20` is read as one period
allow * * * * * * 09:00:00-09:00:00
#                 ^ ends when it begins
",
        );
    }
}
