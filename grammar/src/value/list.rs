//! Lists at commas.
use crate::{Span, Text};

/// The items of a comma list, each with its place. Empty items vanish, as with C's `strtok`.
pub fn items(word: &[u8]) -> impl Iterator<Item = (Span, &[u8])> {
    let mut start = 0_u32;
    word.split(|byte| *byte == b',').filter_map(move |item| {
        let at = Span::new(start, start + item.len() as u32);
        start = at.end + 1;
        (!item.is_empty()).then_some((at, item))
    })
}

/// The items of a list: one piece of text, as they are written. Long lists are most of what a Program takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItemList(Text);

impl ItemList {
    /// Each of them, in the order in which they stand.
    #[must_use]
    pub fn iter(&self) -> Items<'_> {
        Items(self.0.as_bytes())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same items in lower case.
    pub(super) fn into_ascii_lowercase(mut self) -> Self {
        self.0.make_ascii_lowercase();
        self
    }
}

impl<'a> FromIterator<&'a [u8]> for ItemList {
    /// Of items as [`items`] yields them.
    fn from_iter<T: IntoIterator<Item = &'a [u8]>>(items: T) -> Self {
        // Joined at once: a text that grows leaves holes in memory.
        Self(Vec::from_iter(items).join(&b',').into())
    }
}

impl<'a> IntoIterator for &'a ItemList {
    type IntoIter = Items<'a>;
    type Item = &'a [u8];

    fn into_iter(self) -> Items<'a> {
        self.iter()
    }
}

/// The items of an [`ItemList`] that are left.
#[derive(Clone, Debug)]
pub struct Items<'a>(&'a [u8]);

impl<'a> Iterator for Items<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == b',').unwrap_or(self.0.len());
        let item = self.0.get(..end).filter(|item| !item.is_empty());
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        item
    }
}

/// Whether a field is `*`: it restricts nothing.
#[must_use]
pub fn is_any(word: &[u8]) -> bool {
    word == b"*"
}

/// A list as a field of an entry holds it: `None` when nothing is listed.
pub(super) fn listed<T>(items: Vec<T>) -> Option<Box<[T]>> {
    (!items.is_empty()).then(|| items.into_boxed_slice())
}

#[cfg(test)]
mod tests {
    use super::{ItemList, items};

    #[test]
    fn empty_items_vanish_and_places_hold() {
        let word = b",a,,bc,";
        let found: Vec<_> = items(word).map(|(at, item)| (at.start, at.of(word) == item, item)).collect();
        assert_eq!(found, [(1, true, &b"a"[..]), (4, true, b"bc")]);
        assert_eq!(items(b"").count() + items(b",,").count(), 0);
    }

    #[test]
    fn a_list_in_one_piece_has_the_same_items() {
        for word in ["", ",,", "a", ",a,,bc,"] {
            let list: ItemList = items(word.as_bytes()).map(|(_, item)| item).collect();
            assert!(list.iter().eq(items(word.as_bytes()).map(|(_, item)| item)), "{word}");
            assert_eq!(list.is_empty(), list.iter().next().is_none());
        }
    }
}
