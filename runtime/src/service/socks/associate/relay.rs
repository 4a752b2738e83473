//! The datagrams of an association: to whom each may go, and what comes back.
//!
//! No task, buffer or socket belongs to a destination. What the list said of the latest ones is remembered for a while.
use std::{
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use compiler::{code::Code, program::service::Family};
use tokio::{
    net::UdpSocket,
    time::{Instant, Sleep},
};

use super::outlets::Outlets;
use crate::{
    authorize::{self, Grant},
    datagram::{self, Outlet, with_buffer},
    limits::{Charges, Direction},
    protocol::socks::datagram::{Datagram, Host, header, name_header, parse},
    recent::Recent,
    session::{Session, TargetName},
};

/// How many destinations are remembered.
const REMEMBERED: usize = 64;
/// So long: names move, and entries have their hours.
const LIFETIME: Duration = Duration::from_secs(60);

/// What happens.
pub(super) enum Event {
    /// The association is over, with this code.
    Over(u16),
    /// Something has to be found out before this datagram can go on.
    Undecided(Box<[u8]>),
}

/// Who may send: the client, from the first port that it sends from.
#[derive(Debug)]
pub(super) struct Sender {
    ip: IpAddr,
    /// The only port that may be the first, if the client has announced one.
    announced: Option<u16>,
    /// Where the first datagram came from.
    address: Option<SocketAddr>,
}

impl Sender {
    /// The client at this address, which announced that its datagrams come from there: zeros announce nothing.
    pub(super) fn new(ip: IpAddr, announced: Option<SocketAddr>) -> Self {
        let announced = announced.filter(|announced| announced.ip() == ip && announced.port() != 0);
        Self { ip, announced: announced.map(|announced| announced.port()), address: None }
    }

    pub(super) fn admits(&mut self, from: SocketAddr) -> bool {
        if from.ip() != self.ip || from.port() == 0 {
            return false;
        }
        match self.address {
            Some(address) => address.port() == from.port(),
            None if self.announced.is_some_and(|port| port != from.port()) => false,
            None => {
                self.address = Some(from);
                true
            }
        }
    }
}

/// Where a datagram is to go.
#[derive(Clone, Debug)]
struct Destination<'a> {
    target: TargetName,
    port: u16,
    /// The name as it stands there.
    name: Option<&'a [u8]>,
}

impl<'a> Destination<'a> {
    /// `Err`: it is no host. `None`: the service does not go there, and says nothing, as in 3proxy.
    fn of(datagram: &Datagram<'a>, family: Family) -> Result<Option<Self>, ()> {
        let (target, name) = match datagram.host {
            Host::Address(address) if address.is_ipv6() && family == Family::V4 => return Ok(None),
            Host::Address(address) => (TargetName::Address(address.to_canonical()), None),
            Host::Name(name) => (TargetName::parse(name, family).ok_or(())?, Some(name)),
        };
        let is_null = matches!(target, TargetName::Address(address) if address.is_unspecified());
        Ok(Some(Self { target, port: datagram.port, name }).filter(|to| !is_null && to.port != 0))
    }

    fn key(&self) -> Key {
        (self.target.clone(), self.port)
    }
}

type Key = (TargetName, u16);

/// What the list said of a destination.
#[derive(Debug)]
struct Answer {
    /// Of the destination, if it has one.
    address: Option<IpAddr>,
    decided: Result<Grant, u16>,
    nolog: bool,
    until: Instant,
}

/// The destination of the latest datagram.
struct Current {
    key: Key,
    /// Why datagrams can't go there; 0: they can.
    code: u16,
}

pub(super) struct Relay {
    /// Where the client's datagrams come in.
    socket: UdpSocket,
    sender: Sender,
    permission: authorize::Association,
    answers: Recent<Key, Arc<Answer>>,
    outlets: Outlets,
    current: Option<Current>,
    /// The limits that apply are those of the first destination.
    is_limited: bool,
    /// With `-U0` and `-U1`, the grant of the first destination: it is that of all others.
    first: Option<Grant>,
    pub(super) session: Box<Session>,
    /// When a datagram last passed.
    active: Instant,
}

impl Relay {
    pub(super) fn new(
        socket: UdpSocket,
        sender: Sender,
        permission: authorize::Association,
        session: Box<Session>,
    ) -> Self {
        Self {
            socket,
            sender,
            permission,
            answers: Recent::default(),
            outlets: Outlets::default(),
            current: None,
            is_limited: false,
            first: None,
            session,
            active: Instant::now(),
        }
    }

    /// How long it may be silent.
    pub(super) fn idle(&self) -> Duration {
        self.session.snapshot.timeouts.connection_long
    }

