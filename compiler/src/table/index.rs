//! The indexed table.
