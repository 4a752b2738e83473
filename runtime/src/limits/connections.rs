//! `connlim`: so many connections in a time, or at a time.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compiler::program::limits::ConnectionRate;
use tokio::time::{Duration, Instant};

/// One connection, in the unit of [`Counted::rating`].
const ONE: u64 = 1 << 20;

/// What one entry has counted.
#[derive(Debug)]
pub(super) struct Connections {
    rate: ConnectionRate,
    counted: Mutex<Counted>,
}

#[derive(Debug)]
struct Counted {
    /// Connections that are open.
    open: u32,
    /// As in 3proxy, what an entry with a period goes by: each connection adds one, and it fades in proportion to the time since
    /// the last one, so that nothing is left after a period without any.
    rating: u64,
    /// When a connection was last let through.
    last: Option<Instant>,
}

/// A connection's place at an entry. It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place(Arc<Connections>);

impl Connections {
    pub(super) fn new(rate: ConnectionRate) -> Self {
        Self { rate, counted: Mutex::new(Counted { open: 0, rating: 0, last: None }) }
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        // Nothing below panics; and if it did, a count is a count.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    /// The rating with one connection more.
    fn with_one(&self, period: Duration, now: Instant) -> u64 {
        let passed = self.last.map_or(period, |last| now.saturating_duration_since(last));
        let Some(left) = period.checked_sub(passed) else { return ONE };
        let faded = u128::from(self.rating) * left.as_nanos() / period.as_nanos().max(1);
        u64::try_from(faded).unwrap_or(u64::MAX).saturating_add(ONE)
    }

    fn has_room(&self, rate: ConnectionRate, now: Instant) -> bool {
        match rate.seconds {
            0 => self.open < rate.connections,
            seconds => self.with_one(period(seconds), now) <= u64::from(rate.connections) * ONE,
        }
    }

    fn add(&mut self, rate: ConnectionRate, now: Instant) {
        self.open = self.open.saturating_add(1);
        if rate.seconds > 0 {
            self.rating = self.with_one(period(rate.seconds), now);
            self.last = Some(now);
        }
    }
}

fn period(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

/// A place at each of `entries` at which the connection has none among `held`; `None`: one of them has no room. Then none of them
/// has counted anything.
pub(super) fn take(mut entries: Vec<Arc<Connections>>, held: &[Place]) -> Option<Vec<Place>> {
    entries.retain(|entry| !held.iter().any(|place| Arc::ptr_eq(&place.0, entry)));
    // Everybody locks in one order, so that nobody waits for somebody who waits for him.
    entries.sort_unstable_by_key(Arc::as_ptr);
    {
        let now = Instant::now();
        let mut locked: Vec<_> = entries.iter().map(|entry| (entry.rate, entry.lock())).collect();
        if !locked.iter().all(|(rate, counted)| counted.has_room(*rate, now)) {
            return None;
        }
        locked.iter_mut().for_each(|(rate, counted)| counted.add(*rate, now));
    }
    Some(entries.into_iter().map(Place).collect())
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counted = self.0.lock();
        counted.open = counted.open.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
