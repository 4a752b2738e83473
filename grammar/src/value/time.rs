//! Days of the week and times of the day.
use super::{
    Reading,
    list::{is_any, listed},
    shape,
};
use crate::Span;

/// A set of days; bit 0 is Sunday.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Weekdays(pub u8);

impl Weekdays {
    /// Whether `day` (0 is Sunday) is one of them.
    #[must_use]
    pub const fn has(self, day: u8) -> bool {
        day < 7 && self.0 & (1 << day) != 0
    }
}

/// Where a weekday field is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeekdayTrap {
    /// Bytes that 3proxy skips: names of days, blanks.
    NotUnderstood,
    /// A digit above 7: 3proxy counts it modulo 7.
    OutOfRange,
    /// A range that descends: 3proxy reads its two ends as two days.
    Descending,
}

/// From a second of the day up to, not including, another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    /// First second since midnight.
    pub from: u32,
    /// Second behind the last.
    pub to: u32,
}

impl Period {
    /// Whether `second` lies in it.
    #[must_use]
    pub const fn contains(self, second: u32) -> bool {
        self.from <= second && second < self.to
    }
}

/// Where a period field is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeriodTrap {
    /// Not `HH:MM:SS-HH:MM:SS`: 3proxy stops reading the field here.
    Malformed,
    /// It ends before it begins, over midnight: 3proxy stops reading the field here.
    Overnight,
    /// It ends where it begins, so that it never is.
    Empty,
    /// An hour above 24, or a minute or second above 59.
    OutOfRange,
    /// Other characters than `:` and `-` between the numbers, which 3proxy does not look at.
    Separators,
    /// Text behind a period that is no comma: 3proxy stops reading the field here.
    Junk,
}

/// The weekday field of an entry: digits and ascending ranges; `None`: it restricts nothing.
#[must_use]
pub fn weekdays(word: &[u8]) -> Reading<Option<Weekdays>, WeekdayTrap> {
    if is_any(word) {
        return Reading::plain(None);
    }
    let (mut days, mut traps) = (0_u8, Vec::new());
    let digit = |at: usize| word.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0');
    let place = |at: usize, len: usize| Span::new(at as u32, (at + len) as u32);
    let mut at = 0;
    while let Some(byte) = word.get(at) {
        let Some(first) = digit(at) else {
            if *byte != b',' {
                skipped(&mut traps, place(at, 1));
            }
            at += 1;
            continue;
        };
        let end = digit(at + 2).filter(|_| word.get(at + 1) == Some(&b'-'));
        let (last, len) = match end {
            Some(last) if last > first => (last, 3),
            // 3proxy reads the digit, skips the dash and starts anew.
            Some(last) => {
                let trap = if last < first { WeekdayTrap::Descending } else { WeekdayTrap::NotUnderstood };
                traps.push((place(at, 3), trap));
                (first, 2)
            }
            None => (first, 1),
        };
        if first.max(last) > 7 {
            traps.push((place(at, if len == 3 { 3 } else { 1 }), WeekdayTrap::OutOfRange));
        }
        (first..=last).for_each(|day| days |= 1 << (day % 7));
        at += len;
    }
    Reading { value: (days != 0).then_some(Weekdays(days)), traps }
}

/// Notes a skipped byte, as one trap with the skipped bytes just before it.
fn skipped(traps: &mut Vec<(Span, WeekdayTrap)>, at: Span) {
    match traps.last_mut() {
        Some((before, WeekdayTrap::NotUnderstood)) if before.end == at.start => before.end = at.end,
        _ => traps.push((at, WeekdayTrap::NotUnderstood)),
    }
}

/// The length of `HH:MM:SS-HH:MM:SS`.
const PERIOD_LEN: usize = 17;

