//! One flight for a key: while somebody finds out who a client is, others who want to know the same wait for the answer.
use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::{Identities, Key};

/// What is being found out.
#[derive(Debug, Default)]
pub(super) struct Flights(Mutex<HashMap<Key, watch::Receiver<()>>>);

/// Held by who finds out, until that is remembered or has failed. The others go on when it is dropped.
#[derive(Debug)]
pub struct Flight {
    of: Arc<Identities>,
    key: Key,
    /// Its end wakes those who wait.
    _over: watch::Sender<()>,
}

impl Flights {
    /// Begins a flight, or waits for the end of the one that is under way.
    pub(super) async fn begin(of: &Arc<Identities>, key: Key) -> Option<Flight> {
        let mut under_way = match of.flights.lock().entry(key) {
            Entry::Occupied(flight) => flight.get().clone(),
            Entry::Vacant(place) => {
                let (over, waiting) = watch::channel(());
                place.insert(waiting);
                return Some(Flight { of: Arc::clone(of), key, _over: over });
            }
        };
        // Nothing is sent: the sender goes, which is an error here.
        while under_way.changed().await.is_ok() {}
        None
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, watch::Receiver<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.of.flights.lock().remove(&self.key);
    }
}
