//! The `tcppm` service: every client is connected to one target.
use compiler::program::acl::Operation;
use tokio::net::TcpStream;

use super::tunnel::Tunnel;
use crate::{
    error::{Failure, FailureKind},
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
    let unresolved = || Failure::new(100, FailureKind::Resolve);
    let service = std::sync::Arc::clone(&session.service);
    let target = service.settings.target.as_ref().ok_or_else(unresolved)?;
    session.record.text = target.host.as_bytes().to_vec();
    session.record.target_port = target.port;
    session.record.host = Some(target.host.as_bytes().into());
    let ask = Ask {
        credentials: None,
        target: TargetName::parse(target.host.as_bytes(), session.family()).ok_or_else(unresolved)?,
        port: target.port,
        operation: Operation::Connect,
    };
    session.open(&ask).await
}
