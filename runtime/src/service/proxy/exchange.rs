//! One request to a server and its response to the client, both at once: a server may answer before it has read the whole body.
use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{net::TcpStream, select, time::timeout};

use super::{
    body::{Broken, Carrier, send},
    inbox::{Inbox, NoHead},
    request::Request,
};
use crate::{
    error::{Failure, FailureKind},
    limits::{Charges, Direction, Gate, LIMITED},
    protocol::http::{
        body::{self, Body},
        fields::{self, Keep},
        forward,
        head::{BadNames, Head, StatusLine, Version, split, status_line, tidy},
        page,
        target::Form,
    },
    snapshot::Durations,
};

/// Most interim responses (1xx) to one request.
const MAX_INTERIM: usize = 32;
/// 3proxy's code for a server that does not answer, or not in HTTP.
const NO_RESPONSE: u16 = 522;

/// A request on an open connection, ready to be sent.
pub(super) struct Exchange<'a> {
    /// The request as it came.
    pub(super) request: &'a Request<'a>,
    /// Its head as it goes on.
    pub(super) head: Vec<u8>,
    /// The client, and what it has sent already.
    pub(super) client: (&'a TcpStream, &'a mut Inbox),
    /// The server, and what it has sent already.
    pub(super) server: (&'a TcpStream, &'a mut Inbox),
    /// How long each step may take.
    pub(super) timeouts: &'a Durations,
    /// `-T`.
    pub(super) transparent: bool,
    /// What the bytes are charged to.
    pub(super) charges: Option<&'a Charges>,
}

/// How far an exchange came.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Bytes to the server.
    pub(super) from_client: u64,
    /// The whole body was sent.
    pub(super) uploaded: bool,
    /// The way back.
    pub(super) back: Back,
}

/// How far the response came.
#[derive(Debug, Default)]
pub(super) struct Back {
    /// Bytes to the client.
    pub(super) from_server: u64,
    /// The server has sent something.
    pub(super) heard: bool,
    /// The client has been sent something final: a page of the proxy's own would be taken for a part of it.
    pub(super) answered: bool,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The response is complete.
    Done {
        /// The client's connection can take another request.
        keep_client: bool,
        /// So can the server's: the response was framed, wholly read, and nothing came behind it.
        keep_server: bool,
    },
    /// From here on the bytes are none of the proxy's business.
    Tunnel,
}

impl Exchange<'_> {
    /// Sends the request and passes the response on.
    ///
    /// # Errors
    /// The [`Failure`] to log, and to answer with unless the client was answered.
    pub(super) async fn run(self, progress: &mut Progress) -> Result<Outcome, Failure> {
        let (request, timeouts) = (self.request, self.timeouts);
        let Progress { from_client, uploaded: whole, back } = progress;
        let mut gate = Gate::new(self.charges, Direction::Out);
        pay(gate.as_mut(), &self.head).await;
        let sent = send(self.server.0, &self.head, timeouts.string_short, from_client, gate.as_ref()).await;
        sent.map_err(lost_server)?;
        drop(self.head);
        if request.waits && request.line.version >= Version::Http11 {
            let asked = send(self.client.0, page::CONTINUE, timeouts.string_short, &mut 0, None).await;
            asked.map_err(|broken| lost_client(broken, 521))?;
        }
        let uploaded = AtomicBool::new(request.body == Body::None);
        let carrier = Carrier {
            from: self.client.0,
            inbox: self.client.1,
            to: self.server.0,
            idle: timeouts.connection_short,
            moved: from_client,
            gate,
            paid: 0,
        };
        let mut upload = pin!(async {
            carrier.carry(request.body, true).await?;
            uploaded.store(true, Ordering::Relaxed);
            Ok(())
        });
        let mut download = pin!(
            Download {
                request,
                server: self.server.0,
                inbox: self.server.1,
                client: self.client.0,
                timeouts,
                transparent: self.transparent,
                charges: self.charges,
                back,
            }
            .run(&uploaded)
        );
        let mut uploading = request.body != Body::None;
        loop {
            select! {
                sent = &mut upload, if uploading => match sent {
                    // A server that reads no more may still answer.
                    Ok(()) | Err(Broken::Receiver) => uploading = false,
                    Err(broken) => return Err(lost_client(broken, 95)),
                },
                outcome = &mut download => {
                    *whole = uploaded.load(Ordering::Relaxed);
                    return outcome;
                }
            }
        }
    }
}

