//! Bytes both ways between a client and a server, until both are done.
//!
//! One state machine for both directions. A buffer is borrowed from the thread's pool while a socket is readable and goes back
//! when it is drained, so an idle pair of connections holds none. One timer: activity only notes the time, and the timer,
//! when it fires, looks how old that note is.
use std::{
    future::poll_fn,
    io,
    net::Shutdown,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    time::{Instant, Sleep, sleep},
};

use crate::limits::{Charges, Direction as Towards, Gate, LIMITED};

mod buffer;
use buffer::Buffer;

/// When a relay ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The longest time without a byte in either direction.
    pub idle: Duration,
    /// Whether a direction may live on after the other has ended; otherwise what is buffered is delivered, and that is all.
    pub half_close: bool,
}

/// What a relay did.
#[derive(Debug)]
pub(crate) struct Relayed {
    /// Bytes from the client that the server's socket took.
    pub from_client: u64,
    /// Bytes from the server that the client's socket took.
    pub from_server: u64,
    /// Reads and writes that moved bytes.
    pub cycles: u64,
    /// Why it ended.
    pub end: End,
}

/// Why a relay ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Both directions were closed in order, or one was and half-closed connections are not kept.
    Closed,
    /// Nothing moved for too long.
    Idle,
    /// The client's socket failed.
    Client,
    /// The server's socket failed.
    Server,
    /// A quota is used up.
    Limited,
}

impl End {
    /// 3proxy's code for it.
    #[must_use]
    pub(crate) const fn code(&self) -> u16 {
        match self {
            Self::Closed => 0,
            Self::Idle => 92,
            Self::Client => 95,
            Self::Server => 96,
            Self::Limited => LIMITED,
        }
    }
}

/// Moves bytes both ways until both directions have ended, a socket fails, or nothing has moved for `limits.idle`.
/// An end of stream is passed on as such. Neither socket is closed: the caller drops them. `charges` is what the bytes are charged to.
pub(crate) async fn relay(
    client: &TcpStream,
    server: &TcpStream,
    limits: Limits,
    charges: Option<&Charges>,
) -> Relayed {
    let mut state = Relay {
        up: Direction::new(client, server),
        down: Direction::new(server, client),
        limits,
        active: Instant::now(),
        gates: charges.map(|charges| Box::new(Gates::new(charges))),
    };
    let mut timer = pin!(sleep(limits.idle));
    let end = poll_fn(|cx| state.poll(cx, timer.as_mut())).await;
    Relayed { from_client: state.up.moved, from_server: state.down.moved, cycles: state.cycles(), end }
}

struct Relay<'a> {
    up: Direction<'a>,
    down: Direction<'a>,
    limits: Limits,
    /// When a byte last moved, as of the last time that the state was polled.
    active: Instant,
    /// Where bytes are held back; most relays have none.
    gates: Option<Box<Gates<'a>>>,
}

struct Gates<'a> {
    up: Option<Gate<'a>>,
    down: Option<Gate<'a>>,
}

impl<'a> Gates<'a> {
    fn new(charges: &'a Charges) -> Self {
        let gate = |towards| Gate::new(Some(charges), towards);
        Self { up: gate(Towards::Out), down: gate(Towards::In) }
    }
}

impl Relay<'_> {
    fn poll(&mut self, cx: &mut Context<'_>, timer: Pin<&mut Sleep>) -> Poll<End> {
        let before = self.cycles();
        let mut outcome = self.poll_both(cx);
        if outcome.is_pending() && !self.limits.half_close && (self.up.at_end || self.down.at_end) {
            self.up.at_end = true;
            self.down.at_end = true;
            outcome = self.poll_both(cx);
        }
        if let Poll::Ready(outcome) = outcome {
            return Poll::Ready(outcome.err().unwrap_or(End::Closed));
        }
        if self.cycles() != before {
            self.active = Instant::now();
        }
        self.poll_idle(cx, timer)
    }

    /// Ready when both directions have ended, or one failed.
    fn poll_both(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), End>> {
        let (up, down) = match &mut self.gates {
            Some(gates) => (gates.up.as_mut(), gates.down.as_mut()),
            None => (None, None),
        };
        let up = self.up.poll(cx, up).map_err(|fault| fault.end(End::Client, End::Server))?;
        let down = self.down.poll(cx, down).map_err(|fault| fault.end(End::Server, End::Client))?;
        ready!(up);
        ready!(down);
        Poll::Ready(Ok(()))
    }

    const fn cycles(&self) -> u64 {
        self.up.cycles + self.down.cycles
    }

    fn poll_idle(&self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Poll<End> {
        loop {
            ready!(timer.as_mut().poll(cx));
            let due = self.active + self.limits.idle;
            if due <= Instant::now() {
                return Poll::Ready(End::Idle);
            }
            timer.as_mut().reset(due);
        }
    }
}

