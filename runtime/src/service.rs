//! What each kind of service does with a client.
use tokio::net::TcpStream;

use crate::session::Session;

/// Serves one client, from its first byte to its log record.
pub(crate) async fn serve(stream: TcpStream, session: Session) {
    // No kind is served yet: the connection is closed.
    drop((stream, session));
}
