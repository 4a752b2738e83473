//! `bandlimin`, `bandlimout`: one channel for all that an entry is for together.
//!
//! Bytes stand in a queue before the channel: who wants to pass some reserves the time that they take, behind all that is reserved
//! already, and waits until that time has come. So each waits its turn, nobody overtakes, and a client that asks for much waits as
//! often as it asks. Nothing runs while nobody asks.
use std::sync::atomic::{AtomicU64, Ordering};

use compiler::program::limits::Bandwidth;
use tokio::time::{Duration, Instant};

/// The time for which a channel that was silent passes bytes at once: timers are not finer than a millisecond, and wake late.
const AHEAD: Duration = Duration::from_millis(100);
/// But at least this many bytes, or each would be read by itself.
const LEAST: u64 = 256;

const NANOSECONDS: u128 = 1_000_000_000;

/// The channel of one entry.
#[derive(Debug)]
pub(super) struct Channel {
    bits_per_second: u32,
    began: Instant,
    /// When all that was reserved has passed, in nanoseconds after it began.
    free: AtomicU64,
}

impl Channel {
    pub(super) fn new(bandwidth: Bandwidth) -> Self {
        let bits_per_second = bandwidth.bits_per_second.max(1);
        Self { bits_per_second, began: Instant::now(), free: AtomicU64::new(0) }
    }

    /// How many bytes pass at once after a silence. More may be reserved, but nobody should reserve more at once: others wait.
    pub(super) fn burst(&self) -> u64 {
        let bits = u128::from(self.bits_per_second) * AHEAD.as_nanos() / NANOSECONDS;
        u64::try_from(bits / 8).unwrap_or(u64::MAX).max(LEAST)
    }

    /// Reserves the time that the bytes take, and returns when they may pass.
    pub(super) fn reserve(&self, bytes: u64, now: Instant) -> Instant {
        let (now, time) = (self.since(now), self.time(bytes));
        let end = |free: u64| free.max(now).saturating_add(time);
        // An error would mean that nothing is to be stored.
        let free = self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, |free| Some(end(free)));
        let free = free.map_or_else(end, end);
        self.began + Duration::from_nanos(free.saturating_sub(self.ahead()).max(now))
    }

    /// Reserves it only if nobody waits: for what is dropped rather than kept waiting.
    pub(super) fn reserve_now(&self, bytes: u64, now: Instant) -> bool {
        let (now, time) = (self.since(now), self.time(bytes));
        let end = |free: u64| {
            (free.saturating_sub(self.ahead()) <= now).then(|| free.max(now).saturating_add(time))
        };
        self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, end).is_ok()
    }

    /// Gives the time back that was reserved for bytes which do not pass.
    pub(super) fn give_back(&self, bytes: u64) {
        let time = self.time(bytes);
        let before = |free: u64| Some(free.saturating_sub(time));
        // An error would mean that nothing is to be stored.
        let _ = self.free.fetch_update(Ordering::AcqRel, Ordering::Acquire, before);
    }

    fn since(&self, now: Instant) -> u64 {
        let passed = now.saturating_duration_since(self.began).as_nanos();
        u64::try_from(passed).unwrap_or(u64::MAX)
    }

    /// How long the bytes take.
    fn time(&self, bytes: u64) -> u64 {
        let time = u128::from(bytes) * 8 * NANOSECONDS / u128::from(self.bits_per_second.max(1));
        u64::try_from(time).unwrap_or(u64::MAX)
    }

    fn ahead(&self) -> u64 {
        self.time(self.burst())
    }
}

#[cfg(test)]
mod tests;
