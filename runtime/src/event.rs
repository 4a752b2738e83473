//! What the running process has to tell its operator: the command decides where it is printed.
use std::{fmt, io, path::PathBuf, sync::Arc};

use crate::log::Protocol;

/// Something that an operator wants to know.
#[derive(Debug, thiserror::Error)]
pub enum Event {
    /// A log target could not keep up, so records were dropped.
    #[error("{records} log records for {target} were dropped: it is written too slowly")]
    RecordsDropped {
        /// Where they should have gone.
        target: String,
        /// How many since it was last said.
        records: u64,
    },
    /// A log target can't be written.
    #[error("the log {target} can't be written: {error}")]
    LogFailed {
        /// Which one.
        target: String,
        /// What the system says.
        error: io::Error,
    },
    /// What quotas have counted can't be written, or not reported. It is tried again.
    #[error("`{}` can't be written: {error}; what quotas have counted is not kept", path.display())]
    CountersFailed {
        /// The counter file, or the report.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// `maxconn` is reached: clients wait until others end.
    #[error("{} on port {port} has {limit} connections, its `maxconn`: further clients wait", protocol.name())]
    Full {
        /// The service's kind.
        protocol: Protocol,
        /// The port that it is configured with.
        port: u16,
        /// Its `maxconn`.
        limit: usize,
    },
    /// `maxconn` is reached by the clients of a UDP service: each new one takes the place of another.
    #[error(
        "{} on port {port} has {limit} clients, its `maxconn`: for each new one, the one that was silent for longest is forgotten",
        protocol.name()
    )]
    Crowded {
        /// The service's kind.
        protocol: Protocol,
        /// The port that it is configured with.
        port: u16,
        /// Its `maxconn`.
        limit: usize,
    },
    /// The system has no descriptor or memory for a client.
    #[error("{} on port {port} can't accept clients now: {error}", protocol.name())]
    Shortage {
        /// The service's kind.
        protocol: Protocol,
        /// The port that it is configured with.
        port: u16,
        /// What the system says.
        error: io::Error,
    },
}

/// Where events go.
#[derive(Clone)]
pub struct Events(Arc<dyn Fn(&Event) + Send + Sync>);

impl Events {
    /// Gives each event to `tell`, which must not wait.
    pub fn new(tell: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self(Arc::new(tell))
    }

    /// Tells one.
    pub(crate) fn tell(&self, event: &Event) {
        (self.0)(event);
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Events")
    }
}
