//! Connections: how one listening socket takes them in.
use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    time,
};

use super::post::{Intake, Post};
use crate::{event::Event, service, snapshot::ServicePolicy, socket};

/// First and longest pause after the system could not give a connection a descriptor or memory.
const PAUSE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// Accepts connections.
pub(super) struct Acceptor {
    socket: Arc<TcpListener>,
    pause: Duration,
}

impl Acceptor {
    pub(super) fn new(socket: Arc<TcpListener>) -> Self {
        Self { socket, pause: PAUSE.0 }
    }

    /// Lets sessions end: each gives descriptors back. Said once per shortage.
    async fn back_off(&mut self, post: &Post, error: io::Error) {
        let pause = self.pause;
        if pause == PAUSE.0 {
            post.tell(|protocol, port| Event::Shortage { protocol, port, error });
        }
        self.pause = (pause * 2).min(PAUSE.1);
        time::sleep(pause).await;
    }
}

impl Intake for Acceptor {
    /// Waits until fewer connections are open than may be, and for the next one.
    async fn next(&mut self, post: &mut Post) {
        post.slots.below(post.limit()).await;
        match self.socket.accept().await {
            Ok((stream, client)) => {
                self.pause = PAUSE.0;
                post.look();
                begin(post, stream, client);
            }
            Err(error) if is_shortage(&error) => self.back_off(post, error).await,
            // The client is gone already, or the like: nothing is wrong here.
            Err(_) => {}
        }
    }

    /// Serves what waits in the backlog, under the configuration that it connected under.
    async fn finish(self, mut post: Post) {
        while let Ok((stream, client)) = SockRef::from(&*self.socket).accept() {
            if let Some(client) = client.as_socket()
                && stream.set_nonblocking(true).is_ok()
                && let Ok(stream) = TcpStream::from_std(stream.into())
            {
                begin(&mut post, stream, client);
            }
        }
    }
}

fn begin(post: &mut Post, stream: TcpStream, client: SocketAddr) {
    let Ok(local) = stream.local_addr() else { return };
    let Some(session) = post.session(client, local) else { return };
    prepare(&stream, &session.service);
    post.begin(service::serve(stream, session));
    post.tell_if_full(post.slots.used(), |protocol, port, limit| Event::Full { protocol, port, limit });
}

/// Sets a client's socket up. A socket that refuses an option serves all the same.
fn prepare(stream: &TcpStream, service: &ServicePolicy) {
    // The relay writes what it has read, whole.
    let _ = stream.set_nodelay(true);
    let _ = socket::apply(&SockRef::from(stream), service.settings.options.client_socket.as_ref());
}

/// The system has no descriptor or memory left.
fn is_shortage(error: &io::Error) -> bool {
    // EMFILE, ENFILE, ENOBUFS, ENOMEM of Linux.
    matches!(error.raw_os_error(), Some(24 | 23 | 105 | 12))
}
