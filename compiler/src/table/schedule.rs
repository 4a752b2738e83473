//! Weekdays and times of the day, as ranges of seconds of the week.
use super::WeekTime;
use crate::program::acl::{Matcher, Period, Weekdays};

const DAY: u32 = 24 * 60 * 60;

/// The second of the week.
pub(crate) const fn second(time: WeekTime) -> u32 {
    time.day as u32 * DAY + time.second
}

/// Adds the ranges in which an entry's weekdays and periods let it match.
pub(crate) fn add(matcher: &Matcher, entry: u32, ranges: &mut Vec<(u32, u32, u32)>) {
    let days = matcher.weekdays.unwrap_or(Weekdays(0x7f));
    let whole = [Period { from: 0, to: DAY }];
    let periods = matcher.periods.as_deref().unwrap_or(&whole);
    for day in (0..7).filter(|day| days.has(*day)) {
        let midnight = u32::from(day) * DAY;
        // What 3proxy reads as hour 25 or later is of no day.
        for period in periods.iter().filter(|period| period.from < period.to.min(DAY)) {
            ranges.push((midnight + period.from, midnight + period.to.min(DAY) - 1, entry));
        }
    }
}
