//! A bandwidth that is too low.
use super::rule::rule;
use crate::{finding::Finding, lower::command::Arg};

rule! {
    /// 3proxy refuses a bandwidth below 300 bits per second.
    ///
    /// The unit is bits per second, without a suffix: `1000000` is one megabit.
    ///
    /// ```3proxy,fires
    /// bandlimin 128 * 10.0.0.0/8
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// bandlimin 128000 * 10.0.0.0/8
    /// proxy -i127.0.0.1
    /// ```
    "bandlim-too-low",
    level: Deny,
    group: Correctness,
    since: "0.1.0",
    refused: true,
    from lowering,
}

/// `word` is the rate, which 3proxy reads as `read`.
pub(crate) fn finding(word: &Arg<'_>, read: u32) -> Finding {
    RULE.finding(
        word.at,
        format!("`{}` is read as {read} bits per second, below the minimum of 300", word.text()),
    )
    .help(match in_bits(&word.value) {
        Some(rate) => format!("write the rate in digits only: `{rate}`"),
        None => "write a rate of at least 300 bits per second, in digits only".to_owned(),
    })
}

/// The rate of `10M`, `512k`.
fn in_bits(word: &[u8]) -> Option<u64> {
    let (unit, digits) = word.split_last()?;
    let unit = match unit.to_ascii_lowercase() {
        b'k' => 1_000,
        b'm' => 1_000_000,
        b'g' => 1_000_000_000,
        _ => return None,
    };
    let digits: u64 = str::from_utf8(digits).ok()?.parse().ok()?;
    digits.checked_mul(unit).filter(|rate| (300..=u64::from(u32::MAX)).contains(rate))
}
