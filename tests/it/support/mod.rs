//! What the tests say things with: a running `cfgc`, clients and servers around it, the repository.
pub(crate) mod cfgc;
pub(crate) mod client;
pub(crate) mod formats;
pub(crate) mod lines;
pub(crate) mod mending;
pub(crate) mod policies;
pub(crate) mod ports;
pub(crate) mod recorded;
pub(crate) mod repo;
pub(crate) mod server;
pub(crate) mod udp;

use std::time::Duration;

/// How long anything may take before a test says that it does not come. Far beyond what a slow machine needs: only a
/// failing test waits for it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);
