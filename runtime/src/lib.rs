//! Executes a compiled configuration: listeners, sessions, parents, logs and reloads, on tokio.
//!
//! Reading order: `snapshot` (what one configuration means to a connection), `listener` (sockets and accept loops),
//! `session` (one client, from its first byte to its log record), `service` (what each kind of service does with it),
//! `authenticate`, `authorize` and `limits` (who is it, may it, how much), `connect` and `parent` (the way out), `relay` (the bytes),
//! `reload` and `watch` (the next configuration).
//!
//! **Invariants.** A request is judged by one `snapshot::Snapshot`: that in force when it came, whole.
//! Network input never panics. Every failure has a 3proxy code and a log record.
//! No buffer is held for an idle connection.

mod authenticate;
mod authorize;
mod connect;
pub mod crypt;
mod datagram;
mod error;
mod event;
mod expiring;
pub mod findings;
mod flow;
mod limits;
mod listener;
mod log;
mod parent;
mod protocol;
mod random;
mod recent;
mod relay;
pub mod reload;
pub mod replace;
mod resolve;
mod running;
mod service;
mod session;
mod snapshot;
mod socket;
mod supported;
#[cfg(test)]
mod testing;
mod watch;

pub use authenticate::cache;
pub use event::{Event, Events};
pub use protocol::{http::page::Page, socks::status5};
pub use session::{Credentials, TargetName};
pub use watch::Watch;
