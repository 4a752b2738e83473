//! `-H`: the client stands behind a load balancer, which says in front of all else who that is.
use std::time::Duration;

use tokio::{io::AsyncReadExt, net::TcpStream, time::timeout};

use crate::{
    protocol::proxy_header::{self, LINE, LONGEST_LINE, Origin, SHORTEST, SIGNATURE},
    session::Session,
};

/// Takes the header off `client`, and no byte more. False: there is none, and the connection is not to be served. (3proxy takes
/// the first line for one, whatever it is.)
pub(super) async fn introduce(client: &mut TcpStream, session: &mut Session) -> bool {
    let limit: Duration = session.snapshot.timeouts.string_short;
    match timeout(limit, read(client)).await {
        Ok(Some(Origin::Client(address))) => session.comes_from(address),
        Ok(Some(Origin::Sender)) => {}
        Ok(None) | Err(_) => return false,
    }
    true
}

async fn read(client: &mut TcpStream) -> Option<Origin> {
    let mut first = [0; SHORTEST];
    client.read_exact(&mut first).await.ok()?;
    if first == SIGNATURE {
        let mut fixed = [0; 4];
        client.read_exact(&mut fixed).await.ok()?;
        let mut rest = vec![0; proxy_header::rest_length(fixed)?];
        client.read_exact(&mut rest).await.ok()?;
        return proxy_header::binary(fixed, &rest);
    }
    if !first.starts_with(LINE) {
        return None;
    }
    let mut line = first.to_vec();
    while line.last() != Some(&b'\n') {
        if line.len() == LONGEST_LINE {
            return None;
        }
        line.push(client.read_u8().await.ok()?);
    }
    proxy_header::line(&line)
}
