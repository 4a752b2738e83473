//! How many connections of one listener are open, and who waits for one to end.
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Notify;

/// The count of one listener. It goes on over reloads: it protects descriptors, which old sessions hold as well.
#[derive(Debug, Default)]
pub(super) struct Slots {
    used: AtomicUsize,
    freed: Notify,
}

/// One open connection.
#[derive(Debug)]
pub(super) struct Slot(Arc<Slots>);

impl Slots {
    /// Takes one, whatever the limit.
    pub(super) fn take(self: &Arc<Self>) -> Slot {
        self.used.fetch_add(1, Ordering::AcqRel);
        Slot(Arc::clone(self))
    }

    /// How many are open.
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Acquire)
    }

    /// Returns when fewer than `limit` are open. For one waiter.
    pub(super) async fn below(&self, limit: usize) {
        while self.used() >= limit {
            self.freed.notified().await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.used.fetch_sub(1, Ordering::AcqRel);
        // One permit is kept for a waiter that is about to wait.
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Slots;

    #[tokio::test]
    async fn a_waiter_goes_on_when_a_slot_is_freed() {
        let slots = Arc::new(Slots::default());
        let first = slots.take();
        let second = slots.take();
        let waiting = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.below(2).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(first);
        waiting.await.unwrap();
        assert_eq!(slots.used(), 1);
        drop(second);
        slots.below(1).await;
    }
}
