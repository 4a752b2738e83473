//! `countin`, `countout`, `countall`: so many bytes in a period.
//!
//! Bytes are counted as they are written, by all sessions in one count: so no crowd of sessions gets more than the quota, and none
//! has to end for its bytes to count.
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use compiler::program::limits::Rotation;
use jiff::tz::TimeZone;

use super::period;

/// What was counted by one line, and by those before it that had its number.
#[derive(Debug)]
pub(super) struct Counter {
    counted: Mutex<Counted>,
}

/// The state of a count; times are in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    /// Bytes in this period.
    pub(super) used: u64,
    /// When the period began, or the count in it.
    pub(super) began: i64,
    /// When something was counted last.
    pub(super) updated: i64,
    /// The period that `ends` belongs to.
    rotation: Rotation,
    ends: Option<i64>,
    /// Bytes of the period before.
    pub(super) before: u64,
}

/// Bytes of a count.
#[derive(Debug)]
pub(super) struct Quota {
    pub(super) counter: Arc<Counter>,
    pub(super) bytes: u64,
    pub(super) rotation: Rotation,
}

impl Counter {
    /// One that has counted `used` bytes since `began`.
    pub(super) fn new(used: u64, began: i64, updated: i64) -> Self {
        let counted = Counted { used, began, updated, rotation: Rotation::Never, ends: None, before: 0 };
        Self { counted: Mutex::new(counted) }
    }

    fn lock(&self) -> MutexGuard<'_, Counted> {
        // Nothing below panics; and if it did, a count is a count.
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    /// Begins a new period if it is time to.
    fn turn(&mut self, rotation: Rotation, now: i64) {
        if self.rotation != rotation {
            self.rotation = rotation;
            self.ends = end(rotation, self.began);
        }
        if self.ends.is_some_and(|ends| ends <= now) {
            (self.before, self.used, self.began) = (self.used, 0, now);
            self.ends = end(rotation, now);
        } else if now < self.began {
            // The clock was put back: what is counted stays, until this period ends.
            self.began = now;
            self.ends = end(rotation, now);
        }
    }
}

fn end(rotation: Rotation, at: i64) -> Option<i64> {
    period::end(rotation, at, &TimeZone::system())
}

impl Quota {
    /// Counts as many of `bytes` as are left, and returns how many those are.
    pub(super) fn take(&self, bytes: u64, now: i64) -> u64 {
        let mut counted = self.counter.lock();
        counted.turn(self.rotation, now);
        let taken = bytes.min(self.bytes.saturating_sub(counted.used));
        if taken > 0 {
            counted.used = counted.used.saturating_add(taken);
            counted.updated = now;
        }
        taken
    }

    /// How many of the bytes that were taken have not been used.
    pub(super) fn give_back(&self, bytes: u64) {
        let mut counted = self.counter.lock();
        counted.used = counted.used.saturating_sub(bytes);
    }

    /// How many bytes are left.
    pub(super) fn left(&self, now: i64) -> u64 {
        self.bytes.saturating_sub(self.counted(now).used)
    }

    /// The count at a time.
    pub(super) fn counted(&self, now: i64) -> Counted {
        let mut counted = self.counter.lock();
        counted.turn(self.rotation, now);
        *counted
    }
}

#[cfg(test)]
mod tests;
