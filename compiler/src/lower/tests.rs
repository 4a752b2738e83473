//! What scripts yield.
