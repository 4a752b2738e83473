//! Counts over periods, and by many at once.
use std::sync::Arc;

use compiler::program::limits::Rotation;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::{Counter, Quota, period};

const NOW: i64 = 1_800_000_000;

fn quota(bytes: u64, rotation: Rotation) -> Quota {
    Quota { counter: Arc::new(Counter::new(0, NOW, 0)), bytes, rotation }
}

#[test]
fn a_quota_gives_what_it_has_and_no_more() {
    let quota = quota(1000, Rotation::Never);
    assert_eq!(quota.take(700, NOW), 700);
    assert_eq!(quota.take(700, NOW), 300);
    assert_eq!(quota.take(700, NOW), 0);
    quota.give_back(10);
    assert_eq!((quota.left(NOW), quota.counted(NOW).used), (10, 990));
    assert_eq!(quota.left(i64::MAX), 10, "a quota for ever does not start anew");
}

#[test]
fn it_starts_anew_with_its_period() {
    let quota = quota(1000, Rotation::Daily);
    let midnight = period::end(Rotation::Daily, NOW, &TimeZone::system()).unwrap();
    assert_eq!(quota.take(900, NOW), 900);
    assert_eq!(quota.take(900, midnight - 1), 100);
    assert_eq!(quota.take(900, midnight), 900);
    let counted = quota.counted(midnight + 1);
    assert_eq!((counted.used, counted.began, counted.before), (900, midnight, 1000));
    // A year later, at the same time of the day: 3proxy would take it for the same day.
    assert_eq!(quota.left(midnight + 365 * 86_400), 1000);
}

#[test]
fn a_clock_that_is_put_back_gives_nothing_back() {
    let quota = quota(1000, Rotation::Daily);
    let midnight = period::end(Rotation::Daily, NOW, &TimeZone::system()).unwrap();
    assert_eq!(quota.take(1000, midnight + 1), 1000);
    assert_eq!(quota.take(1, midnight - 1), 0);
    assert_eq!(quota.take(1, midnight), 1);
}

#[test]
fn two_quotas_of_one_count_each_go_by_their_own_period() {
    let day = quota(1000, Rotation::Daily);
    let ever = Quota { counter: Arc::clone(&day.counter), bytes: 5000, rotation: Rotation::Never };
    assert_eq!(day.take(600, NOW), 600);
    assert_eq!(ever.left(NOW), 4400);
    assert_eq!(day.left(NOW), 400);
}

#[test]
fn sessions_at_once_take_exactly_the_quota() {
    let quota = quota(100_000, Rotation::Never);
    let taken: u64 = std::thread::scope(|scope| {
        let take = |size| {
            let quota = &quota;
            move || {
                let mut sum = 0;
                for round in 0..5000_u64 {
                    let taken = quota.take(size, NOW);
                    // Some of what was granted could not be written.
                    let unwritten = if round % 3 == 0 { taken / 2 } else { 0 };
                    quota.give_back(unwritten);
                    sum += taken - unwritten;
                }
                sum
            }
        };
        let threads: Vec<_> = [7, 13, 29, 31].into_iter().map(|size| scope.spawn(take(size))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!((taken, quota.left(NOW)), (100_000, 0));
}

proptest! {
    /// What is counted is what was taken and not given back, whatever is asked for when; and never more than the quota.
    #[test]
    fn the_count_is_what_was_moved(
        bytes in 0_u64..5000,
        steps in prop::collection::vec((0_u64..2000, any::<bool>(), 0_i64..3000), 0..50),
    ) {
        let quota = quota(bytes, Rotation::Hourly);
        let (mut now, mut used, mut hour) = (NOW, 0, None);
        for (asked, keep, pause) in steps {
            now += pause;
            let this = period::end(Rotation::Hourly, now, &TimeZone::UTC);
            if hour != this {
                (hour, used) = (this, 0);
            }
            let taken = quota.take(asked, now);
            prop_assert_eq!(taken, asked.min(bytes - used));
            if keep {
                used += taken;
            } else {
                quota.give_back(taken);
            }
            prop_assert_eq!((quota.counted(now).used, quota.left(now)), (used, bytes - used));
        }
    }
}
