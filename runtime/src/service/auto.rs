//! The `auto` service: what a client speaks shows in its first byte.
//!
//! 4 and 5 begin SOCKS, 22 TLS, and anything else is a request for the HTTP proxy, if only to be refused. The byte is looked at and
//! left where it is. 3proxy waits four seconds for it; it is awaited here for as long as a short connection may be idle.
use tokio::{net::TcpStream, time::timeout};

use super::{NO_BEGINNING, Rest, proxy, socks, tlspr};
use crate::{log::Protocol, protocol::tls::HANDSHAKE, session::Session};

pub(super) async fn serve(client: TcpStream, mut session: Box<Session>) -> Option<Rest> {
    let mut first = [0];
    let limit = session.snapshot.timeouts.connection_short;
    if !matches!(timeout(limit, client.peek(&mut first)).await, Ok(Ok(1..))) {
        session.record.code = NO_BEGINNING;
        session.log();
        return None;
    }
    let [first] = first;
    match first {
        4 | 5 => {
            session.record.protocol = Protocol::Socks;
            Box::pin(socks::serve(client, session)).await
        }
        HANDSHAKE => {
            session.record.protocol = Protocol::Tlspr;
            Box::pin(tlspr::serve(client, session)).await.map(Rest::Tunnel)
        }
        _ => {
            session.record.protocol = Protocol::Proxy;
            Box::pin(proxy::serve(client, session)).await.map(Rest::Tunnel)
        }
    }
}
