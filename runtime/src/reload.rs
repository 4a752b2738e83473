//! The next configuration: read, compile, prepare, swap, retire.
//!
//! Everything that can fail happens before the swap, so a failure leaves the configuration in force as it is, listening. The first
//! configuration takes the same way, from nothing.
mod gate;
mod inputs;
mod prepare;
pub mod read;
#[cfg(test)]
mod tests;

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use compiler::Compiled;
use tokio::sync::Mutex;

pub use gate::Levels;
pub(crate) use inputs::Input;
pub use inputs::Inputs;

use crate::{
    event::Events,
    listener::{Listener, Listening, backlog},
    log::{Record, Writer},
    running::Running,
    snapshot::ServicePolicy,
};
use prepare::Prepared;

/// Which configuration is run, and what is thought of its findings.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file.
    pub path: PathBuf,
    /// How bad its findings are: one at deny level refuses it.
    pub levels: Levels,
}

/// Why a configuration did not come into force. The one before it, if any, goes on unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// The file itself can't be read.
    #[error("`{}` can't be read: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// Findings at level deny. They say what and where.
    #[error("the configuration is refused")]
    Refused(Box<Compiled>),
    /// The new configuration has no service at all, the one in force has: most likely the file is empty or half written.
    #[error("`{}` has no service any more", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Two services want the same address and port, and don't share it by `-olSO_REUSEPORT`.
    #[error("{service} can't listen on {address}: another service of this configuration does")]
    Duplicate {
        /// The second one: kind and place.
        service: String,
        /// The address.
        address: SocketAddr,
    },
    /// A service's socket can't be bound or listened on.
    #[error("{service} can't listen on {address}: {error}{}", advice(error.kind()))]
    Listen {
        /// Kind and place.
        service: String,
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// A log file can't be opened.
    #[error("{service} can't write its log `{}`: {error}", path.display())]
    Log {
        /// Kind and place.
        service: String,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The process lacks something of its own: a thread, a task.
    #[error("can't start: {0}")]
    Start(#[source] std::io::Error),
}

/// What to do about an address that can't be listened on, behind what the system says.
const fn advice(error: std::io::ErrorKind) -> &'static str {
    match error {
        std::io::ErrorKind::AddrInUse => "; `ss -ltunp` shows the process that listens there",
        std::io::ErrorKind::AddrNotAvailable => "; `ip address` shows the addresses of this machine",
        std::io::ErrorKind::PermissionDenied => "; ports below 1024 need root or CAP_NET_BIND_SERVICE",
        _ => "",
    }
}

/// What a start or reload did.
#[derive(Debug)]
pub struct Applied {
    /// The number of the configuration now in force.
    pub generation: u64,
    /// Where new listeners listen, in the order of their services.
    pub opened: Vec<SocketAddr>,
    /// How many listeners went on.
    pub kept: usize,
    /// How many were closed.
    pub closed: usize,
    /// What was compiled: its findings are at most warnings, or allowed.
    pub compiled: Compiled,
}

/// A running process.
#[derive(Debug)]
pub struct Proxy {
    config: Config,
    running: Arc<Running>,
    /// Held while a configuration is changed, so that one reload follows the other.
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    listeners: Vec<Listener>,
    /// What the last attempt read, whether it came into force or not.
    inputs: Inputs,
}

impl Proxy {
    /// Reads, compiles and serves a configuration. Listens on every service when it returns.
    ///
    /// # Errors
    /// Why it can't be served; nothing is listening then.
    pub async fn start(config: Config, events: Events) -> Result<(Self, Applied), ReloadError> {
        let writer = Writer::start(events.clone()).map_err(ReloadError::Start)?;
        let (prepared, inputs) = prepare::prepare(&config, None, &[], writer.clone()).await;
        let Prepared { snapshot, new, compiled, .. } = prepared?;
        let opened = addresses(&new);
        let running = Arc::new(Running::new(Arc::new(snapshot), writer, events));
        tokio::spawn(Running::keep_counters(Arc::downgrade(&running)));
        let listeners = new.into_iter().map(|socket| socket.start(&running)).collect();
        running.current.load().services.iter().for_each(|service| note(service, accepting(service)));
        let state = Mutex::new(State { listeners, inputs });
        Ok((Self { config, running, state }, Applied { generation: 1, opened, kept: 0, closed: 0, compiled }))
    }

    /// Reads the configuration again and brings it into force, whole or not at all.
    ///
    /// # Errors
    /// Why it did not come into force: nothing has changed then.
    pub async fn reload(&self) -> Result<Applied, ReloadError> {
        let mut state = self.state.lock().await;
        let current = self.running.current.load_full();
        let writer = self.running.writer.clone();
        let (prepared, inputs) =
            prepare::prepare(&self.config, Some(current), &state.listeners, writer).await;
        state.inputs = inputs;
        state.listeners.iter().for_each(Listener::alone);
        let Prepared { snapshot, new, kept, compiled } = prepared?;
        let snapshot = Arc::new(snapshot);
        let generation = snapshot.generation;
        let before = self.running.swap(Arc::clone(&snapshot));

        let old = std::mem::take(&mut state.listeners);
        let (mut listeners, vanished): (Vec<_>, Vec<_>) =
            old.into_iter().partition(|listener| kept.contains(&listener.id));
        for listener in &listeners {
            let service = snapshot.listening(listener.id);
            service.into_iter().for_each(|service| listener.look(backlog(&service.settings)));
        }
        let (opened, closed) = (addresses(&new), vanished.len());
        for socket in new {
            snapshot.listening(socket.id).into_iter().for_each(|service| note(service, accepting(service)));
            listeners.push(socket.start(&self.running));
        }
        state.listeners = listeners;
        for listener in vanished {
            let service = before.listening(listener.id);
            listener.retire().await;
            service.into_iter().for_each(|service| note(service, EXITING.into()));
        }
        // What is counted by a number that is gone would be lost, and a file that is no more the counter file stays as it is.
        self.running.save_counters(before).await;
        self.running.released();
        Ok(Applied { generation, opened, kept: kept.len(), closed, compiled })
    }

    /// What the last attempt read: when one of these changes, a reload is due.
    pub async fn inputs(&self) -> Inputs {
        self.state.lock().await.inputs.clone()
    }

    /// How many sessions are alive.
    #[must_use]
    pub fn sessions(&self) -> usize {
        self.running.sessions()
    }

    /// Closes the listeners, lets the sessions end, and writes what is still to be logged.
    pub async fn drain(&self) {
        let mut state = self.state.lock().await;
        let current = self.running.current.load_full();
        for listener in std::mem::take(&mut state.listeners) {
            let service = current.listening(listener.id);
            listener.retire().await;
            service.into_iter().for_each(|service| note(service, EXITING.into()));
        }
        drop(current);
        self.running.end();
        self.running.idle().await;
        self.running.save_counters(self.running.current.load_full()).await;
        self.running.writer.flush().await;
    }

    /// Writes what is still to be logged.
    pub async fn flush(&self) {
        self.running.writer.flush().await;
    }
}

fn addresses(sockets: &[Listening]) -> Vec<SocketAddr> {
    sockets.iter().map(Listening::address).collect()
}

/// The texts of a service's own records are 3proxy's: log readers know them.
const EXITING: &str = "Exiting thread";

fn accepting(service: &ServicePolicy) -> String {
    format!("Accepting connections [{}/{}]", std::process::id(), service.index + 1)
}

/// A log record of the service itself, unless `-t` silences it.
fn note(service: &ServicePolicy, text: String) {
    if service.settings.options.silent.is_some() {
        return;
    }
    let nobody = std::net::SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, 0));
    let mut record = Record::new(service.kind, service.settings.listen.port.value, nobody, nobody);
    record.text = text.into_bytes();
    service.log.write(&record);
}
