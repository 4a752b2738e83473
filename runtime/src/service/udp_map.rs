//! The `udppm` service: the datagrams of every client go to one target, and what it answers comes back.
//!
//! A client is an address and a port. Its flow has a socket of its own, which only the target, or the parent on the way there, can
//! answer at. It ends when both are silent for long, or with `-s` after one answer.
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use compiler::program::acl::Operation;
use tokio::{
    net::{TcpStream, UdpSocket},
    time::{Instant, Sleep, sleep},
};

use super::port_map::fixed;
use crate::{
    authorize,
    datagram::{Outlet, with_buffer},
    error::Failure,
    flow::{Flow, Place},
    limits::Direction,
    protocol::socks::datagram,
    session::Session,
    socket,
};

pub(super) async fn serve(mut place: Place, mut session: Box<Session>) {
    let flow = place.flow();
    let code = tokio::select! {
        code = exchange(&flow, &mut session) => code,
        () = place.is_lost() => 0,
    };
    if let Some(sent) = flow.sent() {
        session.record.from_client += sent.bytes;
        session.record.cycles += sent.datagrams;
    }
    session.end(code);
}

/// Passes datagrams on until the flow is over, and says with which code.
async fn exchange(flow: &Arc<Flow>, session: &mut Session) -> u16 {
    let outlet = match Box::pin(open(session)).await {
        Ok(outlet) => outlet,
        Err(failure) => return failure.code,
    };
    let header = match (&outlet.parent, session.record.target) {
        (Some(_), Some(target)) => {
            datagram::header((target, session.record.target_port).into()).as_slice().into()
        }
        _ => Box::default(),
    };
    let Outlet { socket, parent, .. } = outlet;
    let socket = Arc::new(socket);
    flow.open(Arc::clone(&socket), header, session.charges().cloned());
    let idle = session.snapshot.timeouts.string_long;
    let single = session.service.settings.options.single.is_some();
    let mut answers = Answers {
        flow,
        socket: &socket,
        parent: parent.as_ref(),
        session,
        single,
        idle,
        last: Instant::now(),
    };
    let mut timer = pin!(sleep(idle));
    poll_fn(|cx| answers.poll(cx, timer.as_mut())).await
}

async fn open(session: &mut Session) -> Result<Outlet, Failure> {
    let ask = fixed(session, Operation::UdpAssociate)?;
    let decided = authorize::decide(session, &ask).await;
    session.record.peer = session.record.target.map(|address| (address, ask.port).into());
    let grant = decided?;
    let target = authorize::target(session, grant.address, ask.port)?;
    authorize::limit(session, &ask, &grant)?;
    session.has_left()?;
    let mut outlet = authorize::associate(session, None, &grant, target).await?;
    if outlet.peer.is_none() {
        outlet = outlet.connect(target).await?;
    }
    session.record.external = Some(outlet.external);
    session.record.peer = outlet.peer;
    Ok(outlet)
}

/// What comes back for a client.
struct Answers<'a> {
    flow: &'a Flow,
    session: &'a mut Session,
    socket: &'a UdpSocket,
    parent: Option<&'a TcpStream>,
    /// `-s`: one answer is all.
    single: bool,
    idle: Duration,
    /// When the last one came.
    last: Instant,
}

impl Answers<'_> {
    /// Ready with a code when the flow is over.
    fn poll(&mut self, cx: &mut Context<'_>, timer: Pin<&mut Sleep>) -> Poll<u16> {
        if self.parent.is_some_and(|parent| socket::poll_stirs(parent, cx).is_ready()) {
            // The parent has nothing to say but that it has gone.
            return Poll::Ready(0);
        }
        while self.socket.poll_recv_ready(cx).is_ready() {
            if with_buffer(|buffer| self.pass(buffer)) && self.single {
                return Poll::Ready(0);
            }
        }
        self.poll_idle(cx, timer)
    }

    /// Passes the next answer on, if there is one.
    fn pass(&mut self, buffer: &mut [u8]) -> bool {
        // An error tells that an earlier datagram was not delivered: the client waits for an answer in vain, as without a proxy.
        let Ok(length) = self.socket.try_recv(buffer) else { return false };
        let received = buffer.get(..length).unwrap_or_default();
        let answer = match self.parent {
            None => received,
            Some(_) => match datagram::parse(received) {
                Ok(datagram) => datagram.payload,
                Err(_) => return false,
            },
        };
        if !self.session.charges().is_none_or(|charges| charges.admits(Direction::In, answer.len())) {
            return false;
        }
        self.last = Instant::now();
        self.session.record.from_server += answer.len() as u64;
        self.session.record.cycles += 1;
        // A client that can't be reached waits in vain, too.
        let _ = self.flow.answer(answer);
        true
    }

    fn poll_idle(&self, cx: &mut Context<'_>, mut timer: Pin<&mut Sleep>) -> Poll<u16> {
        loop {
            ready!(timer.as_mut().poll(cx));
            let last = self.flow.sent().map_or(self.last, |sent| sent.last.max(self.last));
            if last + self.idle <= Instant::now() {
                return Poll::Ready(92);
            }
            timer.as_mut().reset(last + self.idle);
        }
    }
}

#[cfg(test)]
mod tests;