    /// Passes on what can be passed on now. tokio's budget for a task bounds how long this goes on.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, timer: Pin<&mut Sleep>) -> Poll<Event> {
        if self.outlets.poll_parent(cx).is_ready() {
            return Poll::Ready(Event::Over(0));
        }
        while self.socket.poll_recv_ready(cx).is_ready() {
            if let Some(event) = with_buffer(|buffer| self.receive(buffer)) {
                return Poll::Ready(event);
            }
        }
        let Self { socket, sender, outlets, session, active, .. } = self;
        for outlet in outlets.iter() {
            while outlet.socket.poll_recv_ready(cx).is_ready() {
                let Some(bytes) =
                    with_buffer(|buffer| answer(outlet, buffer, socket, sender, session.charges()))
                else {
                    continue;
                };
                session.record.from_server += bytes as u64;
                session.record.cycles += 1;
                *active = Instant::now();
            }
        }
        self.poll_idle(cx, timer)
    }

    fn poll_idle(&self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Poll<Event> {
        loop {
            ready!(timer.as_mut().poll(cx));
            let due = self.active + self.idle();
            if due <= Instant::now() {
                return Poll::Ready(Event::Over(92));
            }
            timer.as_mut().reset(due);
        }
    }

    /// Takes a datagram of the client.
    fn receive(&mut self, buffer: &mut [u8]) -> Option<Event> {
        let (length, from) = self.socket.try_recv_from(buffer).ok()?;
        if !self.sender.admits(from) {
            return None;
        }
        self.active = Instant::now();
        let received = buffer.get(..length).unwrap_or_default();
        let datagram = match parse(received) {
            Ok(datagram) => datagram,
            Err(fault) => return Some(Event::Over(fault.code())),
        };
        let Ok(destination) = Destination::of(&datagram, self.session.family()) else {
            return Some(Event::Over(100));
        };
        let is_done = self.pass(&destination?, datagram.payload);
        (!is_done).then(|| Event::Undecided(received.into()))
    }

    /// Finds out what a datagram needs, and passes it on.
    ///
    /// # Errors
    /// The association is over, with this code.
    pub(super) async fn find_out(&mut self, received: &[u8]) -> Result<(), u16> {
        let datagram = parse(received).map_err(|fault| fault.code())?;
        let destination = Destination::of(&datagram, self.session.family()).map_err(|()| 100_u16)?;
        let Some(destination) = destination else { return Ok(()) };
        let answer = match self.remembered(&destination) {
            Some(answer) => answer,
            None => {
                let answer = Arc::new(self.judge(&destination).await?);
                self.answers.insert(destination.key(), Arc::clone(&answer), REMEMBERED);
                answer
            }
        };
        if let Ok(grant) = &answer.decided
            && self.outlets.get(grant).is_none()
            && self.outlets.failed(grant).is_none()
        {
            self.enter(&destination, &answer, 0);
            self.open(&destination, grant).await;
        }
        // What is still not decided was forgotten meanwhile: the datagram is lost.
        self.pass(&destination, datagram.payload);
        Ok(())
    }

    fn remembered(&mut self, destination: &Destination<'_>) -> Option<Arc<Answer>> {
        let answer = self.answers.get(&destination.key())?;
        (Instant::now() < answer.until).then(|| Arc::clone(answer))
    }

    /// Asks the list.
    ///
    /// # Errors
    /// The association is over: a name does not resolve, and there is no parent that may know it.
    async fn judge(&mut self, destination: &Destination<'_>) -> Result<Answer, u16> {
        let address = authorize::resolve(&self.session, &destination.target).await;
        if address.is_none() && !self.outlets.is_through_parent() {
            return Err(Code::UNRESOLVED.number());
        }
        let until = Instant::now() + LIFETIME;
        let nolog = self.session.record.nolog;
        if let Some(first) = &self.first {
            return Ok(Answer { address, decided: Ok(Grant { address, ..first.clone() }), nolog, until });
        }
        let judged =
            self.permission.judge(&mut self.session, &destination.target, address, destination.port).await;
        // The record is still that of the destination before.
        let nolog = std::mem::replace(&mut self.session.record.nolog, nolog);
        let decided = judged.and_then(|grant| {
            if address.is_some() {
                authorize::target(&self.session, address, destination.port)?;
            }
            if !self.is_limited {
                self.permission.limit(&mut self.session, &grant, &destination.target, destination.port)?;
                self.is_limited = true;
            }
            Ok(grant)
        });
        let decided = decided.map_err(|failure| failure.code);
        if let (Ok(grant), false) = (&decided, self.checks()) {
            self.first = Some(grant.clone());
        }
        Ok(Answer { address, decided, nolog, until })
    }

    /// Opens a way; one that can't be is remembered as such.
    async fn open(&mut self, destination: &Destination<'_>, grant: &Grant) {
        let Self { outlets, session, permission, .. } = self;
        // A name that does not resolve can only take a way that is open.
        let Some(address) = grant.address else { return };
        let target = SocketAddr::new(address, destination.port);
        // A failure is told with the datagram.
        let _ = outlets.open(session, permission.ask.credentials.as_ref(), grant, target).await;
    }

    /// Sends a datagram where it may go, or drops it. `false`: something has to be found out first.
    fn pass(&mut self, destination: &Destination<'_>, payload: &[u8]) -> bool {
        let Some(answer) = self.remembered(destination) else { return false };
        let grant = match &answer.decided {
            Ok(grant) => grant,
            Err(code) => {
                self.enter(destination, &answer, *code);
                return true;
            }
        };
        let Some((_, hops)) = self.outlets.get(grant) else {
            // It may be that nobody knows where the name is.
            let code =
                self.outlets.failed(grant).or(grant.address.is_none().then_some(Code::UNRESOLVED.number()));
            if let Some(code) = code {
                self.enter(destination, &answer, code);
            }
            return code.is_some();
        };
        self.outlets.leave(grant);
        self.enter(destination, &answer, 0);
        let Some((outlet, _)) = self.outlets.get(grant) else { return true };
        let admitted =
            self.session.charges().is_none_or(|charges| charges.admits(Direction::Out, payload.len()));
        let record = &mut self.session.record;
        (record.hops, record.external) = (hops, Some(outlet.external));
        record.peer = outlet.peer.or(record.peer);
        if admitted && let Some(bytes) = send(outlet, destination, grant.address, payload) {
            record.from_client += bytes as u64;
            record.cycles += 1;
        }
        true
    }

    /// The datagrams go to this destination from now on, or can't with this code. What was before is logged.
    fn enter(&mut self, destination: &Destination<'_>, answer: &Answer, code: u16) {
        let key = destination.key();
        let before = self.current.as_ref();
        let is_same = before.is_some_and(|before| before.key == key);
        if is_same && before.is_some_and(|before| before.code == code) {
            return;
        }
        if !is_same && before.is_some_and(|before| before.code == 0) && self.logs() {
            self.session.log();
            self.session.record.restart();
        }
        self.describe(destination, answer);
        if code != 0 && self.logs() {
            self.session.record.code = code;
            self.session.log();
            self.session.record.restart();
        }
        self.current = Some(Current { key, code });
    }

    /// Notes in the record where datagrams go.
    fn describe(&mut self, destination: &Destination<'_>, answer: &Answer) {
        let address = answer.address;
        let record = &mut self.session.record;
        let written = match destination.name {
            Some(name) => name.to_vec(),
            None => destination.target.to_string().into_bytes(),
        };
        let port = destination.port;
        record.text = [b"UDPMAP ", &*written, format!(":{port}").as_bytes()].concat();
        record.host = destination.name.map(Into::into);
        (record.target, record.target_port) = (address, port);
        record.peer = address.map(|address| SocketAddr::new(address, port));
        (record.hops, record.external, record.nolog) = (0, None, answer.nolog);
    }

    /// `-U`: whether destinations are logged, each by itself.
    fn logs(&self) -> bool {
        self.mode() & 1 != 0
    }

    /// `-U`: whether destinations behind the first are judged.
    fn checks(&self) -> bool {
        self.mode() & 2 != 0
    }

    fn mode(&self) -> i32 {
        self.session.service.settings.options.udp_auth.map_or(3, |mode| mode.value)
    }

    /// Writes the last record.
    pub(super) fn end(&mut self, code: u16) {
        self.session.end(code);
    }
}

