//! Which known word was meant by an unknown one.

/// The candidate that is nearest to `written`, ignoring case, if it is near enough to be meant: at most a third of its
/// letters are wrong. The earlier of equals.
#[must_use]
pub fn closest<'a>(written: &[u8], candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    near(written, candidates).min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// The words of a guess.
#[must_use]
pub fn did_you_mean(meant: &str) -> String {
    format!("did you mean `{meant}`?")
}

/// The same, if no other candidate is as close.
pub fn only_closest<'a>(written: &[u8], candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near: Vec<_> = near(written, candidates).collect();
    let least = near.iter().map(|(distance, _)| *distance).min()?;
    let mut closest = near.iter().filter(|(distance, _)| *distance == least);
    let only = closest.next().map(|(_, candidate)| *candidate);
    only.filter(|_| closest.next().is_none())
}

/// The candidate that is one slip of the finger away: that one is certainly meant.
pub fn one_slip<'a>(written: &[u8], candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut slips = near(written, candidates).filter(|(distance, _)| *distance <= 1);
    let (_, candidate) = slips.next()?;
    slips.next().is_none().then_some(candidate)
}

/// The candidates that may be meant, each with its distance.
fn near<'a>(
    written: &[u8],
    candidates: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = (usize, &'a str)> {
    let written = written.to_ascii_lowercase();
    candidates.filter_map(move |candidate| {
        let most = candidate.len() / 3;
        let may_be =
            written.len().abs_diff(candidate.len()) <= most && least(&written, candidate.as_bytes()) <= most;
        let distance = may_be.then(|| distance(&written, &candidate.to_ascii_lowercase().into_bytes()))?;
        (distance <= most).then_some((distance, candidate))
    })
}

/// What the distance is at least, by the letters of each whatever their order: most candidates are told apart by that alone, and a
/// file that is no configuration has a hundred thousand unknown words.
fn least(a: &[u8], b: &[u8]) -> usize {
    // Letters that share a place only make it less.
    let mut counts = [0_i32; 32];
    for (text, one) in [(a, 1), (b, -1)] {
        for byte in text {
            if let Some(count) = counts.get_mut(usize::from(byte & 31)) {
                *count += one;
            }
        }
    }
    let missing: i32 = counts.iter().filter(|count| **count > 0).sum();
    let extra: i32 = counts.iter().filter(|count| **count < 0).sum();
    missing.max(-extra).unsigned_abs() as usize
}

/// How many letters must be put in, left out, replaced or swapped with their neighbour to get from `a` to `b`.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (row, from) in a.iter().enumerate() {
        let mut next = vec![row + 1];
        for (column, to) in b.iter().enumerate() {
            let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut cost = at(&last, column) + usize::from(from != to);
            cost = cost.min(at(&last, column + 1) + 1).min(at(&next, column) + 1);
            let swapped =
                row > 0 && column > 0 && a.get(row - 1) == Some(to) && b.get(column - 1) == Some(from);
            if swapped {
                cost = cost.min(at(&before, column - 1) + 1);
            }
            next.push(cost);
        }
        before = std::mem::replace(&mut last, next);
    }
    last.last().copied().unwrap_or(a.len())
}

/// Commands by the names that other programs, and people, have for them.
const ELSEWHERE: [(&str, &str); 17] = [
    ("bind", "internal"),
    ("block", "deny"),
    ("drop", "deny"),
    ("http", "proxy"),
    ("http_proxy", "proxy"),
    ("httpproxy", "proxy"),
    ("https", "proxy"),
    ("listen", "internal"),
    ("logfile", "log"),
    ("nameserver", "nserver"),
    ("permit", "allow"),
    ("portmap", "tcppm"),
    ("reject", "deny"),
    ("socks4", "socks"),
    ("socks5", "socks"),
    ("udp", "udppm"),
    ("upstream", "parent"),
];

/// The command that is called `name` elsewhere.
pub(super) fn elsewhere(name: &[u8]) -> Option<&'static str> {
    let is_it = |(other, _): &&(&str, &str)| name == other.as_bytes();
    ELSEWHERE.iter().find(is_it).map(|(_, command)| *command)
}

#[cfg(test)]
mod tests {
    use super::{closest, distance, least, one_slip, only_closest};

    #[test]
    fn of_two_that_are_as_close_none_is_certain() {
        let words = ["countin", "countall", "allow"];
        for (written, one, only) in [
            ("alow", Some("allow"), Some("allow")),
            ("countan", Some("countin"), Some("countin")),
            ("countil", Some("countin"), Some("countin")),
            ("countal", Some("countall"), Some("countall")),
            ("other", None, None),
        ] {
            let found = (
                closest(written.as_bytes(), words.into_iter()),
                only_closest(written.as_bytes(), words.into_iter()),
            );
            assert_eq!(found, (one, only), "{written}");
        }
        let twins = ["ssl_serv", "ssl_perv"];
        assert!(closest(b"ssl_merv", twins.into_iter()).is_some());
        assert_eq!(only_closest(b"ssl_merv", twins.into_iter()), None);
    }

    #[test]
    fn one_slip_is_certain_and_two_are_not() {
        for (written, expected) in [
            ("Strong", true),
            ("storng", true),
            ("strongg", true),
            ("stron", true),
            ("storg", false),
            ("srtogn", false),
        ] {
            assert_eq!(
                one_slip(written.as_bytes(), ["strong", "none"].into_iter()).is_some(),
                expected,
                "{written}"
            );
        }
        assert_eq!(one_slip(b"cachf", ["cache", "cachg"].into_iter()), None);
    }

    #[test]
    fn a_swap_is_one_mistake() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("ab", "ba", 1),
            ("allow", "alow", 1),
            ("deny", "dent", 1),
            ("abc", "xyz", 3),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
            assert!(least(a.as_bytes(), b.as_bytes()) <= expected, "{a} {b}");
        }
    }
}
