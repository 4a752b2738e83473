//! The way of one request: decided, then sent over a new connection or the one of the request before.
use std::{io, net::Ipv4Addr};

use super::{
    Connection,
    exchange::{Exchange, Outcome, Progress},
    host_name::host_name,
    inbox::{Inbox, write_all},
    request::Request,
};
use crate::{
    error::{Failure, FailureKind},
    protocol::http::{
        body::Body,
        forward::{self, Disclosure, Hop},
        page,
        target::{self, Form, Scheme},
    },
    random,
    session::{Ask, Route, TargetName, Upstream},
};

/// A connection to a server or parent.
pub(super) struct Server {
    /// The connection, and how it is spoken to.
    pub(super) upstream: Upstream,
    /// What has come from it.
    pub(super) inbox: Inbox,
    /// Method of the last request on it; `None` for one in origin form.
    method: Option<Box<[u8]>>,
    /// Parents on the way, for the log.
    hops: u32,
    /// It has served a request before this one.
    pub(super) kept: bool,
}

impl Server {
    /// Whether a request may be sent over it, as far as HTTP is concerned. 3proxy opens a new connection for another method.
    fn fits(&self, request: &Request<'_>) -> bool {
        let same = match &self.method {
            None => true,
            Some(method) => {
                request.target.form == Form::Absolute && request.line.method.eq_ignore_ascii_case(method)
            }
        };
        same && !request.is_connect() && self.inbox.is_empty() && !self.has_ended()
    }

    /// The server has closed, or sent something that nobody asked for.
    fn has_ended(&self) -> bool {
        let mut byte = [0];
        !matches!(self.upstream.stream.try_read(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Waits until that is so.
    pub(super) async fn ended(&self) {
        while self.upstream.stream.readable().await.is_ok() {
            if self.has_ended() {
                return;
            }
        }
    }
}

impl Connection {
    /// Decides a request and sends it to where it is to go.
    pub(super) async fn answer(
        &mut self,
        request: &Request<'_>,
        progress: &mut Progress,
    ) -> Result<(Outcome, Server), Failure> {
        if self.need_user() > 1 && request.credentials.is_none() {
            return Err(Failure::new(4, FailureKind::NotAuthenticated));
        }
        self.session.record.target_port = request.port;
        self.session.record.host = (!request.host.is_empty()).then(|| request.host.into());
        let target = TargetName::parse(request.host, self.session.family());
        let ask = Ask {
            credentials: request.credentials.clone(),
            target: target.ok_or(Failure::UNRESOLVED)?,
            port: request.port,
            operation: target::operation(request.line.method, request.target.scheme),
        };
        let mut server = match self.kept_server(request, &ask).await? {
            Some(server) => server,
            None => self.open(request, &ask).await?,
        };
        let by_proxy = matches!(server.upstream.route, Route::HttpProxy(_));
        if request.target.scheme == Scheme::Ftp && !by_proxy {
            return Err(Failure::new(999, FailureKind::Malformed));
        }
        if request.is_connect() && !by_proxy {
            let answer = page::established(request.line.version);
            write_all(&self.client, &answer).await.map_err(|_| Failure::new(521, FailureKind::Lost))?;
            return Ok((Outcome::Tunnel, server));
        }
        let outcome = self.exchange(request, &mut server, progress).await;
        if outcome.is_ok() || !server.kept || progress.back.heard || !is_repeatable(request) {
            return outcome.map(|outcome| (outcome, server));
        }
        // The server closed the kept connection before it could see the request.
        *progress = Progress::default();
        let mut server = self.open(request, &ask).await?;
        let outcome = self.exchange(request, &mut server, progress).await?;
        Ok((outcome, server))
    }

    /// The server of the request before, if this one would be routed the same way.
    async fn kept_server(&mut self, request: &Request<'_>, ask: &Ask) -> Result<Option<Server>, Failure> {
        let Some(mut server) = self.server.take().filter(|server| server.fits(request)) else {
            return Ok(None);
        };
        if self.session.permit(ask).await? != server.upstream.reuse {
            return Ok(None);
        }
        server.method = Self::method_of(request);
        self.session.record.external = Some(server.upstream.external.ip());
        self.session.record.peer = Some(server.upstream.peer);
        self.session.record.hops = server.hops;
        Ok(Some(server))
    }

    async fn open(&mut self, request: &Request<'_>, ask: &Ask) -> Result<Server, Failure> {
        let upstream = self.session.open(ask).await?;
        let (method, hops) = (Self::method_of(request), self.session.record.hops);
        Ok(Server { upstream, inbox: Inbox::default(), method, hops, kept: false })
    }

    fn method_of(request: &Request<'_>) -> Option<Box<[u8]>> {
        (request.target.form != Form::Origin).then(|| request.line.method.into())
    }

    async fn exchange(
        &mut self,
        request: &Request<'_>,
        server: &mut Server,
        progress: &mut Progress,
    ) -> Result<Outcome, Failure> {
        let head = self.outgoing(request, &server.upstream.route);
        let exchange = Exchange {
            request,
            head,
            client: (&self.client, &mut self.inbox),
            server: (&server.upstream.stream, &mut server.inbox),
            timeouts: &self.session.snapshot.timeouts,
            transparent: self.session.service.settings.options.transparent.is_some(),
            charges: self.session.charges(),
        };
        exchange.run(progress).await
    }

    /// The head that goes on.
    fn outgoing(&self, request: &Request<'_>, route: &Route) -> Vec<u8> {
        let (form, stand_in, parent) = match route {
            Route::Tunnel => (Form::Origin, None, None),
            Route::StandIn(credentials) => (Form::Origin, credentials.as_ref(), None),
            Route::HttpProxy(credentials) => (Form::Absolute, None, credentials.as_ref()),
        };
        let outgoing = forward::Request {
            head: &request.head,
            line: request.line,
            target: request.target,
            authority: request.authority,
            form: if request.is_connect() { Form::Authority } else { form },
            body: request.body,
            keep: request.keep,
            upgrade: request.upgrade,
            transparent: self.session.service.settings.options.transparent.is_some(),
            authorization: stand_in.or(request.server_credentials.as_ref()),
            proxy_authorization: parent,
        };
        let hop = Hop {
            disclosure: self.disclosure(),
            client: self.session.client,
            local: self.session.local,
            host: host_name(),
            port: self.session.service.settings.listen.port.value,
        };
        let mut bytes = Vec::with_capacity(1024);
        outgoing.write(&hop, &mut bytes);
        bytes
    }

    /// `-a`, `-a1`, `-a2`.
    fn disclosure(&self) -> Disclosure {
        let level = self.session.service.settings.options.anonymous.map_or(0, |level| level.value);
        match level {
            ..=0 => Disclosure::Forwarded,
            1 => Disclosure::Nothing,
            2 => Disclosure::Via(Ipv4Addr::from(random::below(u32::MAX)).into()),
            _ => Disclosure::Via(self.session.client.ip()),
        }
    }
}

/// Whether it does no harm to send a request twice, and can be done.
fn is_repeatable(request: &Request<'_>) -> bool {
    let safe = [&b"GET"[..], b"HEAD", b"OPTIONS", b"TRACE"];
    request.body == Body::None && request.upgrade.is_none() && safe.contains(&request.line.method)
}