/// The way of a response.
struct Download<'a> {
    request: &'a Request<'a>,
    server: &'a TcpStream,
    inbox: &'a mut Inbox,
    client: &'a TcpStream,
    timeouts: &'a Durations,
    transparent: bool,
    charges: Option<&'a Charges>,
    back: &'a mut Back,
}

impl Download<'_> {
    async fn run(mut self, uploaded: &AtomicBool) -> Result<Outcome, Failure> {
        for _ in 0..MAX_INTERIM {
            if !self.speaks_http().await? {
                self.back.answered = true;
                self.carry(Body::Close, true).await?;
                return Ok(Outcome::Done { keep_client: false, keep_server: false });
            }
            let wait = self.timeouts.string_long;
            let mut bytes = within(wait, self.inbox.head(self.server)).await?.map_err(no_head)?;
            tidy(&mut bytes).map_err(|_| malformed())?;
            let head = split(&bytes, BadNames::Drop).map_err(|_| malformed())?;
            let line = status_line(head.line).map_err(|_| malformed())?;
            match line.status {
                101 if self.request.upgrade.is_none() => return Err(malformed()),
                101 => {
                    self.answer(&head, line.status, Body::None, Keep::Implied).await?;
                    return Ok(Outcome::Tunnel);
                }
                100 if self.request.waits => {}
                100..=199 if self.request.line.version < Version::Http11 => {}
                100..=199 => {
                    self.write_head(&head, line.status, Body::None, Keep::Implied).await?;
                }
                200..=299 if self.request.is_connect() => {
                    self.answer(&head, line.status, Body::Close, Keep::Implied).await?;
                    return Ok(Outcome::Tunnel);
                }
                _ => return self.last(&head, line, uploaded).await,
            }
        }
        Err(malformed())
    }

    /// Waits for the first bytes of a response. Anything but HTTP is passed on as it is, as 3proxy does, and ends the connection.
    async fn speaks_http(&mut self) -> Result<bool, Failure> {
        const START: &[u8] = b"HTTP/";
        while self.inbox.rest().len() < START.len() {
            let read = within(self.timeouts.string_long, self.inbox.fill(self.server)).await?;
            match read.map_err(|_| Failure::new(NO_RESPONSE, FailureKind::Lost))? {
                0 if self.inbox.is_empty() => return Err(Failure::new(NO_RESPONSE, FailureKind::Lost)),
                0 => break,
                _ => self.back.heard = true,
            }
        }
        self.back.heard = true;
        Ok(self.inbox.rest().starts_with(START))
    }

    async fn last(
        mut self,
        head: &Head<'_>,
        line: StatusLine,
        uploaded: &AtomicBool,
    ) -> Result<Outcome, Failure> {
        let body = body::of_response(head, line.status, self.request.line.method).map_err(|_| malformed())?;
        if let Body::Length(length) = body
            && self.charges.is_some_and(|charges| charges.left(Direction::In) < length)
        {
            // As in 3proxy, a response that would be cut is not begun.
            return Err(limited());
        }
        let encode = self.request.line.version >= Version::Http11;
        let shown = if body == Body::Chunked && !encode { Body::Close } else { body };
        // As in 3proxy, a server's error, its wish to close, or chunks end the client's connection too.
        let framed = body != Body::Close && fields::keep(head, line.version) != Keep::Close;
        let keep_server = framed && line.status < 500 && uploaded.load(Ordering::Relaxed);
        let keep_client = keep_server && self.request.keep != Keep::Close && body != Body::Chunked;
        let said = match self.request.keep {
            _ if !keep_client => Keep::Close,
            Keep::Implied if line.version >= Version::Http11 => Keep::Implied,
            _ => Keep::Asked,
        };
        let sent = self.answer(head, line.status, shown, said).await?;
        let rest = match body {
            Body::Length(length) => Body::Length(length.saturating_sub(sent)),
            other => other,
        };
        self.carry(rest, encode).await?;
        Ok(Outcome::Done { keep_client, keep_server: keep_server && self.inbox.is_empty() })
    }

    /// Writes a head that no other follows.
    async fn answer(&mut self, head: &Head<'_>, status: u16, body: Body, keep: Keep) -> Result<u64, Failure> {
        self.back.answered = true;
        self.write_head(head, status, body, keep).await
    }

    /// Writes a head, together with as much of a body of known length as has come with it: so many bytes of that.
    async fn write_head(
        &mut self,
        head: &Head<'_>,
        status: u16,
        body: Body,
        keep: Keep,
    ) -> Result<u64, Failure> {
        let mut out = Vec::new();
        let session_authentication = self.request.target.form == Form::Absolute;
        let response = forward::Response {
            head,
            status,
            body,
            keep,
            transparent: self.transparent,
            session_authentication,
        };
        response.write(&mut out);
        let length =
            if let Body::Length(length) = body { usize::try_from(length).unwrap_or(usize::MAX) } else { 0 };
        let early = length.min(self.inbox.rest().len());
        out.extend_from_slice(self.inbox.rest().get(..early).unwrap_or_default());
        self.inbox.consume(early);
        let (limit, moved) = (self.timeouts.string_short, &mut self.back.from_server);
        let mut gate = Gate::new(self.charges, Direction::In);
        pay(gate.as_mut(), &out).await;
        let sent = send(self.client, &out, limit, moved, gate.as_ref()).await;
        sent.map_err(|broken| lost_client(broken, 521)).map(|()| early as u64)
    }

    async fn carry(&mut self, body: Body, encode: bool) -> Result<(), Failure> {
        let carrier = Carrier {
            from: self.server,
            inbox: self.inbox,
            to: self.client,
            idle: self.timeouts.connection_short,
            moved: &mut self.back.from_server,
            gate: Gate::new(self.charges, Direction::In),
            paid: 0,
        };
        carrier.carry(body, encode).await.map_err(|broken| match broken {
            Broken::Receiver => Failure::new(95, FailureKind::Lost),
            Broken::Sender | Broken::Ended => Failure::new(96, FailureKind::Lost),
            Broken::Idle => Failure::new(92, FailureKind::Timeout),
            Broken::Limited => limited(),
            Broken::Malformed(_) => Failure::new(534, FailureKind::Malformed),
        })
    }
}

