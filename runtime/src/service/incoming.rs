//! Messages from a client, one after the other, of clients that may be slow, silent or malicious.
use std::{fmt, time::Duration};

use tokio::{
    io::AsyncReadExt,
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use crate::{
    error::{Failure, FailureKind},
    protocol::socks::{LONGEST, Parsed, Stage, broken_off},
};

/// What a client has sent and nobody has used yet.
#[derive(Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
}

/// Prints no byte: passwords are among them.
impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

/// How long a client may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Between two bytes.
    pub(super) silence: Duration,
    /// For a message.
    pub(super) message: Duration,
}

impl Incoming {
    /// The next message, as `parse` finds it.
    ///
    /// # Errors
    /// With the code of what is wrong or missing, if the message is faulty, breaks off, or takes longer than `patience`.
    pub(super) async fn next<T>(
        &mut self,
        client: &mut TcpStream,
        patience: Patience,
        stage: Stage,
        parse: impl Fn(&[u8]) -> Parsed<T>,
    ) -> Result<T, Failure> {
        let until = Instant::now() + patience.message;
        loop {
            match parse(&self.bytes) {
                Parsed::Whole(message, used) => {
                    self.bytes.drain(..used.min(self.bytes.len()));
                    return Ok(message);
                }
                Parsed::Faulty(fault) => return Err(Failure::new(fault.code(), FailureKind::Malformed)),
                Parsed::More => {}
            }
            let code = broken_off(stage, &self.bytes);
            let lost = |_| Failure::new(code, FailureKind::Lost);
            let mut more = [0; LONGEST];
            let read = timeout_at(until, timeout(patience.silence, client.read(&mut more))).await;
            match read.map(|read| read.map_err(|_| ())) {
                Ok(Ok(Ok(0))) => return Err(Failure::new(code, FailureKind::Lost)),
                Ok(Ok(read)) => {
                    self.bytes.extend_from_slice(more.get(..read.map_err(lost)?).unwrap_or_default())
                }
                Ok(Err(())) | Err(_) => return Err(Failure::new(code, FailureKind::Timeout)),
            }
        }
    }

    /// What came behind the last message.
    pub(super) fn rest(self) -> Vec<u8> {
        self.bytes
    }
}
