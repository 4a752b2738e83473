//! Log formats.
use super::{Reading, shape};
use crate::{Span, Text};

/// A log format: what 3proxy does with its first bytes, and the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFormat {
    /// `-CHARACTERS+R` in front: these bytes of logged values, and control characters, become `R`.
    pub filter: Option<LogFilter>,
    /// `G`: times are UTC. Otherwise they are local.
    pub utc: bool,
    /// What is written, with `%` sequences.
    pub body: Text,
}

/// What is kept out of log records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFilter {
    /// The bytes.
    pub bytes: Text,
    /// What they become.
    pub replacement: u8,
}

/// Where a log format is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogFormatTrap {
    /// The first byte is neither `L` nor `G`: it is lost, and times are local.
    FirstByteLost,
    /// A letter behind `%` that stands for no field: it is written as it is.
    UnknownField,
}

/// The format of a `logformat` line or a `-f` option.
#[must_use]
pub fn log_format(word: &[u8]) -> Reading<LogFormat, LogFormatTrap> {
    let filter = shape::log_filter(word);
    let rest = filter.as_ref().map_or(Span::new(0, word.len() as u32), |shape| shape.rest);
    let filter = filter.map(|shape| LogFilter {
        bytes: Text::from(shape.filtered.of(word)),
        replacement: shape.replacement.of(word).first().copied().unwrap_or(b'.'),
    });
    let (first, body) = rest.of(word).split_first().map_or((b'L', &b""[..]), |(first, body)| (*first, body));
    let lost = Span::new(rest.start, (rest.start + 1).min(rest.end));
    let mut traps = if first.eq_ignore_ascii_case(&b'L') || first.eq_ignore_ascii_case(&b'G') {
        Vec::new()
    } else {
        vec![(lost, LogFormatTrap::FirstByteLost)]
    };
    traps.extend(unknown_fields(body).map(|at| (at.shifted(lost.end), LogFormatTrap::UnknownField)));
    Reading {
        value: LogFormat { filter, utc: first.eq_ignore_ascii_case(&b'G'), body: Text::from(body) },
        traps,
    }
}

/// The letters that stand for a field behind `%`. A digit begins a range of words: `%1-4T`.
const FIELDS: &[u8] = b"%yYmodHMStbBD.zUnNETeiCRQpcrqLIOh123456789";

/// Each `%` of a format's body, with the character behind it, that stands for no field.
fn unknown_fields(body: &[u8]) -> impl Iterator<Item = Span> {
    let mut bytes = (0_u32..).zip(body.iter().copied());
    std::iter::from_fn(move || {
        loop {
            let (at, byte) = bytes.next()?;
            if byte == b'%' {
                let (end, letter) = bytes.next()?;
                if !FIELDS.contains(&letter) {
                    return Some(Span::new(at, end + 1));
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::log_format;

    #[test]
    fn letters_without_a_meaning_are_found() {
        for (word, unknown) in [
            ("L%t %U %1-4T %% %. %h", vec![]),
            ("L%t %P %", vec![(4, 6)]),
            ("-x+_G%%%a%Z", vec![(7, 9), (9, 11)]),
        ] {
            let reading = log_format(word.as_bytes());
            let found: Vec<_> = reading.traps.iter().map(|(at, _)| (at.start, at.end)).collect();
            assert_eq!(found, unknown, "{word}");
        }
    }

    #[test]
    fn the_first_bytes_are_no_text() {
        let cases: [(&str, Option<(&str, u8)>, bool, &str, Option<u32>); 7] = [
            ("L%t %U", None, false, "%t %U", None),
            ("G%t", None, true, "%t", None),
            ("-\"'+_L%t", Some(("\"'", b'_')), false, "%t", None),
            ("-+ G", Some(("", b' ')), true, "", None),
            ("%t %U", None, false, "t %U", Some(0)),
            ("-x+_%t", Some(("x", b'_')), false, "t", Some(4)),
            ("", None, false, "", None),
        ];
        for (word, filter, utc, body, lost) in cases {
            let reading = log_format(word.as_bytes());
            let read = reading
                .value
                .filter
                .as_ref()
                .map(|filter| (filter.bytes.to_str().unwrap(), filter.replacement));
            assert_eq!(
                (read, reading.value.utc, reading.value.body.to_str().unwrap()),
                (filter, utc, body),
                "{word}"
            );
            assert_eq!(reading.traps.first().map(|(at, _)| at.start), lost, "{word}");
        }
    }
}
