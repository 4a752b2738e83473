//! One query at a time for each name: who asks while it is under way waits for its answer.
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use tokio::sync::OnceCell;

use crate::expiring::Expiring;

type Answer<V> = Option<Expiring<V>>;
type Waiting<V> = HashMap<Box<str>, Weak<OnceCell<Answer<V>>>>;

/// The queries that are under way.
#[derive(Debug)]
pub(super) struct Flights<V>(Mutex<Waiting<V>>);

impl<V> Default for Flights<V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V: Clone> Flights<V> {
    /// The answer of the query for `name` that is under way, or of `query`. If whoever sends it goes away, another takes over.
    pub(super) async fn join(&self, name: &str, query: impl Future<Output = Answer<V>>) -> Answer<V> {
        let seat = self.seat(name);
        let cell = seat.cell.as_ref()?;
        cell.get_or_init(|| query).await.clone()
    }

    fn seat<'a>(&'a self, name: &'a str) -> Seat<'a, V> {
        let mut waiting = self.lock();
        let under_way = waiting.get(name).and_then(Weak::upgrade);
        let cell = under_way.unwrap_or_else(|| {
            let cell = Arc::default();
            waiting.insert(name.into(), Arc::downgrade(&cell));
            cell
        });
        Seat { flights: self, name, cell: Some(cell) }
    }
}

impl<V> Flights<V> {
    fn lock(&self) -> MutexGuard<'_, Waiting<V>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A share in a query; the last to leave removes it, so that the next one asks anew.
struct Seat<'a, V> {
    flights: &'a Flights<V>,
    name: &'a str,
    /// `None` only while it is dropped.
    cell: Option<Arc<OnceCell<Answer<V>>>>,
}

impl<V> Drop for Seat<'_, V> {
    fn drop(&mut self) {
        let mut waiting = self.flights.lock();
        self.cell = None;
        if waiting.get(self.name).is_some_and(|cell| cell.strong_count() == 0) {
            waiting.remove(self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::IpAddr,
        sync::atomic::{AtomicU32, Ordering},
        time::Duration,
    };

    use tokio::sync::Notify;

    use super::Flights;
    use crate::expiring::Expiring;

    #[tokio::test]
    async fn who_asks_meanwhile_gets_the_same_answer_and_who_asks_later_asks_anew() {
        let (flights, asked, answer) = (Flights::default(), AtomicU32::new(0), Notify::new());
        let ask = || {
            flights.join("host", async {
                asked.fetch_add(1, Ordering::Relaxed);
                answer.notified().await;
                Some(Expiring { value: IpAddr::from([127, 0, 0, 1]), lifetime: Duration::from_secs(1) })
            })
        };
        let (first, second, third, ()) = tokio::join!(ask(), ask(), ask(), async { answer.notify_waiters() });
        assert!(first.is_some() && first == second && second == third);
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        answer.notify_one();
        assert!(ask().await.is_some());
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        assert!(flights.lock().is_empty(), "nobody is under way");
    }

    #[tokio::test]
    async fn when_the_one_who_asks_goes_away_another_takes_over() {
        let flights = Flights::default();
        let found = Some(Expiring { value: IpAddr::from([127, 0, 0, 1]), lifetime: Duration::from_secs(1) });
        let mut leader = Box::pin(flights.join("host", std::future::pending()));
        assert!(futures_poll(leader.as_mut()).await.is_none());
        let mut follower = Box::pin(flights.join("host", async { found }));
        assert!(futures_poll(follower.as_mut()).await.is_none());
        drop(leader);
        assert_eq!(follower.await, found);
        assert!(flights.lock().is_empty());
    }

    /// Polls once.
    async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
        std::future::poll_fn(|cx| match std::pin::Pin::new(&mut future).poll(cx) {
            std::task::Poll::Ready(output) => std::task::Poll::Ready(Some(output)),
            std::task::Poll::Pending => std::task::Poll::Ready(None),
        })
        .await
    }
}
