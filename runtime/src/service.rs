//! What each kind of service does with a client.
use std::io;

use compiler::program::service::ServiceKind;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::{
    error::{Failure, FailureKind},
    relay::{Limits, relay},
    session::{Session, Upstream},
};

mod incoming;
mod port_map;
mod proxy;
mod socks;

/// Serves a client until it is done, and writes its log records.
pub(crate) async fn serve(client: TcpStream, session: Session) {
    // Boxed, so that a session is as large as its own service needs, not as the largest does.
    match session.service.kind {
        ServiceKind::Socks => Box::pin(socks::serve(client, session)).await,
        ServiceKind::Tcppm => Box::pin(port_map::serve(client, session)).await,
        ServiceKind::Proxy => Box::pin(proxy::serve(client, session)).await,
        ServiceKind::Udppm
        | ServiceKind::Tlspr
        | ServiceKind::Auto
        | ServiceKind::Pop3p
        | ServiceKind::Imapp
        | ServiceKind::Smtpp
        | ServiceKind::Ftppr
        | ServiceKind::Admin
        | ServiceKind::Dnspr => refuse(session),
    }
}

/// A kind that is not executed yet: `cfgc run` refuses a configuration with one.
fn refuse(mut session: Session) {
    session.record.code = Failure::new(997, FailureKind::Malformed).code;
    session.log();
}

/// Gives the server what the client sent already, and then moves bytes both ways until both are done. The counts and the code
/// are in the record afterwards.
pub(crate) async fn tunnel(
    client: &TcpStream,
    upstream: &mut TcpStream,
    session: &mut Session,
    early: &[u8],
) {
    let idle = session.snapshot.timeouts.connection_long;
    let half_close =
        session.service.settings.options.half_close.is_none_or(|half_close| half_close.value != 0);
    if !early.is_empty() {
        let sent = timeout(idle, upstream.write_all(early)).await;
        if !matches!(sent, Ok(Ok(()))) {
            session.record.code = 96;
            return;
        }
    }
    let relayed = relay(client, upstream, Limits { idle, half_close }).await;
    let record = &mut session.record;
    record.from_client += early.len() as u64 + relayed.from_client;
    record.from_server += relayed.from_server;
    record.cycles += relayed.cycles;
    record.code = relayed.end.code();
}

/// Says a last word to a client and hangs up in a way that lets it arrive: a socket that is closed with bytes unread is reset,
/// and what was on its way to the client is lost.
pub(crate) async fn hang_up(client: &mut TcpStream, last_word: &[u8], session: &Session) {
    /// So many bytes of a client that does not listen are read and forgotten.
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

/// The upstream's socket alone: what else is known of it is in the record, and need not live as long as the tunnel.
pub(crate) fn socket(upstream: Upstream) -> TcpStream {
    upstream.stream
}

#[cfg(test)]
mod tests;
