//! Socket options, as `-ol`, `-oc` and `-os` give them, and connections that nobody is expected to speak on.
use std::{
    future::poll_fn,
    io,
    task::{Context, Poll},
};

use compiler::program::{Set, service::SocketOptions};
use grammar::value::SocketOption;
use socket2::SockRef;
use tokio::{io::ReadBuf, net::TcpStream};

/// Whether an option is executed.
#[must_use]
pub(crate) const fn is_executed(option: SocketOption) -> bool {
    matches!(
        option,
        SocketOption::NoDelay
            | SocketOption::QuickAck
            | SocketOption::KeepAlive
            | SocketOption::ReuseAddress
            | SocketOption::ReusePort
    )
}

/// Sets the options of a list, in order.
///
/// # Errors
/// The first that the system refuses.
pub(crate) fn apply(socket: &SockRef<'_>, options: Option<&Set<SocketOptions>>) -> io::Result<()> {
    options.iter().flat_map(|options| &options.value.0).try_for_each(|option| set(socket, *option))
}

/// Sets one option.
///
/// # Errors
/// The system refuses it.
pub(crate) fn set(socket: &SockRef<'_>, option: SocketOption) -> io::Result<()> {
    match option {
        SocketOption::NoDelay => socket.set_tcp_nodelay(true),
        SocketOption::QuickAck => socket.set_tcp_quickack(true),
        SocketOption::KeepAlive => socket.set_keepalive(true),
        // These matter before a socket is bound: the listener sees to them. The others were refused when the configuration was loaded.
        _ => Ok(()),
    }
}

/// Ready when the other end says something, or has gone.
pub(crate) fn poll_stirs(stream: &TcpStream, cx: &mut Context<'_>) -> Poll<()> {
    // Readiness alone may be left from what was read before.
    stream.poll_peek(cx, &mut ReadBuf::new(&mut [0])).map(drop)
}

/// Returns when the other end says something, or has gone.
pub(crate) async fn stirs(stream: &TcpStream) {
    poll_fn(|cx| poll_stirs(stream, cx)).await;
}
