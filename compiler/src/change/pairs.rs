//! Which entries two lists have in common: pairs of equal ones, in order.
//!
//! Equal entries are told apart by where they stand only. So what both lists begin and end with is paired first, then what both
//! have once; what is left lies between two such pairs, and there an entry that stayed in its place is paired with itself.
use std::{collections::HashMap, ops::Range};

/// A place in the old list, and one in the new.
type Pair = (usize, usize);

/// For each entry of `old`, where it stands in `new`.
pub(super) fn pairs(old: &[u32], new: &[u32]) -> Vec<Option<usize>> {
    let lists = Lists { old, new };
    let mut found = Vec::new();
    let middle = lists.trim((0..old.len(), 0..new.len()), &mut found);
    let (mut old_next, mut new_next) = (middle.0.start, middle.1.start);
    // The last is the end of the middle: a pair that was found already, or the end of both lists.
    for anchor in lists.anchors(&middle).into_iter().chain([(middle.0.end, middle.1.end)]) {
        let between = lists.trim((old_next..anchor.0, new_next..anchor.1), &mut found);
        found.extend(lists.repeated(&between));
        found.push(anchor);
        (old_next, new_next) = (anchor.0 + 1, anchor.1 + 1);
    }
    let mut partners = vec![None; old.len()];
    for (at, place) in found {
        if let Some(partner) = partners.get_mut(at) {
            *partner = Some(place);
        }
    }
    partners
}

struct Lists<'a> {
    old: &'a [u32],
    new: &'a [u32],
}

/// A run of places of each list.
type Stretch = (Range<usize>, Range<usize>);

impl Lists<'_> {
    /// Pairs what both begin and end with; what is between is returned.
    fn trim(&self, (old, new): Stretch, found: &mut Vec<Pair>) -> Stretch {
        let equal = |pair: &Pair| self.old.get(pair.0) == self.new.get(pair.1);
        let front = old.clone().zip(new.clone()).take_while(equal).count();
        let (old, new) = (old.start + front..old.end, new.start + front..new.end);
        let back = old.clone().rev().zip(new.clone().rev()).take_while(equal).count();
        found.extend((old.start - front..old.start).zip(new.start - front..));
        found.extend((old.end - back..old.end).zip(new.end - back..));
        (old.start..old.end - back, new.start..new.end - back)
    }

    /// Where the entries of a part stand, by entry.
    fn places(list: &[u32], part: &Range<usize>) -> HashMap<u32, Vec<usize>> {
        let mut places: HashMap<u32, Vec<usize>> = HashMap::new();
        for (entry, at) in list.get(part.clone()).into_iter().flatten().zip(part.clone()) {
            places.entry(*entry).or_default().push(at);
        }
        places
    }

    /// Pairs of entries that both have once.
    fn anchors(&self, (old, new): &Stretch) -> Vec<Pair> {
        let theirs = Self::places(self.new, new);
        let pair = |(entry, places): (u32, Vec<usize>)| match (&places[..], theirs.get(&entry)?.as_slice()) {
            ([at], [place]) => Some((*at, *place)),
            _ => None,
        };
        let mut pairs: Vec<Pair> = Self::places(self.old, old).into_iter().filter_map(pair).collect();
        pairs.sort_unstable();
        ascending(&pairs)
    }

    /// Pairs of entries that may be there more than once: what stayed in its place if that is as much, else the first of equal ones with
    /// the first, and so on.
    fn repeated(&self, (old, new): &Stretch) -> Vec<Pair> {
        let mut theirs = Self::places(self.new, new);
        theirs.values_mut().for_each(|places| places.reverse());
        let own = self.old.get(old.clone()).unwrap_or_default();
        let nth = |(entry, at): (&u32, usize)| Some((at, theirs.get_mut(entry)?.pop()?));
        let nth = ascending(&own.iter().zip(old.clone()).filter_map(nth).collect::<Vec<_>>());
        let equal = |pair: &Pair| self.old.get(pair.0) == self.new.get(pair.1);
        let stayed: Vec<Pair> = old.clone().zip(new.clone()).filter(equal).collect();
        if old.len() == new.len() && stayed.len() >= nth.len() { stayed } else { nth }
    }
}

/// The longest run of these pairs, which are in the order of the old list, that is in the order of the new one too.
fn ascending(pairs: &[Pair]) -> Vec<Pair> {
    // By length, the run with the least last place, each knowing the one before it.
    let mut ends: Vec<(usize, usize)> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|(least, _)| least < place);
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter)).map(|(_, at)| *at));
        match ends.get_mut(length) {
            Some(end) => *end = (*place, at),
            None => ends.push((*place, at)),
        }
    }
    let last = ends.last().map(|(_, at)| *at);
    let mut run: Vec<Pair> = std::iter::successors(last, |at| before.get(*at).copied().flatten())
        .filter_map(|at| pairs.get(at).copied())
        .collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::pairs;

    #[test]
    fn what_stayed_in_order_is_paired() {
        let cases: [(&[u32], &[u32], &[Option<usize>]); 10] = [
            (&[1, 2, 3], &[1, 2, 3], &[Some(0), Some(1), Some(2)]),
            (&[1, 2, 3], &[1, 3], &[Some(0), None, Some(1)]),
            (&[1, 3], &[9, 1, 2, 3], &[Some(1), Some(3)]),
            (&[4, 1, 2, 3], &[1, 2, 3, 4], &[None, Some(0), Some(1), Some(2)]),
            (&[7, 7], &[8, 7], &[None, Some(1)]),
            (&[7, 7, 7], &[7, 8, 7], &[Some(0), None, Some(2)]),
            (&[7, 7, 7], &[7, 7], &[Some(0), Some(1), None]),
            (&[7, 7, 1], &[7, 1, 7], &[Some(0), None, Some(1)]),
            (&[7, 7, 7], &[8, 7, 9], &[None, Some(1), None]),
            (&[7, 7, 7, 1, 2], &[8, 7, 9, 1, 5, 2], &[None, Some(1), None, Some(3), Some(5)]),
        ];
        for (old, new, expected) in cases {
            assert_eq!(pairs(old, new), expected, "{old:?} {new:?}");
        }
    }

    proptest! {
        #[test]
        fn pairs_are_equal_and_in_order(
            old in prop::collection::vec(0_u32..6, 0..12),
            new in prop::collection::vec(0_u32..6, 0..12),
        ) {
            let pairs = pairs(&old, &new);
            prop_assert_eq!(pairs.len(), old.len());
            let places: Vec<usize> = pairs.iter().flatten().copied().collect();
            prop_assert!(places.is_sorted_by(|one, next| one < next), "{:?}", pairs);
            for (entry, place) in old.iter().zip(&pairs) {
                prop_assert!(place.is_none_or(|place| new.get(place) == Some(entry)), "{:?}", pairs);
            }
        }

        /// Whatever is edited, and however many lines are equal: it is told of the lines that were edited, and of no other.
        #[test]
        fn what_is_edited_in_place_is_told_of_its_own_place(
            lines in prop::collection::vec((0_u32..3, any::<bool>()), 0..12),
        ) {
            let old: Vec<u32> = lines.iter().map(|(entry, _)| *entry).collect();
            let edited = |(at, (entry, edited)): (u32, &(u32, bool))| if *edited { 100 + at } else { *entry };
            let new: Vec<u32> = (0..).zip(&lines).map(edited).collect();
            let expected: Vec<Option<usize>> =
                lines.iter().enumerate().map(|(at, (_, edited))| (!edited).then_some(at)).collect();
            prop_assert_eq!(pairs(&old, &new), expected);
        }
    }
}
