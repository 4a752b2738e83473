//! Executes a compiled configuration: listeners, sessions, parents, logs and reloads, on tokio.
//!
//! Reading order: `snapshot` (what one configuration means to a connection), `listener` (sockets and accept loops),
//! `session` (one client, from its first byte to its log record), `service` (what each kind of service does with it),
//! `authenticate` and `authorize` (who is it, may it), `connect` and `parent` (the way out), `relay` (the bytes),
//! `reload` and `watch` (the next configuration).
//!
//! **Invariants.** A request is judged by one `snapshot::Snapshot`: that in force when it came, whole.
//! Network input never panics. Every failure has a 3proxy code and a log record.
//! No buffer is held for an idle connection.

pub mod authenticate;
mod authorize;
pub mod connect;
pub mod crypt;
pub mod error;
pub mod event;
mod expiring;
pub mod findings;
pub mod listener;
pub mod log;
mod parent;
pub mod protocol;
mod random;
pub mod relay;
pub mod reload;
pub mod resolve;
mod running;
mod service;
pub mod session;
pub mod snapshot;
mod socket;
pub mod supported;
#[cfg(test)]
mod testing;
pub mod watch;