/// The period field of an entry: periods at commas; `None`: it restricts nothing.
#[must_use]
pub fn periods(word: &[u8]) -> Reading<Option<Box<[Period]>>, PeriodTrap> {
    if is_any(word) || word.is_empty() {
        return Reading::plain(None);
    }
    let (mut periods, mut traps) = (Vec::new(), Vec::new());
    let mut start = 0;
    while let Some(text) = word.get(start as usize..).filter(|text| !text.is_empty()) {
        let item_len = text.iter().position(|byte| *byte == b',').unwrap_or(text.len());
        let item = Span::new(start, start + item_len as u32);
        // So much as tells whether something stands behind it: a list of thousands is not read again for each.
        let Some(shape) = shape::period(text.get(..=PERIOD_LEN).unwrap_or(text)) else {
            traps.push((item, PeriodTrap::Malformed));
            break;
        };
        let at = Span::new(start, start + shape.rest.start);
        let [h1, m1, s1, h2, m2, s2] = shape.numbers;
        let period = Period { from: (h1 * 60 + m1) * 60 + s1, to: (h2 * 60 + m2) * 60 + s2 };
        if period.to < period.from {
            traps.push((at, PeriodTrap::Overnight));
            break;
        }
        periods.push(period);
        if period.to == period.from {
            traps.push((at, PeriodTrap::Empty));
        }
        if h1 > 24 || h2 > 24 || [m1, s1, m2, s2].into_iter().any(|number| number > 59) || period.to > 86_400
        {
            traps.push((at, PeriodTrap::OutOfRange));
        }
        if !shape.usual {
            traps.push((at, PeriodTrap::Separators));
        }
        if !shape.rest.is_empty() && word.get(at.end as usize) != Some(&b',') {
            traps.push((Span::new(at.end, word.len() as u32), PeriodTrap::Junk));
            break;
        }
        start = at.end + 1;
    }
    Reading { value: listed(periods), traps }
}

#[cfg(test)]
mod tests {
    use super::{
        PeriodTrap::{self, Empty, Junk, Malformed, OutOfRange, Overnight, Separators},
        WeekdayTrap::{self, Descending, NotUnderstood},
        periods, weekdays,
    };
    use crate::Span;

    #[test]
    fn weekdays_are_read_as_3proxy_reads_them() {
        let cases: [(&str, u8, &[(u32, u32, WeekdayTrap)]); 12] = [
            ("*", 0, &[]),
            ("1-5", 0b11_1110, &[]),
            ("0,6,7", 0b100_0001, &[]),
            ("123", 0b1110, &[]),
            ("5-7", 0b110_0001, &[]),
            ("Mon-Fri", 0, &[(0, 7, NotUnderstood)]),
            ("Mon,1", 0b10, &[(0, 3, NotUnderstood)]),
            ("6-1", 0b100_0010, &[(0, 3, Descending)]),
            ("1-1", 0b10, &[(0, 3, NotUnderstood)]),
            ("1-", 0b10, &[(1, 2, NotUnderstood)]),
            ("8", 0b10, &[(0, 1, WeekdayTrap::OutOfRange)]),
            ("", 0, &[]),
        ];
        for (word, days, traps) in cases {
            let reading = weekdays(word.as_bytes());
            assert_eq!(reading.value.map_or(0, |days| days.0), days, "{word}");
            let found: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, at.end, *trap)).collect();
            assert_eq!(found, traps, "{word}");
        }
    }

    #[test]
    fn periods_are_read_as_3proxy_reads_them() {
        let cases: [(&str, &[(u32, u32)], &[(u32, PeriodTrap)]); 14] = [
            ("*", &[], &[]),
            ("", &[], &[]),
            ("09:00:00-18:00:00", &[(32_400, 64_800)], &[]),
            ("00:00:00-06:00:00,22:00:00-24:00:00", &[(0, 21_600), (79_200, 86_400)], &[]),
            ("00:00:00-00:00:01,", &[(0, 1)], &[]),
            ("9:00:00-18:00:00", &[], &[(0, Malformed)]),
            ("09:00-18:00", &[], &[(0, Malformed)]),
            ("night", &[], &[(0, Malformed)]),
            ("22:00:00-06:00:00", &[], &[(0, Overnight)]),
            ("01:00:00-02:00:00,x,03:00:00-04:00:00", &[(3600, 7200)], &[(18, Malformed)]),
            ("00:00:00-00:00:00", &[(0, 0)], &[(0, Empty)]),
            ("00:00:00-99:99:99", &[(0, 362_439)], &[(0, OutOfRange)]),
            ("00.00.00-24.00.00", &[(0, 86_400)], &[(0, Separators)]),
            ("01:00:00-02:00:00;03:00:00-04:00:00", &[(3600, 7200)], &[(17, Junk)]),
        ];
        for (word, read, traps) in cases {
            let reading = periods(word.as_bytes());
            let value: Vec<_> =
                reading.value.iter().flatten().map(|period| (period.from, period.to)).collect();
            assert_eq!(value, read, "{word}");
            let found: Vec<_> = reading.traps.iter().map(|(at, trap)| (at.start, *trap)).collect();
            assert_eq!(found, traps, "{word}");
        }
        assert_eq!(periods(b"a,b").traps, [(Span::new(0, 1), Malformed)]);
    }
}
