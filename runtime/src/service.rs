//! What each kind of service does with a client.
use std::io;

use compiler::program::service::ServiceKind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{flow::Place, session::Session};
use socks::Association;
use tunnel::Tunnel;

mod auto;
mod behind_proxy;
mod dnspr;
mod incoming;
mod port_map;
mod proxy;
mod socks;
mod tlspr;
mod tunnel;
mod udp_map;

/// What is left of a session when its handshake is over.
enum Rest {
    Tunnel(Tunnel),
    Association(Box<Association>),
}

/// Serves a client until it is done, and writes its log records.
pub(crate) async fn serve(mut client: TcpStream, mut session: Box<Session>) {
    if session.service.settings.options.proxy_protocol.is_some()
        && !Box::pin(behind_proxy::introduce(&mut client, &mut session)).await
    {
        session.record.code = NO_BEGINNING;
        session.log();
        return hang_up(&mut client, b"", &session).await;
    }
    // Boxed, so that nothing of a handshake takes memory while bytes are relayed.
    let rest = match session.service.kind {
        ServiceKind::Proxy => Box::pin(proxy::serve(client, session)).await.map(Rest::Tunnel),
        ServiceKind::Socks => Box::pin(socks::serve(client, session)).await,
        ServiceKind::Tcppm => Box::pin(port_map::serve(client, session)).await.map(Rest::Tunnel),
        ServiceKind::Tlspr => Box::pin(tlspr::serve(client, session)).await.map(Rest::Tunnel),
        ServiceKind::Auto => Box::pin(auto::serve(client, session)).await,
        // These are asked by datagrams.
        ServiceKind::Udppm | ServiceKind::Dnspr => return refuse(*session),
        ServiceKind::Pop3p
        | ServiceKind::Imapp
        | ServiceKind::Smtpp
        | ServiceKind::Ftppr
        | ServiceKind::Admin => return refuse(*session),
    };
    match rest {
        Some(Rest::Tunnel(tunnel)) => tunnel.run().await,
        // Boxed, so that a tunnel does not take the memory that this needs.
        Some(Rest::Association(association)) => Box::pin(association.run()).await,
        None => {}
    }
}

/// Serves a client of a UDP service until its flow is over, and writes its log records.
pub(crate) async fn serve_flow(place: Place, session: Box<Session>) {
    match session.service.kind {
        ServiceKind::Udppm => udp_map::serve(place, session).await,
        ServiceKind::Dnspr => dnspr::serve(place, session).await,
        _ => refuse(*session),
    }
}

/// 3proxy's code for a client that does not begin to speak; here also for one that begins without the header of `-H`.
const NO_BEGINNING: u16 = 801;

/// A kind that is not executed yet: `cfgc run` refuses a configuration with one.
fn refuse(mut session: Session) {
    session.record.code = 997;
    session.log();
}

/// Says a last word to a client and hangs up in a way that lets it arrive: a socket that is closed with bytes unread is reset,
/// and what was on its way to the client is lost.
pub(crate) async fn hang_up(client: &mut TcpStream, last_word: &[u8], session: &Session) {
    /// How many bytes of a client that does not listen are read and forgotten.
    const PATIENCE: u64 = 1024 * 1024;
    let timeouts = session.snapshot.timeouts;
    let farewell = async {
        client.write_all(last_word).await?;
        client.shutdown().await?;
        Ok::<_, io::Error>(())
    };
    if let Ok(Ok(())) = timeout(timeouts.string_short, farewell).await {
        // Whatever comes of it, the connection ends here.
        let _ =
            timeout(timeouts.byte_short, tokio::io::copy(&mut client.take(PATIENCE), &mut tokio::io::sink()))
                .await;
    }
}

#[cfg(test)]
mod tests;
