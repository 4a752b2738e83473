//! Bytes that a socket gave and nobody has dealt with yet.
use std::{fmt, io};

use tokio::net::TcpStream;

use crate::protocol::http::{Malformed, head::Scanner};

/// How much is read at once.
const READ: usize = 16 * 1024;

/// A buffer in front of a socket. While it is empty and the socket is silent, it holds no memory.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    start: usize,
}

/// Prints no byte: passwords are among them.
impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.rest().len())
    }
}

impl Inbox {
    /// What has come and is not consumed.
    pub(super) fn rest(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// `count` bytes are dealt with.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.bytes.len());
        if self.start == self.bytes.len() {
            self.bytes.clear();
            self.start = 0;
            if self.bytes.capacity() > 2 * READ {
                self.bytes = Vec::new();
            }
        }
    }

    /// Takes the first `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Vec<u8> {
        let taken = self.rest().get(..count).unwrap_or_default().to_vec();
        self.consume(taken.len());
        taken
    }

    /// Takes all that has come.
    pub(super) fn take_all(&mut self) -> Vec<u8> {
        self.take(self.rest().len())
    }

    /// Waits until `from` has something, and reads it; 0 is its end. Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// What the socket says.
    pub(super) async fn fill(&mut self, from: &TcpStream) -> io::Result<usize> {
        loop {
            self.bytes.drain(..std::mem::take(&mut self.start));
            self.bytes.reserve(READ);
            match from.try_read_buf(&mut self.bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            self.let_go();
            from.readable().await?;
        }
    }

    /// As [`Inbox::fill`], but no more than `most` bytes.
    ///
    /// # Errors
    /// What the socket says.
    pub(super) async fn fill_some(&mut self, from: &TcpStream, most: usize) -> io::Result<usize> {
        loop {
            self.bytes.drain(..std::mem::take(&mut self.start));
            let there = self.bytes.len();
            self.bytes.resize(there + most.min(READ), 0);
            let read = from.try_read(self.bytes.get_mut(there..).unwrap_or_default());
            self.bytes.truncate(there + read.as_ref().copied().unwrap_or(0));
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            self.let_go();
            from.readable().await?;
        }
    }

    /// Holds no memory, if it is empty.
    pub(super) fn let_go(&mut self) {
        if self.is_empty() {
            *self = Self::default();
        }
    }

    /// Reads until there is a whole head, and takes it.
    ///
    /// # Errors
    /// [`NoHead`]. What has come stays in the inbox.
    pub(super) async fn head(&mut self, from: &TcpStream) -> Result<Vec<u8>, NoHead> {
        let mut scanner = Scanner::default();
        loop {
            if let Some(end) = scanner.scan(self.rest()).map_err(NoHead::Malformed)? {
                return Ok(self.take(end));
            }
            if self.fill(from).await.map_err(|_| NoHead::Failed)? == 0 {
                return Err(NoHead::Ended);
            }
        }
    }
}

/// Why no head came.
#[derive(Debug)]
pub(super) enum NoHead {
    /// The peer has sent all that it will.
    Ended,
    /// The socket failed.
    Failed,
    /// It is too long.
    Malformed(Malformed),
}

/// Writes all of `bytes`.
///
/// # Errors
/// What the socket says.
pub(super) async fn write_all(to: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        to.writable().await?;
        match to.try_write(bytes) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, task::Poll};

    use tokio::{
        io::AsyncWriteExt,
        net::{TcpListener, TcpStream},
    };

    use super::Inbox;

    #[tokio::test]
    async fn it_holds_no_memory_while_the_socket_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap());
        let (near, far) = tokio::join!(near, listener.accept());
        let (near, mut far) = (near.unwrap(), far.unwrap().0);
        let mut inbox = Inbox::default();
        far.write_all(b"ab").await.unwrap();
        assert_eq!(inbox.fill(&near).await.unwrap(), 2);
        inbox.consume(2);
        {
            let mut fill = Box::pin(inbox.fill(&near));
            poll_fn(|cx| {
                assert!(fill.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(inbox.bytes.capacity(), 0);
        far.write_all(b"c").await.unwrap();
        assert_eq!((inbox.fill(&near).await.unwrap(), inbox.rest()), (1, &b"c"[..]));
    }
}
