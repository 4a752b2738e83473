//! The 3proxy.cfg language: text to a lossless tree with spans, and what its words say.
//!
//! Reading order: [`span`], [`syntax`] (the tree), [`parse`](fn@parse), [`directive`] and [`option`] (a row for every
//! command and service option),
//! [`value`] (what stands inside a word), [`format`](fn@format::format) (the one way to write it).
//! Knows nothing of what a configuration means: that is the `compiler` crate's.
//!
//! **Invariants.** Any byte string gives a tree, and the tree's text is that byte string.
//! One bad line costs one line.
#![deny(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unreachable,
    clippy::unwrap_used
)]

// What pest's derive writes names it, where pest is built without `std`.
extern crate alloc;

pub mod directive;
pub mod format;
mod line_index;
pub mod option;
mod parse;
pub mod span;
pub mod syntax;
pub mod template;
mod text;
pub mod value;

pub use line_index::{LineColumn, LineIndex};
pub use parse::{LONGEST_LINE, MOST_WORDS, parse, parse_words};
pub use span::Span;
pub use text::{Secret, Text};
