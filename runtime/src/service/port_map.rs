//! The `tcppm` service: every client is connected to one target.
use compiler::program::acl::Operation;
use tokio::net::TcpStream;

use super::tunnel::Tunnel;
use crate::{
    error::Failure,
    session::{Ask, Session, TargetName, Upstream},
};

pub(super) async fn serve(client: TcpStream, mut session: Box<Session>) -> Option<Tunnel> {
    match open(&mut session).await {
        Ok(upstream) => {
            let server = upstream.stream;
            Some(Tunnel { client, server, session, from_client: Vec::new(), from_server: Vec::new() })
        }
        Err(failure) => {
            session.record.code = failure.code;
            session.log();
            None
        }
    }
}

async fn open(session: &mut Session) -> Result<Upstream, Failure> {
    let ask = fixed(session, Operation::Connect);
    session.record.text = session.record.host.as_deref().unwrap_or_default().to_vec();
    session.open(&ask?).await
}

/// What every client of a port mapper asks for, noted in the record.
///
/// # Errors
/// The target is no host.
pub(super) fn fixed(session: &mut Session, operation: Operation) -> Result<Ask, Failure> {
    let target = session.service.settings.target.as_ref().ok_or(Failure::UNRESOLVED)?;
    let port = target.port;
    session.record.target_port = port;
    session.record.host = Some(target.host.as_bytes().into());
    let target = TargetName::parse(target.host.as_bytes(), session.family()).ok_or(Failure::UNRESOLVED)?;
    Ok(Ask { credentials: None, target, port, operation })
}
