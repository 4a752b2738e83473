//! What a log format is made of: literal bytes, and `%` letters that print something of a record or of the time.
use std::ops::Range;

/// One piece of a format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Bytes that print themselves.
    Literal(Vec<u8>),
    /// A letter.
    Field(Field),
    /// `%A-BT`: words of the text, counted from 0.
    Words(Range<usize>),
}

/// What a `%` letter prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Year2,
    Year,
    Month,
    MonthName,
    Day,
    Hour,
    Minute,
    Second,
    Millisecond,
    Zone,
    UnixTime,
    Duration,
    ClientRate,
    ServerRate,
    User,
    Host,
    Protocol,
    Code,
    Text,
    External,
    Local,
    Client,
    ClientPort,
    Peer,
    PeerPort,
    Target,
    TargetPort,
    ServicePort,
    Cycles,
    FromServer,
    FromClient,
    Hops,
}

impl Field {
    const fn of(letter: u8) -> Option<Self> {
        Some(match letter {
            b'y' => Self::Year2,
            b'Y' => Self::Year,
            b'm' => Self::Month,
            b'o' => Self::MonthName,
            b'd' => Self::Day,
            b'H' => Self::Hour,
            b'M' => Self::Minute,
            b'S' => Self::Second,
            b'.' => Self::Millisecond,
            b'z' => Self::Zone,
            b't' => Self::UnixTime,
            b'D' => Self::Duration,
            b'b' => Self::ClientRate,
            b'B' => Self::ServerRate,
            b'U' => Self::User,
            b'n' => Self::Host,
            b'N' => Self::Protocol,
            b'E' => Self::Code,
            b'T' => Self::Text,
            b'e' => Self::External,
            b'i' => Self::Local,
            b'C' => Self::Client,
            b'c' => Self::ClientPort,
            b'R' => Self::Peer,
            b'r' => Self::PeerPort,
            b'Q' => Self::Target,
            b'q' => Self::TargetPort,
            b'p' => Self::ServicePort,
            b'L' => Self::Cycles,
            b'I' => Self::FromServer,
            b'O' => Self::FromClient,
            b'h' => Self::Hops,
            _ => return None,
        })
    }
}

/// The pieces of a pattern. Total: an unknown letter prints itself, as does a `%` at the end.
pub(super) fn parse(pattern: &[u8]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((&byte, after)) = rest.split_first() {
        let piece;
        (piece, rest) = match (byte, after.split_first()) {
            (b'%', Some((b'1'..=b'9', _))) => words(after),
            (b'%', Some((&letter, left))) => {
                (Field::of(letter).map_or_else(|| literal(letter), Piece::Field), left)
            }
            _ => (literal(byte), after),
        };
        match (piece, pieces.last_mut()) {
            (Piece::Literal(new), Some(Piece::Literal(last))) => last.extend(new),
            (piece, _) => pieces.push(piece),
        }
    }
    pieces
}

fn literal(byte: u8) -> Piece {
    Piece::Literal(vec![byte])
}

/// The words piece that begins at the digit that `text` starts with, and what is left of `text`.
///
/// `A-B` takes the character behind it with it, and prints something only if that is a `T`. A number alone prints the first word if
/// a `T` follows, and only its first digit is taken: 3proxy does so, and its manual knows `A-B` only.
fn words(text: &[u8]) -> (Piece, &[u8]) {
    let nothing = || Piece::Literal(Vec::new());
    let (first, after) = number(text);
    let range = after.strip_prefix(b"-").filter(|rest| rest.first().is_some_and(u8::is_ascii_digit));
    let Some(range) = range else {
        let piece = if after.first() == Some(&b'T') { Piece::Words(0..1) } else { nothing() };
        return (piece, text.get(1..).unwrap_or_default());
    };
    let (last, after) = number(range);
    match after.split_first() {
        Some((b'T', rest)) => (Piece::Words(first.saturating_sub(1)..last), rest),
        Some((_, rest)) => (nothing(), rest),
        None => (nothing(), after),
    }
}

/// The decimal number at the start of `text`, and what follows it.
fn number(text: &[u8]) -> (usize, &[u8]) {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(len).unwrap_or((text, &[]));
    let value = digits
        .iter()
        .fold(0_usize, |value, digit| value.saturating_mul(10).saturating_add((digit - b'0').into()));
    (value, rest)
}

#[cfg(test)]
mod tests {
    use super::{Field, Piece, parse};

    fn literal(text: &str) -> Piece {
        Piece::Literal(text.into())
    }

    #[test]
    fn a_pattern_is_read_as_3proxy_reads_it() {
        let cases: [(&str, Vec<Piece>); 9] = [
            ("", vec![]),
            ("%E|%U", vec![Piece::Field(Field::Code), literal("|"), Piece::Field(Field::User)]),
            ("100%% %", vec![literal("100% %")]),
            ("%x%0", vec![literal("x0")]),
            ("%1-3T.", vec![Piece::Words(0..3), literal(".")]),
            ("%12-13T", vec![Piece::Words(11..13)]),
            ("a%1-3Xb", vec![literal("ab")]),
            ("%5T", vec![Piece::Words(0..1), literal("T")]),
            ("%1-3", vec![literal("")]),
        ];
        for (pattern, expected) in cases {
            assert_eq!(parse(pattern.as_bytes()), expected, "{pattern}");
        }
    }
}
