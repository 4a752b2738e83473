//! The shapes inside words, by pest: the only module that sees the rules of `value.pest`.
use std::borrow::Cow;

use pest::{Parser, iterators::Pair};

use crate::Span;

/// The generated parser, apart because its items are beyond our lints' reach.
mod generated {
    /// Reads `value.pest`.
    #[derive(pest_derive::Parser)]
    #[grammar = "value.pest"]
    pub(super) struct Shapes;
}
use generated::{Rule, Shapes};

/// A number as C reads it: blanks, a sign, digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CNumber {
    /// Starts with `-`.
    pub(super) negative: bool,
    /// Its digits' value; the largest there is when they are too many.
    pub(super) magnitude: u64,
    /// Sign and digits.
    pub(super) at: Span,
}

/// A shape's numbers, in order, and what stands behind them.
pub(super) struct Numbers {
    /// As many as could be read.
    pub(super) read: Vec<CNumber>,
    /// Empty when there is nothing.
    pub(super) rest: Span,
}

/// Reads a number as `atoi` does; `None`: there is no digit.
pub(super) fn number(text: &[u8]) -> Option<Numbers> {
    numbers(Rule::number, text)
}

/// Reads `N` or `N-N` as `%hu-%hu` does; `None`: there is no digit.
pub(super) fn port_item(text: &[u8]) -> Option<Numbers> {
    numbers(Rule::port_item, text)
}

/// Reads up to three numbers at commas.
pub(super) fn grace(text: &[u8]) -> Option<Numbers> {
    numbers(Rule::grace, text)
}

fn numbers(rule: Rule, text: &[u8]) -> Option<Numbers> {
    let text = ascii(text);
    let mut numbers = Numbers { read: Vec::new(), rest: Span::default() };
    for pair in inside(rule, &text)? {
        match pair.as_rule() {
            Rule::c_number => numbers.read.push(c_number(pair)),
            Rule::rest => numbers.rest = span(&pair),
            _ => {}
        }
    }
    Some(numbers)
}

fn c_number(pair: Pair<'_, Rule>) -> CNumber {
    let mut number = CNumber { negative: false, magnitude: 0, at: Span::default() };
    for part in pair.into_inner() {
        let at = span(&part);
        number.at = if number.at.is_empty() { at } else { number.at.to(at) };
        match part.as_rule() {
            Rule::sign => number.negative = part.as_str() == "-",
            _ => number.magnitude = part.as_str().parse().unwrap_or(u64::MAX),
        }
    }
    number
}

/// `HH:MM:SS-HH:MM:SS` at the start of `text`, whatever its separators are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PeriodShape {
    /// Hour, minute, second, twice.
    pub(super) numbers: [u32; 6],
    /// The separators are the usual ones.
    pub(super) usual: bool,
    /// What stands behind.
    pub(super) rest: Span,
}

/// Reads a period; `None`: a digit is missing.
pub(super) fn period(text: &[u8]) -> Option<PeriodShape> {
    usual_period(text).or_else(|| any_period(text))
}

/// A period with the usual separators. Most are such, and need no grammar.
fn usual_period(text: &[u8]) -> Option<PeriodShape> {
    const SEPARATORS: &[u8; 5] = b"::-::";
    let mut shape = PeriodShape { numbers: [0; 6], usual: true, rest: Span::new(17, text.len() as u32) };
    for (number, part) in shape.numbers.iter_mut().zip(text.get(..17)?.chunks(3)) {
        let [tens @ b'0'..=b'9', ones @ b'0'..=b'9', ..] = part else { return None };
        *number = u32::from(tens - b'0') * 10 + u32::from(ones - b'0');
    }
    let separators = text.iter().skip(2).step_by(3).take(SEPARATORS.len());
    separators.eq(SEPARATORS).then_some(shape)
}

fn any_period(text: &[u8]) -> Option<PeriodShape> {
    let text = ascii(text);
    let mut shape = PeriodShape { numbers: [0; 6], usual: true, rest: Span::default() };
    let (mut numbers, mut usual) = (shape.numbers.iter_mut(), "::-::".chars());
    for pair in inside(Rule::period, &text)? {
        match pair.as_rule() {
            Rule::two => *numbers.next()? = pair.as_str().parse().unwrap_or_default(),
            Rule::separator => shape.usual &= pair.as_str().chars().next() == usual.next(),
            Rule::rest => shape.rest = span(&pair),
            _ => {}
        }
    }
    Some(shape)
}

/// `[N][:MIN,STREAK,SMALL]`.
pub(super) struct SpliceShape {
    /// `N`.
    pub(super) mode: Option<u64>,
    /// `MIN`, `STREAK`, `SMALL`.
    pub(super) tuning: Option<[u64; 3]>,
    /// What stands behind.
    pub(super) rest: Span,
}

