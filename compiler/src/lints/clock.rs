//! Days and times as people write them, in 3proxy's form.
use grammar::value::{self, Period};

/// The periods, at commas, that are meant.
pub(super) fn periods(text: &str) -> Option<String> {
    let periods: Option<Vec<String>> = text.split(',').map(period).collect();
    Some(periods?.join(","))
}

/// The period that is meant; two if midnight lies between.
fn period(text: &str) -> Option<String> {
    let (from, to) = text.split_once('-')?;
    let (from, to) = (clock(from)?, clock(to)?);
    let written = |from: u32, to: u32| format!("{}-{}", shown(from), shown(to));
    let meant = match (from, to) {
        _ if from == to => return None,
        (from, to) if from < to => written(from, to),
        (from, 0) => written(from, DAY),
        (from, to) => format!("{},{}", written(from, DAY), written(0, to)),
    };
    let understood = |reading: Vec<Period>| !reading.is_empty();
    let reading = value::periods(meant.as_bytes());
    (reading.traps.is_empty() && understood(reading.value.unwrap_or_default().into_vec())).then_some(meant)
}

const DAY: u32 = 24 * 60 * 60;

/// `H`, `HH:MM`, `HHMM` or `HH:MM:SS` as a second of the day.
fn clock(text: &str) -> Option<u32> {
    let number = |part: &str| {
        let digits = (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse::<u32>().ok())?
    };
    let (hour, minute, second) = match text.split([':', '.']).collect::<Vec<_>>().as_slice() {
        [whole] if whole.len() == 4 => (number(whole.get(..2)?)?, number(whole.get(2..)?)?, 0),
        [hour] => (number(hour)?, 0, 0),
        [hour, minute] => (number(hour)?, number(minute)?, 0),
        [hour, minute, second] => (number(hour)?, number(minute)?, number(second)?),
        _ => return None,
    };
    let time = (hour * 60 + minute) * 60 + second;
    (minute < 60 && second < 60 && time <= DAY).then_some(time)
}

fn shown(second: u32) -> String {
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

/// The days that are meant, as digits: a day or a range of days, by name or digit.
pub(super) fn weekdays(text: &str) -> Option<String> {
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
    let begins = |name: &str| name.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
    (0..).zip(NAMES).find(|(_, name)| text.len() >= 2 && begins(name)).map(|(day, _)| day)
}
