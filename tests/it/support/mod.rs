//! What the tests say things with.
pub(crate) mod repo;