async fn within<T>(limit: Duration, response: impl Future<Output = T>) -> Result<T, Failure> {
    timeout(limit, response).await.map_err(|_| Failure::new(NO_RESPONSE, FailureKind::Timeout))
}

async fn pay(gate: Option<&mut Gate<'_>>, bytes: &[u8]) {
    if let Some(gate) = gate {
        gate.pay(bytes.len()).await;
    }
}

fn limited() -> Failure {
    Failure::new(LIMITED, FailureKind::Limited)
}

fn malformed() -> Failure {
    Failure::new(NO_RESPONSE, FailureKind::Malformed)
}

fn no_head(why: NoHead) -> Failure {
    match why {
        NoHead::Failed => Failure::new(NO_RESPONSE, FailureKind::Lost),
        NoHead::Ended | NoHead::Malformed(_) => malformed(),
    }
}

/// The request's head did not arrive: 518.
fn lost_server(broken: Broken) -> Failure {
    match broken {
        Broken::Receiver => Failure::new(518, FailureKind::Lost),
        Broken::Limited => limited(),
        _ => Failure::new(518, FailureKind::Timeout),
    }
}

/// The client sends no more, or takes no more: `code`, or 92 where it was silent, or that of malformed chunks.
fn lost_client(broken: Broken, code: u16) -> Failure {
    match broken {
        Broken::Sender | Broken::Ended | Broken::Receiver => Failure::new(code, FailureKind::Lost),
        Broken::Idle => Failure::new(92, FailureKind::Timeout),
        Broken::Limited => limited(),
        Broken::Malformed(why) => Failure::new(why.code(), FailureKind::Malformed),
    }
}

#[cfg(test)]
mod tests;
