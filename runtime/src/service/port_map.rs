//! The `tcppm` service: every client is connected to one target.
use compiler::program::acl::Operation;
use tokio::net::TcpStream;

use super::{socket, tunnel};
use crate::{
    error::{Failure, FailureKind},
    session::{Ask, Session, TargetName, Upstream},
};

pub(super) async fn serve(client: TcpStream, mut session: Session) {
    match Box::pin(open(&mut session)).await {
        Ok(upstream) => {
            let mut upstream = socket(upstream);
            tunnel(&client, &mut upstream, &mut session, &[]).await;
        }
        Err(failure) => session.record.code = failure.code,
    }
    session.log();
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