/// One direction of a relay.
struct Direction<'a> {
    from: &'a TcpStream,
    to: &'a TcpStream,
    /// Bytes read and not yet written; `None` while there are none.
    buffer: Option<Buffer>,
    /// Nothing more is read: the stream ended, or the relay is closing.
    at_end: bool,
    /// The end was passed on.
    done: bool,
    moved: u64,
    cycles: u64,
}

/// Which side of a direction failed, or that neither did.
enum Fault {
    Reading,
    Writing,
    Limited,
}

impl Fault {
    const fn end(self, reading: End, writing: End) -> End {
        match self {
            Self::Reading => reading,
            Self::Writing => writing,
            Self::Limited => End::Limited,
        }
    }
}

impl<'a> Direction<'a> {
    const fn new(from: &'a TcpStream, to: &'a TcpStream) -> Self {
        Self { from, to, buffer: None, at_end: false, done: false, moved: 0, cycles: 0 }
    }

    /// Moves what can be moved now. Ready: the end was passed on, or a side failed.
    /// tokio's budget for a task bounds how long this goes on: readiness is then reported as pending.
    fn poll(&mut self, cx: &mut Context<'_>, mut gate: Option<&mut Gate<'_>>) -> Poll<Result<(), Fault>> {
        while !self.done {
            if self.buffer.as_ref().is_some_and(|buffer| !buffer.rest().is_empty()) {
                ready!(self.write(cx, gate.as_deref()))?;
            } else if self.at_end {
                self.buffer = None;
                // The other side may have closed the whole connection already: then there is nobody to tell.
                let _ = socket2::SockRef::from(self.to).shutdown(Shutdown::Write);
                self.done = true;
            } else {
                let read = self.read(cx, gate.as_deref_mut());
                if read.is_pending() {
                    self.buffer = None;
                }
                ready!(read)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, cx: &mut Context<'_>, gate: Option<&Gate<'_>>) -> Poll<Result<(), Fault>> {
        let Some(buffer) = &mut self.buffer else { return Poll::Ready(Ok(())) };
        ready!(self.to.poll_write_ready(cx)).map_err(|_| Fault::Writing)?;
        let written = match gate {
            Some(gate) => gate.write(buffer.rest(), |granted| self.to.try_write(granted)),
            None => self.to.try_write(buffer.rest()),
        };
        match written {
            Ok(0) => return Poll::Ready(Err(Fault::Limited)),
            Ok(written) => {
                buffer.consume(written);
                self.moved += written as u64;
                self.cycles += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Poll::Ready(Err(Fault::Writing)),
        }
        Poll::Ready(Ok(()))
    }

    /// Waits for its turn before it takes a buffer.
    fn read(&mut self, cx: &mut Context<'_>, gate: Option<&mut Gate<'_>>) -> Poll<Result<(), Fault>> {
        ready!(self.from.poll_read_ready(cx)).map_err(|_| Fault::Reading)?;
        let most = match gate {
            Some(gate) => ready!(gate.poll_portion(cx, self.from)),
            None => usize::MAX,
        };
        let buffer = self.buffer.get_or_insert_with(Buffer::take);
        match self.from.try_read(buffer.space(most)) {
            Ok(0) => self.at_end = true,
            Ok(read) => {
                buffer.fill(read);
                self.cycles += 1;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Poll::Ready(Err(Fault::Reading)),
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests;
