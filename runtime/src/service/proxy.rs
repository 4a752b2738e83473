//! The HTTP proxy: requests of one client connection, one after the other.
//!
//! Each request is authenticated and authorized anew, by what it says itself: nothing of one request is kept for the next but the
//! two connections. A server connection serves another request only if that would be routed the same way by the same entry for
//! the same credentials, and nothing of an earlier response is left on it.
use tokio::{
    net::TcpStream,
    select,
    time::{sleep, timeout},
};

mod body;
mod exchange;
mod host_name;
mod inbox;
mod request;
mod way;

use self::{
    exchange::{Outcome, Progress},
    inbox::{Inbox, NoHead},
    request::{Reading, Request, log_text, log_text_with_host},
    way::Server,
};
use crate::{
    error::{Failure, FailureKind},
    protocol::http::{
        head::{Version, leading_line_ends},
        page::Page,
        target::Form,
    },
    service::{self, tunnel::Tunnel},
    session::{Renewed, Session},
};

/// Serves the requests of `client` until either side wants no more, and logs each of them; or until a tunnel is what is left.
pub(super) async fn serve(client: TcpStream, session: Box<Session>) -> Option<Tunnel> {
    let mut connection = Connection::new(client, session);
    while connection.has_more().await {
        // Boxed, so that nothing of a request takes memory while the next one is awaited.
        match Box::pin(connection.request()).await {
            Next::Request => {}
            Next::Close => return None,
            Next::Tunnel(server) => return Some(connection.tunnel(*server)),
        }
    }
    None
}

/// What follows a request.
enum Next {
    /// Another one.
    Request,
    /// Nothing.
    Close,
    /// Bytes both ways.
    Tunnel(Box<Server>),
}

/// One client connection.
struct Connection {
    client: TcpStream,
    inbox: Inbox,
    /// The server of the last request, if it can take another one.
    server: Option<Server>,
    session: Box<Session>,
}

impl Connection {
    fn new(client: TcpStream, session: Box<Session>) -> Self {
        Self { client, inbox: Inbox::default(), server: None, session }
    }

    /// Serves one request.
    async fn request(&mut self) -> Next {
        let mut bytes = match self.next_head().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Next::Close,
            Err(failure) => {
                self.session.record.text = log_text(self.inbox.rest());
                return self.refuse(&failure, Version::Http10, true).await;
            }
        };
        match self.session.renew() {
            Renewed::Same => {}
            // The server connection was chosen by entries that are gone.
            Renewed::Changed => self.server = None,
            Renewed::Gone => return Next::Close,
        }
        self.session.record.text = log_text(&bytes);
        let request = match Request::read(&mut bytes, self.reading()) {
            Ok(request) => request,
            Err(why) => {
                let failure = Failure::new(why.code(), FailureKind::Malformed);
                return self.refuse(&failure, Version::Http10, true).await;
            }
        };
        if request.target.form == Form::Origin && !request.authority.is_empty() {
            self.session.record.text = log_text_with_host(&request);
        }
        let mut progress = Progress::default();
        let outcome = self.answer(&request, &mut progress).await;
        self.session.record.from_client = progress.from_client;
        self.session.record.from_server = progress.back.from_server;
        match outcome {
            Ok((Outcome::Tunnel, server)) => Next::Tunnel(Box::new(server)),
            Ok((Outcome::Done { keep_client, keep_server }, mut server)) => {
                self.log(0);
                server.kept = true;
                // Empty inboxes and old records hold memory, which is not to be had while the client is idle.
                server.inbox = Inbox::default();
                self.server = Some(server).filter(|_| keep_server);
                self.session.record = self.session.record.next();
                if keep_client { Next::Request } else { self.part(!progress.uploaded).await }
            }
            Err(failure) if progress.back.answered => {
                self.log(failure.code);
                Next::Close
            }
            Err(failure) => {
                let head_only = request.line.method.eq_ignore_ascii_case(b"HEAD");
                self.refuse(&failure, request.line.version, !head_only).await
            }
        }
    }

    fn reading(&self) -> Reading {
        let options = &self.session.service.settings.options;
        Reading { takes_names: self.need_user() > 0, transparent: options.transparent.is_some() }
    }

    /// `-u`, `-u2`: 1 without it.
    fn need_user(&self) -> i32 {
        self.session.service.settings.options.need_user.map_or(1, |level| level.value)
    }

    /// The head of the next request; `None` if the client has no more.
    async fn next_head(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        self.session.record = self.session.record.next();
        let outcome = timeout(self.session.snapshot.timeouts.string_long, self.read_head()).await;
        match outcome {
            Ok(Ok(head)) => Ok(Some(head)),
            Ok(Err(NoHead::Malformed(why))) => Err(Failure::new(why.code(), FailureKind::Malformed)),
            _ if self.inbox.is_empty() => Ok(None),
            Ok(Err(NoHead::Ended)) => Err(Failure::new(511, FailureKind::Malformed)),
            Ok(Err(NoHead::Failed)) => Err(Failure::new(507, FailureKind::Lost)),
            Err(_) => Err(Failure::new(507, FailureKind::Timeout)),
        }
    }

    async fn read_head(&mut self) -> Result<Vec<u8>, NoHead> {
        loop {
            self.inbox.consume(leading_line_ends(self.inbox.rest()));
            if !matches!(self.inbox.rest(), [] | [b'\r']) {
                return self.inbox.head(&self.client).await;
            }
            if self.inbox.fill(&self.client).await.map_err(|_| NoHead::Failed)? == 0 {
                return Err(NoHead::Ended);
            }
        }
    }

    /// Waits for the client to begin a request. Lets go of the server when that does. False: the client does not, or takes too long.
    async fn has_more(&mut self) -> bool {
        if !self.inbox.is_empty() {
            return true;
        }
        let timeouts = &self.session.snapshot.timeouts;
        if let Some(server) = &self.server {
            select! {
                read = self.inbox.fill(&self.client) => return read.is_ok_and(|count| count > 0),
                () = server.ended() => self.server = None,
                () = sleep(timeouts.string_short) => return false,
            }
        }
        let read = timeout(timeouts.string_long, self.inbox.fill(&self.client)).await;
        matches!(read, Ok(Ok(1..)))
    }

    /// What is left when bytes are passed both ways.
    fn tunnel(mut self, mut server: Server) -> Tunnel {
        Tunnel {
            from_client: self.inbox.take_all(),
            from_server: server.inbox.take_all(),
            client: self.client,
            server: server.upstream.stream,
            session: self.session,
        }
    }

    fn log(&mut self, code: u16) {
        self.session.record.code = code;
        self.session.log();
    }

    /// Answers in the proxy's own name, where there is an answer, and ends the connection.
    async fn refuse(&mut self, failure: &Failure, version: Version, body: bool) -> Next {
        let page = match (failure.code, failure.kind) {
            (507, FailureKind::Timeout) => Some(Page::RequestTimeout),
            (522, FailureKind::Timeout) => Some(Page::ServerSilent),
            (522, FailureKind::Malformed) => Some(Page::BadResponse),
            (code, _) => Page::of_code(code, self.need_user() > 0),
        };
        self.log(failure.code);
        if let Some(page) = page {
            service::hang_up(&mut self.client, &page.response(version, body), &self.session).await;
        }
        Next::Close
    }

    /// Ends the connection behind an answer. If the client may still be sending, it is given time to read that answer.
    async fn part(&mut self, sending: bool) -> Next {
        if sending || !self.inbox.is_empty() {
            service::hang_up(&mut self.client, b"", &self.session).await;
        }
        Next::Close
    }
}

#[cfg(test)]
mod tests;
