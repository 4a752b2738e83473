//! Several bandwidths and quotas of one request.
use std::sync::Arc;

use compiler::program::limits::{Bandwidth, Rotation};
use proptest::prelude::*;

use super::{Channel, Charges, Direction, Gate, Quota, Way};
use crate::limits::traffic::Counter;

fn quota(bytes: u64) -> Arc<Quota> {
    Arc::new(Quota { counter: Arc::new(Counter::new(0, 0, 0)), bytes, rotation: Rotation::Never })
}

fn channel(bits_per_second: u32) -> Arc<Channel> {
    Arc::new(Channel::new(Bandwidth { bits_per_second }))
}

fn charges(channels: Vec<Arc<Channel>>, quotas: Vec<Arc<Quota>>) -> Charges {
    Charges { inwards: Way { channels: channels.into(), quotas: quotas.into() }, outwards: Way::default() }
}

#[test]
fn a_direction_without_limits_has_no_gate() {
    let charges = charges(vec![channel(1000)], vec![]);
    assert!(Gate::new(Some(&charges), Direction::In).is_some());
    assert!(Gate::new(Some(&charges), Direction::Out).is_none());
    assert!(Gate::new(None, Direction::In).is_none());
    assert_eq!((charges.left(Direction::In), charges.left(Direction::Out)), (u64::MAX, u64::MAX));
}

#[test]
fn a_write_that_fails_is_not_counted() {
    let quota = quota(100);
    let charges = charges(vec![], vec![Arc::clone(&quota)]);
    let gate = Gate::new(Some(&charges), Direction::In).unwrap();
    let written = gate.write(&[0; 60], |bytes| Ok(bytes.len() - 10)).unwrap();
    assert_eq!((written, quota.left(0)), (50, 50));
    gate.write(&[0; 60], |_| Err(std::io::ErrorKind::WouldBlock.into())).unwrap_err();
    assert_eq!(quota.left(0), 50);
    assert_eq!(gate.write(&[0; 60], |bytes| Ok(bytes.len())).unwrap(), 50);
    assert!(!charges.has_left());
    assert_eq!(gate.write(&[0; 60], |_| panic!("there is nothing left to write for")).unwrap(), 0);
}

#[tokio::test]
async fn a_datagram_passes_at_once_or_not_at_all() {
    tokio::time::pause();
    let quota = quota(2000);
    let slow = charges(vec![channel(80_000)], vec![Arc::clone(&quota)]);
    let passed = (0..100).filter(|_| slow.admits(Direction::In, 300)).count();
    // A thousand bytes pass at once, and one datagram that begins before they are used up.
    assert_eq!((passed, quota.left(0)), (4, 800));
    tokio::time::advance(std::time::Duration::from_secs(10)).await;
    assert!(!slow.admits(Direction::In, 900), "more than is left");
    assert_eq!(quota.left(0), 800);
    assert!(slow.admits(Direction::Out, 60_000), "nothing limits the other direction");
}

/// What is dropped takes nothing from what could pass.
#[tokio::test]
async fn a_datagram_that_is_dropped_is_charged_to_nobody() {
    tokio::time::pause();
    let (slow, left) = (channel(80_000), quota(1000));
    let limited = charges(vec![Arc::clone(&slow)], vec![Arc::clone(&left)]);
    assert!((0..5).all(|_| !limited.admits(Direction::In, 1001)), "more than is left");
    assert!(limited.admits(Direction::In, 600) && limited.admits(Direction::In, 400), "the channel is free");
    // Of two channels and a quota the second is busy for ten seconds.
    let (free, busy, left) = (channel(80_000), channel(800), quota(5000));
    let both = charges(vec![Arc::clone(&free), Arc::clone(&busy)], vec![Arc::clone(&left)]);
    assert!(both.admits(Direction::In, 1000));
    let (first, then) = (charges(vec![free], vec![]), std::time::Duration::from_secs(1));
    tokio::time::advance(then).await;
    assert!((0..5).all(|_| !both.admits(Direction::In, 1000)));
    assert_eq!(left.left(0), 4000);
    assert!(first.admits(Direction::In, 1000) && first.admits(Direction::In, 1000));
}

proptest! {
    /// Of several quotas the one with the least left decides, and all of them count the bytes that were moved.
    #[test]
    fn every_quota_counts_what_was_moved(
        limits in prop::collection::vec(0_u64..3000, 1..4),
        writes in prop::collection::vec((0_usize..700, 0_usize..700), 0..20),
    ) {
        let quotas: Vec<_> = limits.iter().map(|limit| quota(*limit)).collect();
        let charges = charges(vec![], quotas.clone());
        let gate = Gate::new(Some(&charges), Direction::In).unwrap();
        let (least, mut moved) = (*limits.iter().min().unwrap(), 0);
        for (offered, taken) in writes {
            let written = gate.write(&vec![0; offered], |granted| Ok(granted.len().min(taken))).unwrap();
            prop_assert_eq!(written as u64, (offered.min(taken) as u64).min(least - moved));
            moved += written as u64;
            for (quota, limit) in quotas.iter().zip(&limits) {
                prop_assert_eq!(quota.left(0), limit - moved);
            }
        }
    }
}
