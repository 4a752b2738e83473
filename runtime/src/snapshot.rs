//! What one configuration means to a connection: everything that a session asks while it lives.
//!
//! A reload builds a new snapshot and swaps it in; sessions that began under the old one keep it alive until they end.
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use compiler::{
    policy::Policy,
    program::{
        Program,
        auth::Password,
        process::Timeouts,
        service::{Service, ServiceKind},
    },
};

use crate::{
    authenticate::cache::Identities, crypt::takes_long, limits::Limits, log::Logger, resolve::Resolver,
};

/// One configuration in force.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Counts the configurations of this process: 1 at the start, one more with each reload.
    pub generation: u64,
    /// What the configuration does.
    pub program: Arc<Program>,
    /// What decides requests.
    pub policy: Policy,
    /// Its services, in the order of [`Program::services`].
    pub services: Vec<Arc<ServicePolicy>>,
    /// `timeouts`.
    pub timeouts: Durations,
    /// Names to addresses.
    pub resolver: Resolver,
    /// Who was authenticated, and is remembered.
    pub identities: Arc<Identities>,
    /// What the limits have counted.
    pub limits: Limits,
    /// A password that takes long to check, if some user has one. It is asked in the place of those of users that do not exist.
    pub slow_password: Option<Password>,
    /// Which service answers on which listener: indexes into [`Snapshot::services`].
    listeners: HashMap<ListenerId, usize>,
}

/// One service of a snapshot.
#[derive(Debug)]
pub(crate) struct ServicePolicy {
    /// Index into [`Program::services`]: what [`Policy::decide`] is asked by.
    pub index: usize,
    /// What it speaks.
    pub kind: ServiceKind,
    /// Its line and the settings that it copied.
    pub settings: Arc<Service>,
    /// Where its records go.
    pub log: Logger,
}

/// Names a listening socket for as long as the process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListenerId(u64);

impl ListenerId {
    /// One that no other socket has.
    #[must_use]
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Snapshot {
    /// Compiles `program` into what connections ask after they were under the snapshot `before`, if any. `loggers` and `listeners`
    /// are those of its services, in order; `limits` go on with what was counted before.
    ///
    /// May take a while for a large configuration: not to be called on a thread that serves connections.
    #[must_use]
    pub(crate) fn new(
        before: Option<&Self>,
        program: Arc<Program>,
        loggers: Vec<Logger>,
        listeners: &[ListenerId],
        limits: Limits,
    ) -> Self {
        let services = program.services.iter().zip(loggers).enumerate().map(|(index, (settings, log))| {
            Arc::new(ServicePolicy { index, kind: settings.kind, settings: Arc::clone(settings), log })
        });
        let timeouts = Durations::from(&program.process.timeouts);
        Self {
            generation: before.map_or(0, |before| before.generation) + 1,
            services: services.collect(),
            policy: Policy::compile(&program),
            resolver: Resolver::new(&program.resolver, timeouts.dns),
            identities: Identities::of(&program, before.map(|before| &before.identities)),
            limits,
            timeouts,
            slow_password: program
                .users
                .iter()
                .map(|user| &user.password)
                .find(|kept| takes_long(kept))
                .cloned(),
            listeners: listeners.iter().copied().zip(0..).collect(),
            program,
        }
    }

    /// The service that answers on a listener; `None`: this configuration has closed it.
    #[must_use]
    pub(crate) fn listening(&self, listener: ListenerId) -> Option<&Arc<ServicePolicy>> {
        self.services.get(*self.listeners.get(&listener)?)
    }
}

/// `timeouts`, as durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Durations {
    /// Between two bytes of a short answer.
    pub byte_short: Duration,
    /// Between two bytes of a long answer.
    pub byte_long: Duration,
    /// For a line, when there is much to do.
    pub string_short: Duration,
    /// For a line.
    pub string_long: Duration,
    /// Inactivity of a short connection.
    pub connection_short: Duration,
    /// Inactivity of a long connection.
    pub connection_long: Duration,
    /// For an answer of a name server.
    pub dns: Duration,
    /// For the negotiation with a parent.
    pub chain: Duration,
    /// For a connection to be made.
    pub connect: Duration,
    /// For a server to connect back.
    pub connect_back: Duration,
    /// `SO_LINGER`.
    pub linger: Duration,
}

impl From<&Timeouts> for Durations {
    fn from(timeouts: &Timeouts) -> Self {
        let seconds = |value: u32| Duration::from_secs(value.into());
        Self {
            byte_short: seconds(timeouts.byte_short),
            byte_long: seconds(timeouts.byte_long),
            string_short: seconds(timeouts.string_short),
            string_long: seconds(timeouts.string_long),
            connection_short: seconds(timeouts.connection_short),
            connection_long: seconds(timeouts.connection_long),
            dns: seconds(timeouts.dns),
            chain: seconds(timeouts.chain),
            connect: seconds(timeouts.connect),
            connect_back: seconds(timeouts.connect_back),
            linger: seconds(timeouts.linger),
        }
    }
}
