//! What is remembered of successful authentications: who the client is, and nothing else.
//!
//! The access list is asked again on each hit: it costs less than the lookup, and the verdict is that of this request, under this
//! configuration, with its parents. `ext` therefore has nothing to add.
//!
//! The cache outlives reloads. An entry says what the user was checked by ([`Checks`]), and is only used while that would be
//! checked in the same way: not after a change of the user's password or of the RADIUS servers, and the key holds the chain.
//!
//! What `iponly` and `none` let in is never remembered, since nobody knows who that was: 3proxy does remember the name that such
//! a client claims. Fields that say nothing of the client (`limit`, `ext`, `acl`, the service's and the target's alone) make no
//! key: with 3proxy everybody is then the one who logged in first. With `ip,limit` there is one entry for all: who comes from its
//! address is that user, and anybody else is refused.
mod checks;
mod flight;
mod key;
mod name;
#[cfg(test)]
mod tests;

use std::{
    hash::{BuildHasherDefault, Hasher},
    net::IpAddr,
    sync::Arc,
    time::Duration,
};

use compiler::{
    policy::Policy,
    program::{
        Program,
        auth::{AuthCache, AuthType, CacheField, CacheFields},
    },
};
use moka::{policy::EvictionPolicy, sync::Cache};
use tokio::time::Instant;

use checks::Checks;
pub use flight::Flight;
use flight::Flights;
use key::Keys;
pub use key::{Key, Subject};
pub use name::Name;

/// Who was found out to be a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// User name.
    pub user: Name,
    /// The address that it had.
    pub client: IpAddr,
    /// By which type of a chain: one that [finds out](AuthType::is_real) who the client is.
    pub by: AuthType,
}

/// Everybody who is remembered: of all services, and of the configurations one after the other.
#[derive(Debug)]
pub struct Identities {
    cache: Cache<Key, Entry, BuildHasherDefault<FirstBytes>>,
    keys: Keys,
    checks: Checks,
    flights: Flights,
    bounds: Bounds,
    began: Instant,
}

#[derive(Clone, Debug)]
struct Entry {
    known: Known,
    /// Seconds after the cache began.
    since: u32,
    checked: u64,
}

/// How many entries there may be, and how many seconds one may live. A service may let it live shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    entries: u32,
    seconds: u32,
}

/// Whether the client's address is a value to compare (`ip,limit`), not a part of the key.
pub(super) fn is_bound_to_address(fields: CacheFields) -> bool {
    fields.has(CacheField::Ip) && fields.has(CacheField::Limit)
}

impl Identities {
    /// The cache of a configuration: the one `before`, if it has room for as much as this one asks for.
    #[must_use]
    pub fn of(program: &Program, before: Option<&Arc<Self>>) -> Arc<Self> {
        let seconds = program.services.iter().filter_map(|service| service.auth_cache).map(|set| set.seconds);
        let bounds = Bounds { entries: program.auth_cache_size.value, seconds: seconds.max().unwrap_or(0) };
        let kept = before.filter(|before| before.bounds == bounds);
        kept.map_or_else(|| Arc::new(Self::new(bounds)), Arc::clone)
    }

    fn new(bounds: Bounds) -> Self {
        let cache = Cache::builder()
            .max_capacity(bounds.entries.into())
            // The default prefers what was used before: after a change of passwords it would let no new entry in.
            .eviction_policy(EvictionPolicy::lru())
            .time_to_live(Duration::from_secs(bounds.seconds.max(1).into()))
            .build_with_hasher(BuildHasherDefault::default());
        let (keys, checks, flights) = (Keys::new(), Checks::default(), Flights::default());
        Self { cache, keys, checks, flights, bounds, began: Instant::now() }
    }

    /// The key of a request; `None`: the request lacks one of its fields, or they say nothing of the client.
    #[must_use]
    pub fn key(&self, settings: AuthCache, subject: &Subject<'_>) -> Option<Key> {
        self.keys.of(settings.fields, subject)
    }

    /// Who that is, if it is remembered, not for longer than `settings` allow, and would be checked by `policy` in the same way.
    #[must_use]
    pub fn get(&self, policy: &Policy, settings: AuthCache, key: &Key) -> Option<Known> {
        let Entry { known, since, checked } = self.cache.get(key)?;
        let fresh = self.now().saturating_sub(since) < settings.seconds;
        (fresh && self.checks.of(policy, known.by, &known.user) == Some(checked)).then_some(known)
    }

    /// Remembers that, as found out under `policy`.
    pub fn put(&self, policy: &Policy, key: Key, known: Known) {
        if let Some(checked) = self.checks.of(policy, known.by, &known.user) {
            self.cache.insert(key, Entry { known, since: self.now(), checked });
        }
    }

    /// Seconds since the cache began: enough for 136 years.
    fn now(&self) -> u32 {
        u32::try_from(self.began.elapsed().as_secs()).unwrap_or(u32::MAX)
    }

    /// Begins to find out who that is. If somebody does so already this waits until that is done, and returns `None`: the answer
    /// may be there then.
    pub async fn find_out(self: &Arc<Self>, key: Key) -> Option<Flight> {
        Flights::begin(self, key).await
    }

    /// How many entries there are, about.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.cache.run_pending_tasks();
        self.cache.entry_count()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Takes a key, which is a digest under a secret, as its own hash.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 ^= u64::from_ne_bytes(*first);
        }
    }
}
