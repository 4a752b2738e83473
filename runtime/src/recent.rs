//! A map of bounded size in which what was not used for long makes room for what is new.
//!
//! The order is that of a clock: entries stand in a ring, and one that was used since the hand last passed it is passed by once
//! more. So each step costs the same on average, whoever fills the map.
use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

/// The map.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The ring, from its oldest entry on. Entries that were removed stand here a while longer.
    ring: VecDeque<(K, u64)>,
    /// The number of the next entry: it tells an entry from an earlier one of the same key.
    next: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    number: u64,
    used: bool,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), ring: VecDeque::new(), next: 0 }
    }
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The value of `key`, which counts as a use.
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        entry.used = true;
        Some(&mut entry.value)
    }

    /// Puts an entry in, in the place of one with the same key. Afterwards there are at most `limit`, and the new one is among
    /// them: one that was not used for long is gone.
    pub(crate) fn insert(&mut self, key: K, value: V, limit: usize) {
        self.entries.remove(&key);
        while self.entries.len() >= limit.max(1) && self.make_room() {}
        self.ring.push_back((key.clone(), self.next));
        self.entries.insert(key, Entry { value, number: self.next, used: false });
        self.next += 1;
        if self.ring.len() > 2 * self.entries.len() + 16 {
            self.ring.retain(|(key, number)| is_current(&self.entries, key, *number));
        }
    }

    /// Takes an entry out, if its value is what `is` says.
    pub(crate) fn remove_if(&mut self, key: &K, is: impl FnOnce(&V) -> bool) {
        if self.entries.get(key).is_some_and(|entry| is(&entry.value)) {
            self.entries.remove(key);
        }
    }

    /// Takes all entries out.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.ring.clear();
    }

    /// Moves the hand one step. `false`: the ring is empty.
    fn make_room(&mut self) -> bool {
        let Some((key, number)) = self.ring.pop_front() else { return false };
        match self.entries.get_mut(&key).filter(|entry| entry.number == number) {
            Some(entry) if entry.used => {
                entry.used = false;
                self.ring.push_back((key, number));
            }
            Some(_) => drop(self.entries.remove(&key)),
            None => {}
        }
        true
    }
}

fn is_current<K: Eq + Hash, V>(entries: &HashMap<K, Entry<V>>, key: &K, number: u64) -> bool {
    entries.get(key).is_some_and(|entry| entry.number == number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Recent;

    #[test]
    fn what_was_not_used_makes_room() {
        let mut recent = Recent::default();
        for key in 0..3 {
            recent.insert(key, (), 3);
        }
        assert!(recent.get(&0).is_some());
        recent.insert(3, (), 3);
        assert!(recent.get(&1).is_none(), "the oldest that was not used");
        recent.insert(4, (), 3);
        assert!(recent.get(&2).is_none());
        assert!([0, 3, 4].iter().all(|key| recent.get(key).is_some()));
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Insert(u8),
        Get(u8),
        Remove(u8),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = (0..3_u8, 0..12_u8).prop_map(|(kind, key)| match kind {
            0 => Step::Insert(key),
            1 => Step::Get(key),
            _ => Step::Remove(key),
        });
        prop::collection::vec(step, 0..400)
    }

    proptest! {
        #[test]
        fn it_never_grows_beyond_its_limit_and_holds_what_was_put_in_last(steps in steps(), limit in 1..6_usize) {
            let mut recent = Recent::default();
            for (at, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(key) => {
                        recent.insert(key, at, limit);
                        prop_assert_eq!(recent.get(&key).copied(), Some(at));
                    }
                    Step::Get(key) => drop(recent.get(&key)),
                    Step::Remove(key) => recent.remove_if(&key, |_| true),
                }
                prop_assert!(recent.len() <= limit);
                prop_assert!(recent.ring.len() <= 2 * limit + 17, "{}", recent.ring.len());
            }
        }
    }
}
