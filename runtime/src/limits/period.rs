//! Periods of quotas and reports, in local time: days that begin at midnight, weeks that begin on Sunday.
use compiler::program::limits::Rotation;
use jiff::{Timestamp, ToSpan, Zoned, civil::Weekday, tz::TimeZone};

/// When the period that a moment is in ends, both in seconds since 1970; `None`: never.
pub(super) fn end(rotation: Rotation, at: i64, zone: &TimeZone) -> Option<i64> {
    let at = Timestamp::from_second(at).ok()?.to_zoned(zone.clone());
    Some(next(rotation, &at)?.ok()?.timestamp().as_second())
}

fn next(rotation: Rotation, at: &Zoned) -> Option<Result<Zoned, jiff::Error>> {
    let days = |from: Result<Zoned, jiff::Error>, span: jiff::Span| {
        // A day is as long as it is: midnight need not be 24 hours after midnight.
        from.and_then(|from| from.checked_add(span)).and_then(|next| next.start_of_day())
    };
    let second = i64::from(at.second());
    Some(match rotation {
        Rotation::None | Rotation::Never => return None,
        Rotation::Minutely => at.checked_add((60 - second).seconds()),
        Rotation::Hourly => at.checked_add((3600 - second - 60 * i64::from(at.minute())).seconds()),
        Rotation::Daily => days(Ok(at.clone()), 1.day()),
        Rotation::Weekly => days(Ok(at.clone()), (7 - since_sunday(at.weekday())).days()),
        Rotation::Monthly => days(at.first_of_month(), 1.month()),
        Rotation::Annually => days(at.first_of_year(), 1.year()),
    })
}

fn since_sunday(day: Weekday) -> i64 {
    i64::from(day.to_sunday_zero_offset())
}

#[cfg(test)]
mod tests {
    use compiler::program::limits::Rotation::{
        Annually, Daily, Hourly, Minutely, Monthly, Never, None as No, Weekly,
    };
    use jiff::{Zoned, tz::TimeZone};

    use super::end;

    #[test]
    fn a_period_ends_where_the_next_begins() {
        for (rotation, at, expected) in [
            (
                Minutely,
                "2026-03-07T04:05:06+01:00[Europe/Berlin]",
                "2026-03-07T04:06:00+01:00[Europe/Berlin]",
            ),
            (Hourly, "2026-03-07T04:05:06+01:00[Europe/Berlin]", "2026-03-07T05:00:00+01:00[Europe/Berlin]"),
            (Daily, "2026-03-07T04:05:06+01:00[Europe/Berlin]", "2026-03-08T00:00:00+01:00[Europe/Berlin]"),
            // A Saturday, and the Sunday itself.
            (Weekly, "2026-03-07T04:05:06+01:00[Europe/Berlin]", "2026-03-08T00:00:00+01:00[Europe/Berlin]"),
            (Weekly, "2026-03-08T00:00:00+01:00[Europe/Berlin]", "2026-03-15T00:00:00+01:00[Europe/Berlin]"),
            (Monthly, "2026-01-31T04:05:06+01:00[Europe/Berlin]", "2026-02-01T00:00:00+01:00[Europe/Berlin]"),
            (
                Annually,
                "2026-01-31T04:05:06+01:00[Europe/Berlin]",
                "2027-01-01T00:00:00+01:00[Europe/Berlin]",
            ),
            // The day on which clocks are put forward.
            (Daily, "2026-03-29T01:00:00+01:00[Europe/Berlin]", "2026-03-30T00:00:00+02:00[Europe/Berlin]"),
            (Weekly, "2026-03-28T12:00:00+01:00[Europe/Berlin]", "2026-03-29T00:00:00+01:00[Europe/Berlin]"),
        ] {
            let [at, expected] = [at, expected].map(|text| text.parse::<Zoned>().unwrap());
            let zone = at.time_zone();
            let found = end(rotation, at.timestamp().as_second(), zone);
            assert_eq!(found, Some(expected.timestamp().as_second()), "{rotation:?} {at}");
        }
    }

    #[test]
    fn no_moment_is_too_early_or_too_late() {
        for rotation in [No, Never, Minutely, Hourly, Daily, Weekly, Monthly, Annually] {
            for at in [i64::MIN, -1, 0, 0x7_9340_6fff, i64::MAX] {
                assert!(end(rotation, at, &TimeZone::UTC).is_none_or(|end| end > at), "{rotation:?} {at}");
            }
        }
    }
}
