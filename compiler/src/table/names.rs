//! Name patterns: which entries have one that means a host.
//!
//! Exact names, prefixes and suffixes are hashed; of a host those beginnings and ends are looked up that are as long as some pattern.
//! Parts are found by one automaton over all of them.
use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use smallvec::SmallVec;

use super::{
    intervals::Lists,
    texts::{Builder, Texts},
};
use crate::program::acl::NamePattern;

/// Name patterns and the entries that have them.
#[derive(Debug)]
pub(crate) struct Names {
    exact: Texts,
    prefixes: Affixes,
    suffixes: Affixes,
    parts: Parts,
}

/// Patterns at one end of a name.
#[derive(Debug)]
struct Affixes {
    texts: Texts,
    /// How long they are: ascending, each once.
    lengths: Vec<usize>,
}

/// Patterns that may stand anywhere in a name.
#[derive(Debug)]
struct Parts {
    texts: Texts,
    /// All of them, in the order of `texts`; `None` where they are few, or too many for an automaton.
    automaton: Option<AhoCorasick>,
}

/// From this many patterns on an automaton is faster than trying each.
const MANY_PARTS: usize = 8;

impl Names {
    /// Of patterns, with the entries ascending. They are gone through once for each kind, so that only one is being built.
    pub(crate) fn new<'a, I: Iterator<Item = (NamePattern<'a>, u32)>>(patterns: impl Fn() -> I) -> Self {
        let texts = |of: fn(NamePattern<'_>) -> bool| {
            let mut texts = Builder::default();
            for (pattern, entry) in patterns().filter(|(pattern, _)| of(*pattern)) {
                texts.add(pattern.text(), entry);
            }
            texts.finish()
        };
        Self {
            exact: texts(|pattern| matches!(pattern, NamePattern::Exact(_))),
            prefixes: Affixes::new(texts(|pattern| matches!(pattern, NamePattern::Prefix(_)))),
            suffixes: Affixes::new(texts(|pattern| matches!(pattern, NamePattern::Suffix(_)))),
            parts: Parts::new(texts(|pattern| matches!(pattern, NamePattern::Contains(_)))),
        }
    }

    /// Adds the lists of the entries that have a pattern which means `host`, which is in lower case.
    pub(crate) fn find<'a>(&'a self, host: &[u8], lists: &mut Lists<'a>) {
        self.exact.find(host, lists);
        for length in self.prefixes.lengths.iter().take_while(|length| **length <= host.len()) {
            self.prefixes.texts.find(host.get(..*length).unwrap_or_default(), lists);
        }
        // A suffix is shorter than the name.
        for length in self.suffixes.lengths.iter().take_while(|length| **length < host.len()) {
            self.suffixes.texts.find(host.get(host.len() - length..).unwrap_or_default(), lists);
        }
        self.parts.find(host, lists);
    }

    /// Bytes on the heap, about.
    pub(super) fn bytes(&self) -> usize {
        let automaton = self.parts.automaton.as_ref().map_or(0, AhoCorasick::memory_usage);
        let texts = [&self.exact, &self.prefixes.texts, &self.suffixes.texts, &self.parts.texts];
        texts.into_iter().map(Texts::bytes).sum::<usize>() + automaton
    }
}

impl Affixes {
    fn new(texts: Texts) -> Self {
        // One by one: collected at once it would take as much memory as there are texts.
        let mut lengths = BTreeSet::new();
        lengths.extend(texts.iter().map(<[u8]>::len));
        Self { texts, lengths: lengths.into_iter().collect() }
    }
}

impl Parts {
    fn new(texts: Texts) -> Self {
        let automaton = if texts.len() >= MANY_PARTS { AhoCorasick::new(texts.iter()).ok() } else { None };
        Self { texts, automaton }
    }

    fn find<'a>(&'a self, host: &[u8], lists: &mut Lists<'a>) {
        if let Some(automaton) = &self.automaton {
            let found = automaton.find_overlapping_iter(host);
            let mut found: SmallVec<[u32; 8]> = found.map(|found| found.pattern().as_u32()).collect();
            found.sort_unstable();
            found.dedup();
            lists.extend(found.into_iter().map(|number| self.texts.of(number)));
            return;
        }
        for (part, number) in self.texts.iter().zip(0..) {
            if part.is_empty() || host.windows(part.len()).any(|window| window == part) {
                lists.push(self.texts.of(number));
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
            let names = Names::new(|| patterns().map(|(pattern, at)| (pattern, at / 2)));
            let mut lists = Lists::new();
            names.find(host.as_bytes(), &mut lists);
            let found: BTreeSet<u32> = lists.into_iter().flatten().copied().collect();
            let wanted = patterns().filter(|(pattern, _)| name_matches(*pattern, host.as_bytes()));
            prop_assert_eq!(found, wanted.map(|(_, at)| at / 2).collect::<BTreeSet<u32>>());
        }
    }
}
