//! Lists at commas.
use crate::Span;

/// The items of a comma list, each with its place. Empty items vanish, as with C's `strtok`.
pub fn items(word: &[u8]) -> impl Iterator<Item = (Span, &[u8])> {
    let mut start = 0_u32;
    word.split(|byte| *byte == b',').filter_map(move |item| {
        let at = Span::new(start, start + item.len() as u32);
        start = at.end + 1;
        (!item.is_empty()).then_some((at, item))
    })
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
    use super::items;

    #[test]
    fn empty_items_vanish_and_places_hold() {
        let word = b",a,,bc,";
        let found: Vec<_> = items(word).map(|(at, item)| (at.start, at.of(word) == item, item)).collect();
        assert_eq!(found, [(1, true, &b"a"[..]), (4, true, b"bc")]);
        assert_eq!(items(b"").count() + items(b",,").count(), 0);
    }
}
