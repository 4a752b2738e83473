//! What outlives a reload: the snapshot in force, the log writer, the number of live sessions.
use std::sync::{
    Arc, Weak,
    atomic::{AtomicUsize, Ordering},
};

use arc_swap::ArcSwap;
use tokio::{
    sync::{Notify, watch},
    time::sleep,
};

use crate::{event::Events, limits::SAVE_EVERY, log::Writer, snapshot::Snapshot};

/// Shared by every listener of the process.
#[derive(Debug)]
pub(crate) struct Running {
    /// The configuration in force. A session loads it once, and again before a further request on its connection.
    pub(crate) current: ArcSwap<Snapshot>,
    /// Writes log records.
    pub(crate) writer: Writer,
    /// Where the operator is told.
    pub(crate) events: Events,
    sessions: AtomicUsize,
    /// Someone let go of a snapshot, or a session ended.
    released: Notify,
    /// The process is about to end.
    ending: watch::Sender<bool>,
}

/// Counts one live session, until it is dropped.
#[derive(Debug)]
pub(crate) struct SessionGuard(Arc<Running>);

impl Running {
    pub(crate) fn new(first: Arc<Snapshot>, writer: Writer, events: Events) -> Self {
        Self {
            current: ArcSwap::new(first),
            writer,
            events,
            sessions: AtomicUsize::new(0),
            released: Notify::new(),
            ending: watch::Sender::new(false),
        }
    }

    /// Brings another snapshot into force, and returns the one that was. When its last session has ended, it is freed on a thread that
    /// serves no connection: the tables of a large configuration take a while.
    pub(crate) fn swap(self: &Arc<Self>, next: Arc<Snapshot>) -> Arc<Snapshot> {
        let before = self.current.swap(next);
        tokio::spawn(bury(Arc::clone(self), Arc::clone(&before)));
        before
    }

    /// Tells those who wait that a snapshot was let go of.
    pub(crate) fn released(&self) {
        self.released.notify_waiters();
    }

    /// Writes what quotas have counted under `snapshot`, on a thread that serves no connection.
    pub(crate) async fn save_counters(&self, snapshot: Arc<Snapshot>) {
        if snapshot.limits.is_kept() {
            let events = self.events.clone();
            let saved = tokio::task::spawn_blocking(move || snapshot.limits.save(&events));
            // An error would say that the thread panicked, or that the process ends.
            let _ = saved.await;
            self.released();
        }
    }

    /// Does so again and again, as long as the process runs.
    pub(crate) async fn keep_counters(running: Weak<Self>) {
        loop {
            sleep(SAVE_EVERY).await;
            let Some(running) = running.upgrade() else { return };
            let current = running.current.load_full();
            running.save_counters(current).await;
        }
    }

    /// Counts a session in.
    pub(crate) fn begin(self: &Arc<Self>) -> SessionGuard {
        self.sessions.fetch_add(1, Ordering::AcqRel);
        SessionGuard(Arc::clone(self))
    }

    /// How many sessions are alive.
    pub(crate) fn sessions(&self) -> usize {
        self.sessions.load(Ordering::Acquire)
    }

    /// Tells sessions that would not end by themselves to do so.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    /// Returns when [`Running::end`] was called.
    pub(crate) async fn ends(&self) {
        // The sender is here.
        let _ = self.ending.subscribe().wait_for(|ending| *ending).await;
    }

    /// Returns when no session is alive.
    pub(crate) async fn idle(&self) {
        loop {
            let released = self.released.notified();
            if self.sessions() == 0 {
                return;
            }
            released.await;
        }
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::AcqRel);
        self.0.released();
    }
}

/// Frees a snapshot when nobody else holds it.
async fn bury(running: Arc<Running>, snapshot: Arc<Snapshot>) {
    loop {
        let released = running.released.notified();
        if Arc::strong_count(&snapshot) == 1 {
            break;
        }
        released.await;
    }
    drop(tokio::task::spawn_blocking(move || drop(snapshot)));
}
