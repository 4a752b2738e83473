//! Where something stands in one source text.
use std::ops::Range;

/// A byte range of one file.
///
/// `u32` halves the memory of a tree; a file of 4 GiB or more is refused before it is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to, not including, `end`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// Length in bytes.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    /// Whether it covers no byte: a place between two bytes.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.end <= self.start
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// The same range, `by` bytes further on: a place inside a part, seen from the whole.
    #[must_use]
    pub const fn shifted(self, by: u32) -> Self {
        Self::new(self.start + by, self.end + by)
    }

    /// The same as a `usize` range, to slice the source with.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether one of `others`, which are in order, has something of it.
    #[must_use]
    pub fn meets(self, others: &[Self]) -> bool {
        let next = others.partition_point(|other| other.end <= self.start);
        others.get(next).is_some_and(|other| other.start < self.end)
    }

    /// The bytes of `source` under this span; empty if the span is not of this source.
    #[must_use]
    pub fn of(self, source: &[u8]) -> &[u8] {
        source.get(self.range()).unwrap_or_default()
    }
}
