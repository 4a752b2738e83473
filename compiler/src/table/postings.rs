//! Which entries a value belongs to: many ascending lists of entries in one allocation.

/// Ascending lists of entries, by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Postings {
    /// Where each slot's list begins; one more than there are slots. None: each slot has one entry.
    starts: Box<[u32]>,
    entries: Box<[u32]>,
}

impl Postings {
    /// Of `slots` lists. `pairs` of slot and entry come with the entries ascending; a pair that comes again counts once.
    pub(super) fn new(slots: usize, pairs: &[(u32, u32)]) -> Self {
        let mut next = vec![0_u32; slots + 1];
        for (slot, _) in pairs {
            if let Some(count) = next.get_mut(*slot as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut next {
            sum += *start;
            *start = sum;
        }
        let mut entries = vec![0_u32; pairs.len()];
        for (slot, entry) in pairs {
            let Some(at) = next.get_mut(*slot as usize) else { continue };
            if let Some(place) = entries.get_mut(*at as usize) {
                *place = *entry;
                *at += 1;
            }
        }
        // Each has come to where the one behind it starts.
        next.rotate_right(1);
        if let Some(first) = next.first_mut() {
            *first = 0;
        }
        Self { starts: next.into(), entries: entries.into() }
    }

    /// Of as many lists as `first` has entries, which are each list's first; `more` is what else they have, the entries ascending.
    pub(super) fn beginning(first: Vec<u32>, more: &[(u32, u32)]) -> Self {
        if more.is_empty() {
            return Self { starts: Box::default(), entries: first.into() };
        }
        let slots = first.len();
        let first = first.into_iter().zip(0..).map(|(entry, slot)| (slot, entry));
        let pairs: Vec<_> = first.chain(more.iter().copied()).collect();
        Self::new(slots, &pairs)
    }

    /// The entries of a slot, ascending; an entry may stand more than once.
    pub(super) fn of(&self, slot: u32) -> &[u32] {
        if self.starts.is_empty() {
            return self.entries.get(slot as usize..).and_then(|rest| rest.get(..1)).unwrap_or_default();
        }
        let bound = |at: usize| self.starts.get(at).map(|start| *start as usize);
        let Some((start, end)) = bound(slot as usize).zip(bound(slot as usize + 1)) else { return &[] };
        self.entries.get(start..end).unwrap_or_default()
    }

    /// Bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.starts) + size_of_val(&*self.entries)
    }
}

#[cfg(test)]
mod tests {
    use super::Postings;

    #[test]
    fn each_slot_has_its_entries_in_order() {
        let postings = Postings::new(4, &[(2, 0), (0, 1), (2, 1), (2, 5), (3, 5)]);
        assert_eq!(
            [postings.of(0), postings.of(1), postings.of(2), postings.of(3)],
            [&[1][..], &[], &[0, 1, 5], &[5]]
        );
        assert_eq!(postings.of(4), [0_u32; 0]);
    }

    #[test]
    fn what_begins_lists_comes_before_the_rest() {
        let alone = Postings::beginning(vec![7, 7, 9], &[]);
        assert_eq!([alone.of(0), alone.of(2), alone.of(3)], [&[7][..], &[9], &[]]);
        let more = Postings::beginning(vec![7, 7, 9], &[(1, 8), (0, 9), (1, 9)]);
        assert_eq!([more.of(0), more.of(1), more.of(2), more.of(3)], [&[7, 9][..], &[7, 8, 9], &[9], &[]]);
    }
}