/// Reads the value of `-s`.
pub(super) fn splice(text: &[u8]) -> Option<SpliceShape> {
    let text = ascii(text);
    let mut shape = SpliceShape { mode: None, tuning: None, rest: Span::default() };
    for pair in inside(Rule::splice, &text)? {
        match pair.as_rule() {
            Rule::mode => shape.mode = Some(pair.as_str().parse().unwrap_or(u64::MAX)),
            Rule::tuning => {
                let mut digits = pair.into_inner().map(|part| part.as_str().parse().unwrap_or(u64::MAX));
                shape.tuning = Some([digits.next()?, digits.next()?, digits.next()?]);
            }
            Rule::rest => shape.rest = span(&pair),
            _ => {}
        }
    }
    Some(shape)
}

/// `NAME:PASSWORD` or `NAME:TT:PASSWORD`.
#[derive(Default)]
pub(super) struct UserShape {
    /// What stands before the first colon.
    pub(super) name: Span,
    /// Two characters between two colons.
    pub(super) kind: Option<Span>,
    /// The rest.
    pub(super) password: Span,
}

/// Reads one word of a `users` line; `None`: it has no colon.
pub(super) fn user(text: &[u8]) -> Option<UserShape> {
    let text = ascii(text);
    let mut shape = UserShape::default();
    for pair in inside(Rule::user, &text)? {
        match pair.as_rule() {
            Rule::user_name => shape.name = span(&pair),
            Rule::user_type => shape.kind = Some(span(&pair)),
            Rule::rest => shape.password = span(&pair),
            _ => {}
        }
    }
    Some(shape)
}

/// `-CHARACTERS+R` before a log format.
#[derive(Default)]
pub(super) struct LogFilterShape {
    /// The characters.
    pub(super) filtered: Span,
    /// What they become.
    pub(super) replacement: Span,
    /// The format itself.
    pub(super) rest: Span,
}

/// Reads the filter in front of a log format; `None`: there is none.
pub(super) fn log_filter(text: &[u8]) -> Option<LogFilterShape> {
    let text = ascii(text);
    let mut shape = LogFilterShape::default();
    for pair in inside(Rule::log_filter, &text)? {
        match pair.as_rule() {
            Rule::filtered => shape.filtered = span(&pair),
            Rule::replacement => shape.replacement = span(&pair),
            Rule::rest => shape.rest = span(&pair),
            _ => {}
        }
    }
    Some(shape)
}

/// `HOST[:PORT][/TRANSPORT]`.
#[derive(Default)]
pub(super) struct EndpointShape {
    /// Name or address, brackets removed.
    pub(super) host: Span,
    /// It stood in brackets.
    pub(super) bracketed: bool,
    /// What stands behind the colon.
    pub(super) port: Option<Span>,
    /// What stands behind the slash.
    pub(super) transport: Option<Span>,
}

/// Reads an endpoint; `None`: it has too many colons, or text behind a bracket.
pub(super) fn endpoint(text: &[u8]) -> Option<EndpointShape> {
    let text = ascii(text);
    let mut shape = EndpointShape::default();
    for pair in inside(Rule::endpoint, &text)? {
        match pair.as_rule() {
            Rule::plain => shape.host = span(&pair),
            Rule::bracketed => {
                shape.bracketed = true;
                shape.host = pair.into_inner().next().map(|inner| span(&inner)).unwrap_or_default();
            }
            Rule::port_text => shape.port = Some(span(&pair)),
            Rule::rest => shape.transport = Some(span(&pair)),
            _ => {}
        }
    }
    Some(shape)
}

/// The parts of `rule` over `text`.
fn inside(rule: Rule, text: &str) -> Option<pest::iterators::Pairs<'_, Rule>> {
    Some(Shapes::parse(rule, text).ok()?.next()?.into_inner())
}

/// `text` with one DEL for each byte that is not ASCII: as long as it was, so that places hold.
fn ascii(text: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) if text.is_ascii() => Cow::Borrowed(text),
        _ => text.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { '\x7f' }).collect(),
    }
}

fn span(pair: &Pair<'_, Rule>) -> Span {
    let span = pair.as_span();
    Span::new(span.start() as u32, span.end() as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{any_period, usual_period};

    proptest! {
        #[test]
        fn a_usual_period_is_what_the_grammar_says(text in "[0-2][0-9]:[0-9]{2}:00-[0-9]{2}:59:[0-9]{1,2}.?.?|[0-9:.-]{0,20}|.{0,20}") {
            if let Some(shape) = usual_period(text.as_bytes()) {
                prop_assert_eq!(Some(shape), any_period(text.as_bytes()));
            }
        }
    }

    #[test]
    fn most_periods_are_usual() {
        for (text, is_usual) in [
            ("08:00:00-18:30:59", true),
            ("08:00:00-18:30:59,", true),
            ("08:00:00-18:30:5", false),
            ("8:00:00-18:30:59", false),
            ("08.00.00-18.30.59", false),
            ("08:00:00-18:30:5x", false),
        ] {
            assert_eq!(usual_period(text.as_bytes()).is_some(), is_usual, "{text}");
        }
    }
}
