//! Caches whose entries each live as long as they say.
#![expect(clippy::disallowed_types, reason = "the trait is moka's: its clock is its own")]
use std::{
    hash::Hash,
    time::{Duration, Instant},
};

use moka::{Expiry, sync::Cache};

/// A value and how long it may be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expiring<V> {
    /// The value.
    pub(crate) value: V,
    /// From when it is put into the cache. Putting it there again begins anew; reading it does not.
    pub(crate) lifetime: Duration,
}

struct Lifetime;

impl<K, V> Expiry<K, Expiring<V>> for Lifetime {
    fn expire_after_create(&self, _: &K, entry: &Expiring<V>, _: Instant) -> Option<Duration> {
        Some(entry.lifetime)
    }

    fn expire_after_update(
        &self,
        _: &K,
        entry: &Expiring<V>,
        _: Instant,
        _: Option<Duration>,
    ) -> Option<Duration> {
        Some(entry.lifetime)
    }
}

/// A cache for so many entries.
pub(crate) fn cache<K, V>(capacity: u32) -> Cache<K, Expiring<V>>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder().max_capacity(capacity.into()).expire_after(Lifetime).build()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Expiring, cache};

    #[test]
    fn an_entry_lives_as_long_as_it_says() {
        let cache = cache::<u8, u8>(10);
        cache.insert(1, Expiring { value: 1, lifetime: Duration::ZERO });
        cache.insert(2, Expiring { value: 2, lifetime: Duration::from_secs(3_600) });
        assert_eq!(cache.get(&1), None);
        assert_eq!(cache.get(&2).map(|entry| entry.value), Some(2));
        cache.insert(2, Expiring { value: 3, lifetime: Duration::ZERO });
        assert_eq!(cache.get(&2), None, "a new value brings its own lifetime");
    }
}
