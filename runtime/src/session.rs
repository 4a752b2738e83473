//! One client, from its first byte to its log record.
//!
//! A service reads what the client asks for, makes an [`Ask`] of it, and gives it to [`Session::open`]: that resolves the name,
//! authenticates, authorizes, and connects, directly or through parents. What comes back is an [`Upstream`] to talk to, or the
//! [`Failure`] to answer with. Each phase's memory ends with it: nothing of a handshake is alive while the relay runs.
use std::{net::SocketAddr, sync::Arc};

use compiler::program::{acl::Operation, auth::can_be_given, service::Family};
pub use compiler::target::TargetName;
use tokio::net::TcpStream;

use crate::{
    authorize,
    error::{Failure, FailureKind},
    limits::{Charges, Held, LIMITED},
    log::Record,
    running::Running,
    snapshot::{ListenerId, ServicePolicy, Snapshot},
};

/// What a client asks for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    /// The name and password that it gave.
    pub credentials: Option<Credentials>,
    /// The target as the client named it.
    pub target: TargetName,
    /// The target's port.
    pub port: u16,
    /// What is to be done there.
    pub operation: Operation,
}

/// What a client gave as its name and password. The password never prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// User name.
    pub user: Box<[u8]>,
    /// Password, if it gave one.
    pub password: Option<grammar::Secret>,
}

impl Credentials {
    /// What a client gave; `None`: what nobody can give, whatever the protocol would let through.
    #[must_use]
    pub fn given(user: Box<[u8]>, password: Option<grammar::Secret>) -> Option<Self> {
        let is_right = can_be_given(&user) && password.iter().all(|password| can_be_given(password.expose()));
        is_right.then_some(Self { user, password })
    }
}

/// A connection towards the target, ready for the client's bytes.
#[derive(Debug)]
pub(crate) struct Upstream {
    /// The socket.
    pub stream: TcpStream,
    /// How requests are to be written on it.
    pub route: Route,
    /// The source address in use.
    pub external: SocketAddr,
    /// The peer: the target, or the first parent.
    pub peer: SocketAddr,
    /// Which redirecting entry led here and with which user, so that a kept-alive connection is used again only for requests
    /// that would be routed the same way.
    pub reuse: ReuseKey,
}

impl Upstream {
    /// Notes in the record which way the connection goes.
    pub(crate) fn new(
        stream: TcpStream,
        route: Route,
        peer: SocketAddr,
        reuse: ReuseKey,
        record: &mut Record,
    ) -> Result<Self, Failure> {
        let external = stream.local_addr().map_err(|_| Failure::new(15, FailureKind::Connect))?;
        record.external = Some(external.ip());
        record.peer = Some(peer);
        Ok(Self { stream, route, external, peer, reuse })
    }
}

/// How requests are to be written on an upstream connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The bytes reach the target as they are: direct, or through a tunnel.
    Tunnel,
    /// The peer is an HTTP proxy: absolute URIs, and these credentials.
    HttpProxy(Option<Credentials>),
    /// The peer stands in for the target (`parent tcp`): origin form, and these credentials as `Authorization`.
    StandIn(Option<Credentials>),
}

/// What must be equal for a connection to serve another request of the same client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReuseKey {
    /// Target and port.
    pub target: (TargetName, u16),
    /// The entry that decided.
    pub entry: Option<compiler::program::acl::AceId>,
    /// The user, if the list was told one.
    pub user: Option<Box<[u8]>>,
    /// What the client gave, if a parent of the entry may be sent it.
    pub credentials: Option<Credentials>,
}

/// One client connection.
#[derive(Debug)]
pub(crate) struct Session {
    /// The configuration that it began under.
    pub snapshot: Arc<Snapshot>,
    /// Its service.
    pub service: Arc<ServicePolicy>,
    /// The client's address.
    pub client: SocketAddr,
    /// The address that it connected to.
    pub local: SocketAddr,
    /// What its log record will say. A service with several requests on a connection takes a fresh one for each.
    pub record: Record,
    /// What it has of the limits that apply to it.
    pub limits: Option<Box<Held>>,
    /// Where it came in, to find its service in a later configuration.
    origin: Option<(ListenerId, Arc<Running>)>,
}

/// What became of a session's service since the session, or its last request, began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Renewed {
    /// The same configuration is in force.
    Same,
    /// Another one is, and the session is under it now: nothing that the old one decided holds.
    Changed,
    /// The one in force has no such service any more.
    Gone,
}

