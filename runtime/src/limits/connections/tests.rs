//! Counts against the clock, and by many at once.
use std::sync::Arc;

use compiler::program::limits::ConnectionRate;
use proptest::prelude::*;
use tokio::time::{Duration, Instant, advance, pause};

use super::{Connections, Place, take};

fn entry(connections: u32, seconds: u32) -> Arc<Connections> {
    Arc::new(Connections::new(ConnectionRate { connections, seconds }))
}

fn take_one(entry: &Arc<Connections>) -> Option<Vec<Place>> {
    take(vec![Arc::clone(entry)], &[])
}

#[test]
fn a_place_is_free_again_when_it_is_given_back() {
    let entry = entry(2, 0);
    let first = take_one(&entry).unwrap();
    let _second = take_one(&entry).unwrap();
    assert!(take_one(&entry).is_none());
    drop(first);
    assert!(take_one(&entry).is_some());
}

#[test]
fn a_connection_has_one_place_at_an_entry() {
    let entry = entry(1, 0);
    let held = take_one(&entry).unwrap();
    let again = take(vec![Arc::clone(&entry)], &held).expect("it is counted already");
    assert!(again.is_empty());
    assert!(take_one(&entry).is_none());
}

#[test]
fn what_one_entry_refuses_no_other_has_counted() {
    for seconds in [0, 60] {
        let (wide, full) = (entry(2, seconds), entry(0, seconds));
        for _ in 0..5 {
            assert!(take(vec![Arc::clone(&wide), Arc::clone(&full)], &[]).is_none());
        }
        let places: Vec<_> = (0..3).map(|_| take_one(&wide)).collect();
        assert_eq!(places.iter().flatten().count(), 2);
    }
}

#[tokio::test]
async fn a_rate_recovers_in_its_period() {
    pause();
    let entry = entry(4, 60);
    let admitted = || (0..10).filter(|_| take_one(&entry).is_some()).count();
    assert_eq!(admitted(), 4);
    // A quarter of the period lets a quarter of what was counted fade.
    advance(Duration::from_secs(15)).await;
    assert_eq!(admitted(), 1);
    advance(Duration::from_secs(60)).await;
    assert_eq!(admitted(), 4);
}

#[tokio::test]
async fn a_rate_of_zero_lets_nobody_through() {
    pause();
    let entry = entry(0, 1);
    for _ in 0..3 {
        assert!(take_one(&entry).is_none());
        advance(Duration::from_secs(5)).await;
    }
}

#[test]
fn many_at_once_never_have_more_places_than_there_are() {
    use std::sync::atomic::{AtomicU32, Ordering};
    let entries = [entry(3, 0), entry(5, 0)];
    let (open, most, taken) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (entries, open, most, taken) = (&entries, &open, &most, &taken);
            scope.spawn(move || {
                for round in 0..2000 {
                    // In either order.
                    let mut wanted = entries.to_vec();
                    wanted.rotate_left((thread + round) % 2);
                    if let Some(places) = take(wanted, &[]) {
                        let now = open.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        taken.fetch_add(1, Ordering::SeqCst);
                        open.fetch_sub(1, Ordering::SeqCst);
                        drop(places);
                    }
                }
            });
        }
    });
    let most = most.into_inner();
    assert!((1..=3).contains(&most), "{most} at once");
    assert!(taken.into_inner() >= 2000);
    let left: Vec<_> = (0..4).map(|_| take(entries.to_vec(), &[])).collect();
    assert_eq!(left.iter().flatten().count(), 3, "every place was given back");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However clients come: in any time no more get through than the rate at once, and the rate over that time.
    #[test]
    fn no_more_than_the_rate_get_through(
        connections in 0_u32..20,
        seconds in 1_u32..30,
        pauses in prop::collection::vec(0_u64..4000, 1..150),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let times = runtime.block_on(async {
            pause();
            let (entry, mut times) = (entry(connections, seconds), Vec::new());
            for pause in &pauses {
                // Clients come in crowds, too.
                advance(Duration::from_millis(pause.saturating_sub(2000))).await;
                if take_one(&entry).is_some() {
                    times.push(Instant::now());
                }
            }
            times
        });
        for (from, first) in times.iter().enumerate() {
            for (count, last) in times[from..].iter().enumerate().map(|(at, last)| (at + 1, last)) {
                let passed = last.duration_since(*first).as_secs_f64() / f64::from(seconds);
                let most = f64::from(connections) * (1.0 + passed) + 0.001;
                prop_assert!(count as f64 <= most, "{count} in {passed} periods");
            }
        }
    }

    /// Whatever comes and goes, as many are open as were let in and not given back, and one gets in exactly if there is room.
    #[test]
    fn as_many_are_open_as_are_let_in(most in 0_usize..6, steps in prop::collection::vec(any::<Option<u8>>(), 0..60)) {
        let entry = entry(most as u32, 0);
        let mut open = Vec::new();
        for step in steps {
            match step {
                None => {
                    let taken = take_one(&entry);
                    prop_assert_eq!(taken.is_some(), open.len() < most);
                    open.extend(taken);
                }
                Some(which) if !open.is_empty() => drop(open.swap_remove(usize::from(which) % open.len())),
                Some(_) => {}
            }
        }
    }
}
