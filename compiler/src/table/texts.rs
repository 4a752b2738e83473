//! Texts and the entries that list each: of users, and of name patterns of one kind.
use std::{fmt, hash::BuildHasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{intervals::Lists, postings::Postings};

/// Texts and the entries that list each. All texts lie in one piece of memory: in long lists most of them are short.
pub(crate) struct Texts {
    known: Known,
    /// By the number of the text.
    postings: Postings,
}

/// What [`Texts`] are made of.
#[derive(Default)]
pub(crate) struct Builder {
    known: Known,
    /// The first entry that lists each text.
    first: Vec<u32>,
    /// The others, behind the number of the text.
    more: Vec<(u32, u32)>,
}

/// Texts, each once, numbered as they came.
#[derive(Default)]
struct Known {
    all: Vec<u8>,
    /// Where each ends in `all`: a configuration is shorter than 4 GiB, with all that it includes.
    ends: Vec<u32>,
    numbers: HashTable<u32>,
    hasher: RandomState,
}

impl Builder {
    /// Adds a text and the entry that lists it. Entries come ascending.
    pub(crate) fn add(&mut self, text: &[u8], entry: u32) {
        match self.known.number(text) {
            Some(number) => self.more.push((number, entry)),
            None => {
                self.known.add(text);
                self.first.push(entry);
            }
        }
    }

    pub(crate) fn finish(mut self) -> Texts {
        self.known.all.shrink_to_fit();
        self.known.ends.shrink_to_fit();
        Texts { postings: Postings::beginning(self.first, &self.more), known: self.known }
    }
}

impl Texts {
    /// The entries that list a text, ascending. `None`: none does.
    pub(crate) fn entries(&self, text: &[u8]) -> Option<&[u32]> {
        self.known.number(text).map(|number| self.postings.of(number))
    }

    /// Adds the list of the entries that list a text.
    pub(crate) fn find<'a>(&'a self, text: &[u8], lists: &mut Lists<'a>) {
        // Where there are none, no hash is needed to say so.
        if let Some(listing) = Some(self).filter(|all| all.len() > 0).and_then(|all| all.entries(text)) {
            lists.push(listing);
        }
    }

    /// The entries that list the text with this number.
    pub(crate) fn of(&self, number: u32) -> &[u32] {
        self.postings.of(number)
    }

    /// The texts, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.known.ends.len()).map(|number| self.known.text(number))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.known.ends.len()
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let Known { all, ends, numbers, hasher: _ } = &self.known;
        size_of_val(all.as_slice())
            + size_of_val(ends.as_slice())
            + numbers.allocation_size()
            + self.postings.bytes()
    }
}

impl Known {
    fn number(&self, text: &[u8]) -> Option<u32> {
        let same = |number: &u32| self.text(*number as usize) == text;
        self.numbers.find(self.hasher.hash_one(text), same).copied()
    }

    /// Adds a text that is not there yet.
    fn add(&mut self, text: &[u8]) {
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.all.extend(text);
        self.ends.push(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        let Self { all, ends, numbers, hasher } = self;
        let hash = |number: &u32| hasher.hash_one(text_of(all, ends, *number as usize));
        numbers.insert_unique(hasher.hash_one(text), number, hash);
    }

    fn text(&self, number: usize) -> &[u8] {
        text_of(&self.all, &self.ends, number)
    }
}

fn text_of<'a>(all: &'a [u8], ends: &[u32], number: usize) -> &'a [u8] {
    let start = number.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied());
    let range = start.zip(ends.get(number)).map(|(start, end)| start as usize..*end as usize);
    range.and_then(|range| all.get(range)).unwrap_or_default()
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts = self.iter().map(String::from_utf8_lossy);
        f.debug_map().entries(texts.zip((0..).map(|number| self.of(number)))).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::Builder;

    proptest! {
        #[test]
        fn each_text_has_the_entries_that_list_it(listed in prop::collection::vec("[ab]{0,3}", 0..40)) {
            let mut builder = Builder::default();
            let mut wanted = BTreeMap::<_, Vec<u32>>::new();
            for (text, entry) in listed.iter().zip(0..) {
                builder.add(text.as_bytes(), entry);
                wanted.entry(text.as_bytes()).or_default().push(entry);
            }
            let texts = builder.finish();
            prop_assert_eq!(texts.len(), wanted.len());
            for (text, number) in texts.iter().zip(0..) {
                prop_assert_eq!(texts.entries(text), Some(texts.of(number)));
                prop_assert_eq!(Some(texts.of(number)), wanted.get(text).map(Vec::as_slice));
            }
            prop_assert_eq!(texts.entries(b"c"), None);
        }
    }
}
