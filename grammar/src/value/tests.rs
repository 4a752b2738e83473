//! What holds for every parser of values: no input makes it panic, and each place lies in the word.
use proptest::prelude::*;

use super::*;

/// Words that are nearly right, and any bytes.
fn word() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("10.0.0.1"),
        Just("/"),
        Just("24"),
        Just("-"),
        Just(","),
        Just(":"),
        Just("::1"),
        Just("*"),
        Just("CL"),
        Just("user"),
        Just("ip"),
        Just("09:00:00"),
        Just("18:00:00"),
        Just("80"),
        Just("70000"),
        Just(";"),
        Just("$"),
        Just("["),
        Just("]"),
        Just("tcp"),
        Just("HTTP"),
        Just("a.example"),
        Just("+"),
        Just(" "),
        Just("L"),
        Just("é"),
        Just("SO_REUSEPORT"),
    ];
    prop_oneof![
        proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat().into_bytes()),
        proptest::collection::vec(any::<u8>(), 0..24),
    ]
}

fn inside<T, Trap>(word: &[u8], reading: &Reading<T, Trap>) -> bool {
    reading.traps.iter().all(|(at, _)| at.start <= at.end && at.end as usize <= word.len())
}

/// The weekday rule as 3proxy's own loop has it.
fn plain_weekdays(word: &[u8]) -> u8 {
    let (mut set, mut at) = (0, 0);
    let digit = |at: usize| word.get(at).filter(|byte| byte.is_ascii_digit()).map(|byte| byte - b'0');
    while at < word.len() {
        if let Some(first) = digit(at) {
            let mut last = first;
            if word.get(at + 1) == Some(&b'-') && digit(at + 2).is_some_and(|next| next > first) {
                last = digit(at + 2).unwrap();
                at += 2;
            }
            (first..=last).for_each(|day| set |= 1 << (day % 7));
        }
        at += 1;
    }
    set
}

/// The period rule as 3proxy's own loop has it: fixed columns, no look at separators.
fn plain_periods(mut word: &[u8]) -> Vec<Period> {
    let mut read = Vec::new();
    while word.len() >= 17
        && [0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16].iter().all(|at| word[*at].is_ascii_digit())
    {
        let two = |at: usize| u32::from(word[at] - b'0') * 10 + u32::from(word[at + 1] - b'0');
        let time = |at: usize| (two(at) * 60 + two(at + 3)) * 60 + two(at + 6);
        if time(9) < time(0) {
            break;
        }
        read.push(Period { from: time(0), to: time(9) });
        if word.get(17) != Some(&b',') {
            break;
        }
        word = &word[18..];
    }
    read
}

proptest! {
    #[test]
    fn no_word_makes_a_parser_panic_and_places_lie_in_it(word in word()) {
        let word = word.as_slice();
        prop_assert!(inside(word, &number(word)));
        prop_assert!(inside(word, &unsigned(word)));
        prop_assert!(inside(word, &unsigned_long(word)));
        prop_assert!(inside(word, &port(word)));
        prop_assert!(inside(word, &targets(word)));
        prop_assert!(inside(word, &weekdays(word)));
        prop_assert!(inside(word, &periods(word)));
        prop_assert!(inside(word, &cache_fields(word)));
        prop_assert!(inside(word, &user(word)));
        prop_assert!(inside(word, &log_format(word)));
        prop_assert!(inside(word, &grace(word)));
        prop_assert!(inside(word, &splice(word)));
        prop_assert!(inside(word, &socket_options(word)));
        let within = |at: Span| at.start <= at.end && at.end as usize <= word.len();
        prop_assert!(sources(word).map_or_else(|(at, _)| within(at), |reading| inside(word, &reading)));
        prop_assert!(endpoint(word).map_or_else(|(at, _)| within(at), |reading| inside(word, &reading)));
        prop_assert!(ports(word).map_or_else(within, |reading| inside(word, &reading)));
        prop_assert!(operations(word).map_or_else(within, |_| true));
        let _ = (host(word), rotation(word));
    }

    #[test]
    fn weekdays_are_those_of_the_plain_rule(word in "[0-9x,-]{0,10}|([0-9]-){0,4}[0-9]") {
        prop_assert_eq!(weekdays(word.as_bytes()).value.map_or(0, |days| days.0), plain_weekdays(word.as_bytes()));
    }

    #[test]
    fn periods_are_those_of_the_plain_rule(
        parts in proptest::collection::vec(("[0-2][0-9]:[0-5][0-9]:[0-5][0-9][-:][0-2][0-9]:[0-5][0-9]:[0-5]?[0-9]", "[,;x]?"), 0..4)
    ) {
        let word: String = parts.into_iter().map(|(period, end)| period + &end).collect();
        prop_assert_eq!(periods(word.as_bytes()).value.unwrap_or_default().to_vec(), plain_periods(word.as_bytes()));
    }

    #[test]
    fn what_has_no_trap_is_what_is_written(first in any::<u16>(), last in any::<u16>()) {
        let (low, high) = (first.min(last), first.max(last));
        let word = format!("{low}-{high}");
        let reading = ports(word.as_bytes()).unwrap();
        prop_assert!(reading.traps.is_empty());
        prop_assert_eq!(reading.value.unwrap().to_vec(), vec![PortRange { first: low, last: high }]);
    }

    #[test]
    fn a_network_holds_what_its_length_says(bits in any::<u32>(), length in 0_u8..=32, probe in any::<u32>()) {
        let item = format!("{}/{length}", std::net::Ipv4Addr::from(bits));
        let range = range(item.as_bytes()).unwrap().value;
        let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
        prop_assert_eq!(range.contains(std::net::Ipv4Addr::from(probe).into()), probe & mask == bits & mask);
    }
}