impl Session {
    /// A session of `client`, which connected to `local`. IPv4-mapped addresses are taken for the IPv4 addresses that they are.
    #[must_use]
    pub(crate) fn new(
        snapshot: Arc<Snapshot>,
        service: Arc<ServicePolicy>,
        client: SocketAddr,
        local: SocketAddr,
    ) -> Self {
        let canonical = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
        let (client, local) = (canonical(client), canonical(local));
        let record = Record::new(service.kind, service.settings.listen.port.value, client, local);
        Self { snapshot, service, client, local, record, limits: None, origin: None }
    }

    /// The client is another than the one that is connected, which stands in front of it.
    pub(crate) fn comes_from(&mut self, client: SocketAddr) {
        self.client = SocketAddr::new(client.ip().to_canonical(), client.port());
        self.record.client = self.client;
    }

    /// The same, of a client that came in at `listener` of this process.
    pub(crate) fn at(mut self, listener: ListenerId, running: Arc<Running>) -> Self {
        self.origin = Some((listener, running));
        self
    }

    /// Returns when the process is about to end, for sessions that would not end by themselves before long.
    pub(crate) fn process_ends(&self) -> impl Future<Output = ()> + use<> {
        let running = self.origin.as_ref().map(|(_, running)| Arc::clone(running));
        async move {
            match running {
                Some(running) => running.ends().await,
                None => std::future::pending().await,
            }
        }
    }

    /// Between two requests of one connection: goes over to the configuration in force, so that a client that never hangs up is
    /// not judged for ever by one that is gone.
    pub(crate) fn renew(&mut self) -> Renewed {
        let Some((listener, running)) = &self.origin else { return Renewed::Same };
        let current = running.current.load();
        if Arc::ptr_eq(&current, &self.snapshot) {
            return Renewed::Same;
        }
        match current.listening(*listener) {
            Some(service) if service.kind == self.service.kind => {
                self.service = Arc::clone(service);
                self.snapshot = Arc::clone(&current);
                Renewed::Changed
            }
            _ => Renewed::Gone,
        }
    }

    /// Which addresses the service uses: `-4`, `-6`, `-46`, `-64`.
    #[must_use]
    pub(crate) fn family(&self) -> Family {
        self.service.settings.family()
    }

    /// Resolves, authenticates, authorizes and connects, and notes in the record what was decided.
    ///
    /// # Errors
    /// The [`Failure`] to answer and to log; its code is in the record already.
    pub(crate) async fn open(&mut self, ask: &Ask) -> Result<Upstream, Failure> {
        let opened = match authorize::decide(self, ask).await {
            Ok(grant) => authorize::connect(self, ask, grant).await,
            Err(failure) => Err(failure),
        };
        // As in 3proxy, a quota that is used up shows only now.
        let opened = opened.and_then(|upstream| self.has_left().map(|()| upstream));
        opened.inspect_err(|failure| self.record.code = failure.code)
    }

    /// Whether something is left of every quota of the request that was decided last.
    pub(crate) fn has_left(&self) -> Result<(), Failure> {
        let has_left = self.charges().is_none_or(Charges::has_left);
        has_left.then_some(()).ok_or(Failure::new(LIMITED, FailureKind::Limited))
    }

    /// The same decision without connecting: for a request on a connection that is already open.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub(crate) async fn permit(&mut self, ask: &Ask) -> Result<ReuseKey, Failure> {
        let decided = match authorize::decide(self, ask).await {
            Ok(grant) => {
                let limited = authorize::limit(self, ask, &grant).and_then(|()| self.has_left());
                limited.map(|()| grant.reuse(self, ask))
            }
            Err(failure) => Err(failure),
        };
        decided.inspect_err(|failure| self.record.code = failure.code)
    }

    /// What the bytes of the request are charged to that was decided last; `None`: nothing limits them.
    #[must_use]
    pub(crate) fn charges(&self) -> Option<&Charges> {
        self.limits.as_deref()?.charges()
    }

    /// Ends it with this code: gives up what it holds of limits, then writes its record. Who reads that finds the place free.
    pub(crate) fn end(&mut self, code: u16) {
        self.limits = None;
        self.record.code = code;
        self.log();
    }

    /// Writes the record, with the time that has passed since it was begun.
    pub(crate) fn log(&self) {
        self.service.log.write(&self.record);
    }
}
