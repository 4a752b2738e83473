//! A channel's rule, over what a simulated crowd passes through it.
use compiler::program::limits::Bandwidth;
use proptest::prelude::*;
use tokio::time::{Duration, Instant};

use super::Channel;

fn channel(bits_per_second: u32) -> Channel {
    Channel::new(Bandwidth { bits_per_second })
}

/// What passes through a channel when `clients` of them ask for `bytes` again and again for so long: when, who, how many bytes.
fn crowd(channel: &Channel, clients: &[u64], time: Duration) -> Vec<(Instant, usize, u64)> {
    let (began, mut passed) = (channel.began, Vec::new());
    // Who asks next, and when.
    let mut asking: Vec<(Instant, usize)> = (0..clients.len()).map(|client| (began, client)).collect();
    while let Some(at) = (0..asking.len()).min_by_key(|at| asking[*at]) {
        let (now, client) = asking[at];
        if now > began + time {
            break;
        }
        let bytes = clients[client].min(channel.burst()).max(1);
        let then = channel.reserve(bytes, now);
        passed.push((then, client, bytes));
        asking[at].0 = then.max(now + Duration::from_nanos(1));
    }
    passed.sort();
    passed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whoever asks when for how much: in any time no more bytes pass than the rate over that time and the burst.
    #[test]
    fn no_more_than_the_rate_passes(
        rate in prop_oneof![300_u32..5000, 5000_u32..10_000_000, Just(u32::MAX)],
        asked in prop::collection::vec((0_u64..300_000_000, 0_u64..20_000), 1..80),
    ) {
        let channel = channel(rate);
        let (mut now, mut passed) = (channel.began, Vec::new());
        for (pause, bytes) in asked {
            now += Duration::from_nanos(pause.saturating_sub(50_000_000));
            let bytes = bytes.min(channel.burst());
            passed.push((channel.reserve(bytes, now), bytes));
        }
        passed.sort();
        for (from, (first, _)) in passed.iter().enumerate() {
            let mut sum = 0;
            for (last, bytes) in &passed[from..] {
                sum += bytes;
                let time = last.duration_since(*first).as_secs_f64();
                let most = f64::from(rate) / 8.0 * time + channel.burst() as f64 + 1.0;
                prop_assert!(sum as f64 <= most, "{sum} bytes in {time} s at {rate}");
            }
        }
    }

    /// Those who always have something to send use the whole channel, and those who ask for equal portions get equal shares,
    /// however many there are.
    #[test]
    fn nobody_starves(rate in 10_000_u32..1_000_000, clients in 1_usize..20) {
        let channel = channel(rate);
        let time = Duration::from_secs(60);
        let passed = crowd(&channel, &vec![channel.burst(); clients], time);
        let passed: Vec<_> = passed.into_iter().filter(|(at, ..)| *at <= channel.began + time).collect();
        let whole: u64 = passed.iter().map(|(.., bytes)| bytes).sum();
        let expected = f64::from(rate) / 8.0 * 60.0;
        prop_assert!(whole as f64 >= expected * 0.99 - channel.burst() as f64, "{whole} of {expected}");
        let shares = (0..clients).map(|client| {
            passed.iter().filter(|(_, by, _)| *by == client).map(|(.., bytes)| bytes).sum::<u64>()
        });
        let shares: Vec<u64> = shares.collect();
        let (least, most) = (shares.iter().min().unwrap(), shares.iter().max().unwrap());
        prop_assert!(most - least <= 2 * channel.burst(), "{shares:?}");
    }
}

#[test]
fn a_client_that_asks_for_little_waits_no_longer_than_one_round() {
    let channel = channel(800_000);
    let mut clients = vec![channel.burst(); 9];
    clients.push(10);
    let passed = crowd(&channel, &clients, Duration::from_secs(30));
    let small: Vec<Instant> = passed.iter().filter(|(_, by, _)| *by == 9).map(|(at, ..)| *at).collect();
    // Nine portions of a tenth of a second.
    assert!(small.windows(2).all(|pair| pair[1] - pair[0] <= Duration::from_millis(901)));
    assert!(small.len() > 30);
}

#[test]
fn what_can_not_wait_passes_only_while_nobody_waits() {
    let channel = channel(80_000);
    let began = channel.began;
    // The burst, and one more that begins before it is used up.
    let passed = (0..100).filter(|_| channel.reserve_now(100, began)).count();
    assert_eq!(passed as u64, channel.burst() / 100 + 1);
    assert!(!channel.reserve_now(1, began + Duration::from_millis(9)));
    assert!(channel.reserve_now(1, began + Duration::from_millis(10)));
    channel.reserve(100_000, began);
    assert!(!channel.reserve_now(1, began + Duration::from_secs(9)));
}

#[test]
fn the_lowest_and_the_highest_rate_count() {
    for rate in [1, 300, u32::MAX] {
        let channel = channel(rate);
        let now = channel.began + Duration::from_secs(3600 * 24 * 365);
        assert_eq!(channel.reserve(channel.burst(), now), now, "{rate}");
        assert!(channel.reserve(u64::MAX, now) > now, "{rate}");
        assert!(channel.reserve(u64::MAX, now) > now, "{rate}");
    }
}
