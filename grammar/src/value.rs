//! What stands inside a word: addresses, ports, operations, times …
//!
//! Each parser reads what 3proxy reads, and says where that is not what is written: it returns a [`Reading`].
//! So lowering takes `value` and never differs from 3proxy, and lint rules take `traps`.
//! Shapes are parsed by `value.pest`, fenced into this module.

mod address;
mod cache;
mod operation;
mod pattern;
mod port;
mod service;
mod time;

pub use address::AddressRange;
pub use cache::{CacheField, CacheFields};
pub use operation::{Operation, Operations};
pub use pattern::NamePattern;
pub use port::PortRange;
pub use service::{Grace, Rotation, SocketOption, SocketOptions, Splice};
pub use time::{Period, Weekdays};

use crate::Span;

/// What 3proxy reads in a word, and where it reads something else than is written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading<T, Trap> {
    /// What 3proxy takes it for.
    pub value: T,
    /// What it drops, wraps or misunderstands, each with its place in the word's value.
    pub traps: Vec<(Span, Trap)>,
}

impl<T, Trap> Reading<T, Trap> {
    /// A word that means what it says.
    pub const fn plain(value: T) -> Self {
        Self { value, traps: Vec::new() }
    }
}
