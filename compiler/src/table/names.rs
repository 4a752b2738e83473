//! Name patterns: which entries have one that means a host.
//!
//! Exact names, prefixes and suffixes are hashed; of a host those beginnings and ends are looked up that are as long as some pattern.
//! Parts are found by one automaton over all of them.
use std::collections::HashMap;

use aho_corasick::AhoCorasick;
use smallvec::SmallVec;

use super::{intervals::Lists, postings::Postings};
use crate::program::acl::NamePattern;

/// Name patterns and the entries that have them.
#[derive(Debug)]
pub(crate) struct Names {
    exact: HashMap<Box<[u8]>, u32>,
    prefixes: Affixes,
    suffixes: Affixes,
    parts: Parts,
    /// By pattern.
    postings: Postings,
}

/// Patterns at one end of a name, by the end.
#[derive(Debug, Default)]
struct Affixes {
    slots: HashMap<Box<[u8]>, u32>,
    /// How long they are: ascending, each once.
    lengths: Vec<usize>,
}

/// Patterns that may stand anywhere in a name.
#[derive(Debug, Default)]
struct Parts {
    slots: HashMap<Box<[u8]>, u32>,
    /// All of them, with the slot of each; `None` where they are few, or too many for an automaton.
    automaton: Option<(AhoCorasick, Vec<u32>)>,
}

/// From so many patterns on an automaton is faster than trying each.
const MANY_PARTS: usize = 8;

impl Names {
    /// Of patterns, with the entries ascending.
    pub(crate) fn new<'a>(patterns: impl Iterator<Item = (NamePattern<'a>, u32)>) -> Self {
        let mut exact = HashMap::new();
        let mut prefixes = HashMap::new();
        let mut suffixes = HashMap::new();
        let mut parts = HashMap::new();
        let mut slots = 0;
        let mut pairs = Vec::new();
        for (pattern, entry) in patterns {
            let (map, text): (&mut HashMap<Box<[u8]>, u32>, _) = match pattern {
                NamePattern::Exact(name) => (&mut exact, name),
                NamePattern::Prefix(name) => (&mut prefixes, name),
                NamePattern::Suffix(name) => (&mut suffixes, name),
                NamePattern::Contains(name) => (&mut parts, name),
            };
            let slot = map.get(text).copied().unwrap_or_else(|| {
                slots += 1;
                map.insert(text.into(), slots - 1);
                slots - 1
            });
            pairs.push((slot, entry));
        }
        let postings = Postings::new(slots as usize, &pairs);
        Self {
            exact,
            prefixes: Affixes::new(prefixes),
            suffixes: Affixes::new(suffixes),
            parts: Parts::new(parts),
            postings,
        }
    }

    /// Adds the lists of the entries that have a pattern which means `host`, which is in lower case.
    pub(crate) fn find<'a>(&'a self, host: &[u8], lists: &mut Lists<'a>) {
        let mut add = |slot: u32| lists.push(self.postings.of(slot));
        if let Some(slot) = self.exact.get(host) {
            add(*slot);
        }
        for length in self.prefixes.lengths.iter().take_while(|length| **length <= host.len()) {
            if let Some(slot) = host.get(..*length).and_then(|prefix| self.prefixes.slots.get(prefix)) {
                add(*slot);
            }
        }
        // A suffix is shorter than the name.
        for length in self.suffixes.lengths.iter().take_while(|length| **length < host.len()) {
            if let Some(slot) =
                host.get(host.len() - length..).and_then(|suffix| self.suffixes.slots.get(suffix))
            {
                add(*slot);
            }
        }
        self.parts.find(host, &mut add);
    }

    /// Bytes on the heap, about.
    pub(super) fn bytes(&self) -> usize {
        let automaton = self
            .parts
            .automaton
            .as_ref()
            .map_or(0, |(automaton, slots)| automaton.memory_usage() + size_of_val(slots.as_slice()));
        let maps = [&self.exact, &self.prefixes.slots, &self.suffixes.slots, &self.parts.slots];
        maps.into_iter().map(map_bytes).sum::<usize>() + automaton + self.postings.bytes()
    }
}

/// Bytes on the heap of a map, with 16 for the allocation of a short key.
pub(super) fn map_bytes(map: &HashMap<Box<[u8]>, u32>) -> usize {
    let keys: usize = map.keys().map(|key| key.len().next_multiple_of(16) + 16).sum();
    keys + map.capacity() * 8 / 7 * (size_of::<(Box<[u8]>, u32)>() + 1)
}

impl Affixes {
    fn new(slots: HashMap<Box<[u8]>, u32>) -> Self {
        let mut lengths: Vec<usize> = slots.keys().map(|affix| affix.len()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        Self { slots, lengths }
    }
}

impl Parts {
    fn new(slots: HashMap<Box<[u8]>, u32>) -> Self {
        let automaton = || {
            let (parts, slots): (Vec<&[u8]>, Vec<u32>) =
                slots.iter().map(|(part, slot)| (&**part, *slot)).unzip();
            Some((AhoCorasick::new(parts).ok()?, slots))
        };
        let automaton = if slots.len() >= MANY_PARTS { automaton() } else { None };
        Self { slots, automaton }
    }

    fn find(&self, host: &[u8], add: &mut impl FnMut(u32)) {
        if let Some((automaton, slots)) = &self.automaton {
            let found = automaton.find_overlapping_iter(host).map(|found| found.pattern().as_usize());
            let mut found: SmallVec<[u32; 8]> =
                found.filter_map(|pattern| slots.get(pattern).copied()).collect();
            found.sort_unstable();
            found.dedup();
            return found.into_iter().for_each(add);
        }
        for (part, slot) in &self.slots {
            if part.is_empty() || host.windows(part.len()).any(|window| *window == **part) {
                add(*slot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Names;
    use crate::{
        program::acl::NamePattern,
        table::{intervals::Lists, oracle::name_matches},
    };

    fn items() -> impl Strategy<Value = String> {
        r"\*?[ab.]{0,4}\*?"
    }

    proptest! {
        #[test]
        fn finds_the_entries_whose_pattern_means_the_host(
            items in prop::collection::vec(items(), 0..80),
            host in "[ab.]{0,8}",
        ) {
            let patterns = || items.iter().map(|item| NamePattern::new(item.as_bytes())).zip(0..);
            let names = Names::new(patterns().map(|(pattern, at)| (pattern, at / 2)));
            let mut lists = Lists::new();
            names.find(host.as_bytes(), &mut lists);
            let found: BTreeSet<u32> = lists.into_iter().flatten().copied().collect();
            let wanted = patterns().filter(|(pattern, _)| name_matches(*pattern, host.as_bytes()));
            prop_assert_eq!(found, wanted.map(|(_, at)| at / 2).collect::<BTreeSet<u32>>());
        }
    }
}
