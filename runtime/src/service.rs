//! What each kind of service does with a client.
use compiler::program::service::ServiceKind;
use tokio::net::TcpStream;

use crate::session::Session;

mod proxy;

/// Serves one client, from its first byte to its log record.
pub(crate) async fn serve(stream: TcpStream, session: Session) {
    match session.service.kind {
        ServiceKind::Proxy => proxy::serve(stream, session).await,
        // The others are not served yet: the connection is closed.
        _ => drop((stream, session)),
    }
}
