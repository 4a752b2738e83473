//! Timeouts that were shifted by a lost number.
use super::rule::{Lint, rule};
use crate::sources::Loc;

rule! {
    /// The values of `timeouts` look as if one is missing, so that all later ones are shifted.
    ///
    /// 3proxy takes any number of values and gives them to its timeouts in order. Its releases had 8, 10 and 11 of them; in a line with
    /// fewer the rest keep their defaults. A value that is lost in the middle makes each later one mean something else.
    ///
    /// ```3proxy,fires
    /// timeouts 1 5 30 60 180 15 60
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    ///
    /// Right:
    ///
    /// ```3proxy,clean
    /// timeouts 1 5 30 60 180 1800 15 60
    /// auth iponly
    /// allow *
    /// proxy -i127.0.0.1
    /// ```
    "timeouts-count",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

/// What the values mean, in order.
const MEANINGS: [&str; 11] = [
    "BYTE_SHORT",
    "BYTE_LONG",
    "STRING_SHORT",
    "STRING_LONG",
    "CONNECTION_SHORT",
    "CONNECTION_LONG",
    "DNS",
    "CHAIN",
    "CONNECT",
    "CONNECTBACK",
    "LINGER",
];
/// Pairs of which the second is never meant to be less than the first.
const PAIRS: [(usize, usize); 3] = [(0, 1), (2, 3), (4, 5)];

fn check(lint: &mut Lint<'_>) {
    let Some(at) = lint.program.process.timeouts.at else { return };
    let words = lint.sources.values(at);
    let values: Vec<(Loc, u32)> = words
        .iter()
        .skip(1)
        .filter_map(|(at, word)| Some((*at, std::str::from_utf8(word).ok()?.parse().ok()?)))
        .collect();
    let reversed = PAIRS.into_iter().find(|(short, long)| {
        let value = |index: &usize| values.get(*index).map(|(_, value)| *value);
        value(short).zip(value(long)).is_some_and(|(short, long)| long < short)
    });
    let count = words.len().saturating_sub(1);
    // Each is a number: others have findings of their own.
    if values.len() != count {
        return;
    }
    let name = |index: usize| MEANINGS.get(index).copied().unwrap_or_default();
    let value = |index: usize| values.get(index).copied();
    let finding = match reversed {
        Some((short, long)) if let (Some((_, less)), Some((at, more))) = (value(short), value(long)) => RULE
            .finding(
                at,
                format!("{} is {more} seconds, less than {}, which is {less}", name(long), name(short)),
            )
            .label(format!("3proxy reads this as {}", name(long))),
        _ if count > MEANINGS.len() => {
            let Some((extra, _)) = value(MEANINGS.len()) else { return };
            RULE.finding(extra, format!("`timeouts` has {count} values, and 3proxy reads 11"))
                .label("not read from here on")
        }
        _ => return,
    };
    lint.report(finding.help(format!("write all of them: {}", MEANINGS.join(" "))));
}

#[cfg(test)]
mod tests {
    use crate::lints::tests::check;

    #[test]
    fn values_in_their_order_are_silent() {
        for line in [
            "timeouts 1 5 30 60 180 1800 15 60",
            "timeouts 1 5 30 60 180 1800 15 60 15 5",
            "timeouts 1 5 30 60 180 1800 15 60 15 5 5",
            "timeouts 10 10",
            "timeouts 1 5 30 60 180 1800",
        ] {
            check("timeouts-count", &format!("{line}\nproxy\n"));
        }
    }

    #[test]
    fn a_lost_number_is_seen_by_the_order() {
        check(
            "timeouts-count",
            "timeouts 5 30 60 180 1800 15 60\n#                         ^ CONNECTION_LONG is 15\n",
        );
        check(
            "timeouts-count",
            "timeouts 1 5 30 60 180 1800 15 60 15 5 5 7\n#                                        ^ has 12 values\n",
        );
    }
}