/// Sends a datagram on its way, and says how long it was: with what stands before it, if a parent gets that. `None`: there is nothing
/// to send.
fn send(outlet: &Outlet, to: &Destination<'_>, address: Option<IpAddr>, payload: &[u8]) -> Option<usize> {
    let direct = |target, before: &[u8]| {
        // What there is no room for is lost.
        let _ = datagram::send(&outlet.socket, [before, payload], target);
        before.len() + payload.len()
    };
    if outlet.parent.is_none() {
        // As in 3proxy, what is empty does not leave.
        let target = address.filter(|_| !payload.is_empty())?;
        return Some(direct(Some(SocketAddr::new(target, to.port)), b""));
    }
    // A parent hears what was judged.
    match &to.target {
        TargetName::Address(address) => {
            Some(direct(None, header(SocketAddr::new(*address, to.port)).as_slice()))
        }
        TargetName::Name(name) => name_header(name, to.port).map(|header| direct(None, &header)),
    }
}

/// Passes a datagram back to the client, and says how long it was.
fn answer(
    outlet: &Outlet,
    buffer: &mut [u8],
    socket: &UdpSocket,
    sender: &Sender,
    charges: Option<&Charges>,
) -> Option<usize> {
    // An error tells that an earlier datagram was not delivered.
    let (length, from) = outlet.socket.try_recv_from(buffer).ok()?;
    let received = buffer.get(..length).unwrap_or_default();
    let from = header(SocketAddr::new(from.ip().to_canonical(), from.port()));
    let before = match outlet.parent {
        Some(_) => parse(received).ok().map(|_| &b""[..])?,
        None => from.as_slice(),
    };
    if !charges.is_none_or(|charges| charges.admits(Direction::In, length)) {
        return None;
    }
    // A client that can't be reached waits in vain.
    let _ = datagram::send(socket, [before, received], Some(sender.address?));
    Some(length)
}
