//! Numbers as C's library reads them: blanks, a sign, digits; what follows is not looked at.
use super::{Reading, shape};
use crate::Span;

/// Where a number is not what is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NumberTrap {
    /// There is no digit: 3proxy reads 0.
    NotANumber,
    /// This text behind the number is not looked at.
    Junk,
    /// The number is too large, or negative where that has no meaning: 3proxy keeps its low bits.
    Wraps,
}

/// What `atoi` reads.
#[must_use]
pub fn number(word: &[u8]) -> Reading<i32, NumberTrap> {
    read(word, |number| {
        let signed = if number.negative {
            i64::try_from(number.magnitude).map_or(i64::MIN, |magnitude| -magnitude)
        } else {
            i64::try_from(number.magnitude).unwrap_or(i64::MAX)
        };
        (signed as i32, i32::try_from(signed).is_ok())
    })
}

/// What `%u` reads; 0 when there is no digit.
#[must_use]
pub fn unsigned(word: &[u8]) -> Reading<u32, NumberTrap> {
    read(word, |number| (modular(number) as u32, !number.negative && u32::try_from(number.magnitude).is_ok()))
}

/// What `%lu` reads; 0 when there is no digit.
#[must_use]
pub fn unsigned_long(word: &[u8]) -> Reading<u64, NumberTrap> {
    read(word, |number| (modular(number), !number.negative && number.magnitude < u64::MAX))
}

/// A port as `atoi` and a cast read it.
#[must_use]
pub fn port(word: &[u8]) -> Reading<u16, NumberTrap> {
    let read = number(word);
    let mut traps = read.traps;
    if !(0..=65_535).contains(&read.value) && !traps.iter().any(|(_, trap)| *trap == NumberTrap::Wraps) {
        traps.insert(0, (digits_at(word), NumberTrap::Wraps));
    }
    Reading { value: read.value as u16, traps }
}

/// As `strtoul` and `%hu`: a negative number counts down from the top.
pub(super) fn modular(number: shape::CNumber) -> u64 {
    match number.magnitude {
        u64::MAX => u64::MAX,
        magnitude if number.negative => magnitude.wrapping_neg(),
        magnitude => magnitude,
    }
}

/// A number as anyone would read it: a few digits, nothing else. Most numbers are such, and need no grammar.
pub(super) fn plain(word: &[u8]) -> Option<u32> {
    let short = (1..=9).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    short.then(|| word.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
}

fn read<T: Default>(
    word: &[u8],
    convert: impl FnOnce(shape::CNumber) -> (T, bool),
) -> Reading<T, NumberTrap> {
    let whole = Span::new(0, word.len() as u32);
    if let Some(magnitude) = plain(word) {
        let (value, _) = convert(shape::CNumber { negative: false, magnitude: magnitude.into(), at: whole });
        return Reading { value, traps: Vec::new() };
    }
    let Some((number, rest)) =
        shape::number(word).and_then(|numbers| Some((*numbers.read.first()?, numbers.rest)))
    else {
        return Reading { value: T::default(), traps: vec![(whole, NumberTrap::NotANumber)] };
    };
    let (value, fits) = convert(number);
    let mut traps = Vec::new();
    if !fits {
        traps.push((number.at, NumberTrap::Wraps));
    }
    if !rest.is_empty() {
        traps.push((rest, NumberTrap::Junk));
    }
    Reading { value, traps }
}

fn digits_at(word: &[u8]) -> Span {
    shape::number(word).and_then(|numbers| Some(numbers.read.first()?.at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{
        NumberTrap::{self, Junk, NotANumber, Wraps},
        number, port, unsigned, unsigned_long,
    };

    fn kinds<T>(reading: super::Reading<T, NumberTrap>) -> (T, Vec<NumberTrap>) {
        (reading.value, reading.traps.into_iter().map(|(_, trap)| trap).collect())
    }

    #[test]
    fn reads_what_atoi_reads() {
        let cases: [(&str, i32, &[NumberTrap]); 11] = [
            ("12", 12, &[]),
            ("+7", 7, &[]),
            (" -3", -3, &[]),
            ("", 0, &[NotANumber]),
            ("many", 0, &[NotANumber]),
            ("-", 0, &[NotANumber]),
            ("12abc", 12, &[Junk]),
            ("0x10", 0, &[Junk]),
            ("2147483648", i32::MIN, &[Wraps]),
            ("4294967297", 1, &[Wraps]),
            ("99999999999999999999", -1, &[Wraps]),
        ];
        for (text, value, traps) in cases {
            assert_eq!(kinds(number(text.as_bytes())), (value, traps.to_vec()), "{text}");
        }
    }

    #[test]
    fn a_plain_number_is_what_the_grammar_says() {
        for word in ["0", "7", "80", "007", "65536", "999999999"] {
            let by_grammar = super::shape::number(word.as_bytes()).unwrap();
            let read: Vec<_> = by_grammar.read.iter().map(|number| number.magnitude).collect();
            assert_eq!(read, [u64::from(super::plain(word.as_bytes()).unwrap())], "{word}");
            assert!(by_grammar.rest.is_empty(), "{word}");
        }
        for word in ["", "1000000000", "-1", "+1", " 1", "1x"] {
            assert_eq!(super::plain(word.as_bytes()), None, "{word}");
        }
    }

    #[test]
    fn unsigned_numbers_and_ports_keep_the_low_bits() {
        assert_eq!(kinds(unsigned(b"-1")), (u32::MAX, vec![Wraps]));
        assert_eq!(kinds(unsigned(b"300")), (300, vec![]));
        assert_eq!(kinds(unsigned_long(b"4294967296")), (1 << 32, vec![]));
        assert_eq!(kinds(port(b"70000")), (4464, vec![Wraps]));
        assert_eq!(kinds(port(b"-1")), (65_535, vec![Wraps]));
        assert_eq!(kinds(port(b"8080x")), (8080, vec![Junk]));
        assert_eq!(kinds(port(b"http")), (0, vec![NotANumber]));
    }
}
