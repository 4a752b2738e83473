//! Sets of requests, to calculate with: what an entry accepts, what is left when others took theirs, and a request of what is left.
//!
//! **Exact.** Nothing is sampled: a set is empty if and only if there is no such request. Where that would be too much work the
//! calculation says that it stopped.
//!
//! Reading order: [`askable`] (what clients can ask for), [`space`] (the fields as numbers, and entries as sets), [`cell`] (the sets) and
//! what it is made of, [`ranges`] and [`hosts`]; [`example`] yields a request of a set.
pub(crate) mod askable;
pub(crate) mod cell;
pub(crate) mod example;
pub(crate) mod hosts;
pub(crate) mod ranges;
pub(crate) mod space;
#[cfg(test)]
pub(crate) mod testing;
