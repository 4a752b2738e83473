//! What stands inside a word: addresses, ports, operations, times …
//!
//! Each parser reads what 3proxy reads, and says where that is not what is written: it returns a [`Reading`].
//! So lowering takes `value` and never differs from 3proxy, and lint rules take `traps`.
//! Where 3proxy rejects the file, a parser returns the place and, if there can be several, the reason.
//! Shapes that are more than a split at a character are parsed by `value.pest`, fenced into one module.

mod address;
mod cache;
mod endpoint;
mod list;
mod log;
mod number;
mod operation;
mod pattern;
mod port;
mod service;
mod shape;
mod time;
mod user;

pub use address::{
    AddressError, AddressRange, AddressTrap, Host, address, has_the_look, host, range, short_address, sources,
};
pub use cache::{CacheField, CacheFields, CacheTrap, cache_fields};
pub use endpoint::{Endpoint, EndpointTrap, endpoint};
pub use list::{ItemList, Items, is_any, items};
pub use log::{LogFilter, LogFormat, LogFormatTrap, log_format};
pub use number::{NumberTrap, number, port, unsigned, unsigned_long};
pub use operation::{OPERATION_WORDS, Operation, Operations, operations};
pub use pattern::{NamePattern, NamePatterns, TargetTrap, Targets, targets};
pub use port::{PortRange, PortTrap, ports};
pub use service::{
    Grace, Rotation, SocketOption, SocketOptions, SocketTrap, Splice, grace, rotation, socket_options, splice,
};
pub use time::{Period, PeriodTrap, WeekdayTrap, Weekdays, periods, weekdays};
pub use user::{PasswordKind, UserEntry, UserTrap, is_crypt_hash, is_nt_hash, user};

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

#[cfg(test)]
mod tests;
