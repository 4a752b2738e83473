//! Sets of numbers as ranges: what a field of an entry, or of a class of requests, holds.
//!
//! Users, addresses, ports, operations and seconds of the week are all numbered ([`space`](super::space)), so one kind of set serves them.
use std::sync::Arc;

/// Disjoint ranges that do not touch, both ends included, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranges(Arc<[(u128, u128)]>);

impl Ranges {
    /// Of ranges in any order, which may overlap. One whose last is before its first holds nothing.
    pub(crate) fn new(mut ranges: Vec<(u128, u128)>) -> Self {
        ranges.retain(|(first, last)| first <= last);
        ranges.sort_unstable();
        let mut joined: Vec<(u128, u128)> = Vec::with_capacity(ranges.len());
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if before.1.checked_add(1).is_none_or(|next| first <= next) => {
                    before.1 = before.1.max(last);
                }
                _ => joined.push((first, last)),
            }
        }
        Self(joined.into())
    }

    /// The ranges.
    pub(crate) fn as_slice(&self) -> &[(u128, u128)] {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, value: u128) -> bool {
        self.from(value).first().is_some_and(|(first, _)| *first <= value)
    }

    /// The ranges that do not end before `value`.
    fn from(&self, value: u128) -> &[(u128, u128)] {
        let behind = self.0.partition_point(|(_, last)| *last < value);
        self.0.get(behind..).unwrap_or_default()
    }

    /// Whether they have a value in common.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().any(|(first, last)| many.from(*first).first().is_some_and(|(other, _)| other <= last))
    }

    /// Whether every value of this is in `other`.
    pub(crate) fn within(&self, other: &Self) -> bool {
        let inside = |(first, last): &(u128, u128)| {
            other.from(*first).first().is_some_and(|(from, to)| from <= first && last <= to)
        };
        self.0.iter().all(inside)
    }

    /// The values of both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        let clipped = few.0.iter().flat_map(|(first, last)| {
            let meeting = many.from(*first).iter().take_while(move |(other, _)| other <= last);
            meeting.map(move |(from, to)| (*first.max(from), *last.min(to)))
        });
        Self(clipped.collect())
    }

    /// The values of this that `other` has not.
    pub(crate) fn minus(&self, other: &Self) -> Self {
        let mut left = Vec::with_capacity(self.0.len());
        for (first, last) in self.0.iter() {
            let mut first = Some(*first);
            for (from, to) in
                other.from(first.unwrap_or_default()).iter().take_while(|(from, _)| from <= last)
            {
                if let Some(first) = first
                    && first < *from
                {
                    left.push((first, from - 1));
                }
                first = to.checked_add(1);
            }
            left.extend(first.filter(|first| first <= last).map(|first| (first, *last)));
        }
        Self(left.into())
    }

    /// The values of either.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self::new(self.0.iter().chain(other.0.iter()).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Ranges;

    fn ranges() -> impl Strategy<Value = Vec<(u128, u128)>> {
        let value = || prop_oneof![0_u128..12, (u128::MAX - 6)..=u128::MAX];
        prop::collection::vec((value(), value()), 0..6)
    }

    proptest! {
        #[test]
        fn sets_hold_what_they_should(one in ranges(), other in ranges()) {
            let (a, b) = (Ranges::new(one.clone()), Ranges::new(other.clone()));
            let listed = |ranges: &[(u128, u128)], value| ranges.iter().any(|(from, to)| (*from..=*to).contains(&value));
            let values = || (0_u128..14).chain(u128::MAX - 8..=u128::MAX);
            for value in values() {
                let (in_a, in_b) = (listed(&one, value), listed(&other, value));
                prop_assert_eq!(a.contains(value), in_a);
                prop_assert_eq!(a.and(&b).contains(value), in_a && in_b);
                prop_assert_eq!(a.minus(&b).contains(value), in_a && !in_b);
                prop_assert_eq!(a.or(&b).contains(value), in_a || in_b);
            }
            prop_assert_eq!(a.meets(&b), !a.and(&b).is_empty());
            prop_assert_eq!(a.within(&b), a.minus(&b).is_empty());
            prop_assert_eq!(a.minus(&b).or(&a.and(&b)), a.clone());
        }
    }
}
