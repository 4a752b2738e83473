//! Bodies on their way: from one socket to the other, as they come.
use std::time::Duration;

use tokio::{net::TcpStream, time::timeout};

use super::inbox::Inbox;
use crate::{
    limits::{self, Gate, Unwritten},
    protocol::http::{
        Malformed,
        body::Body,
        chunked::{Decoder, Piece},
        fields,
    },
};

/// Encoded chunks are collected up to here before they are written.
const BATCH: usize = 16 * 1024;

/// Why a body did not arrive.
#[derive(Debug)]
pub(super) enum Broken {
    /// The socket of its sender failed before its end.
    Sender,
    /// Its sender closed before its end.
    Ended,
    /// Its receiver takes no more.
    Receiver,
    /// Nothing moved for too long.
    Idle,
    /// A quota is used up.
    Limited,
    /// Its chunks are malformed.
    Malformed(Malformed),
}

/// The way of one body.
pub(super) struct Carrier<'a> {
    /// Whence.
    pub(super) from: &'a TcpStream,
    /// What of it has come already.
    pub(super) inbox: &'a mut Inbox,
    /// Where to.
    pub(super) to: &'a TcpStream,
    /// How long either may be silent.
    pub(super) idle: Duration,
    /// Bytes written.
    pub(super) moved: &'a mut u64,
    /// Where they are held back.
    pub(super) gate: Option<Gate<'a>>,
    /// Bytes that had their turn when they were read; 0 at first.
    pub(super) paid: usize,
}

impl Carrier<'_> {
    /// Carries a body to its end, and not one byte more. `encode`: chunks go on as chunks; otherwise only their data.
    ///
    /// # Errors
    /// [`Broken`].
    pub(super) async fn carry(mut self, body: Body, encode: bool) -> Result<(), Broken> {
        match body {
            Body::None => Ok(()),
            Body::Length(length) => self.length(length).await,
            Body::Chunked => self.chunks(encode).await,
            Body::Close => self.rest().await,
        }
    }

    async fn length(&mut self, mut left: u64) -> Result<(), Broken> {
        while left > 0 {
            if self.inbox.is_empty() {
                self.fill().await?;
            }
            let count = usize::try_from(left).unwrap_or(usize::MAX).min(self.inbox.rest().len());
            self.pass(count).await?;
            left = left.saturating_sub(count as u64);
        }
        Ok(())
    }

    async fn rest(&mut self) -> Result<(), Broken> {
        loop {
            self.pass(self.inbox.rest().len()).await?;
            match self.fill().await {
                Err(Broken::Ended) => return Ok(()),
                other => other?,
            }
        }
    }

    async fn chunks(&mut self, encode: bool) -> Result<(), Broken> {
        let mut decoder = Decoder::default();
        let mut out = Vec::new();
        loop {
            let (taken, piece) = decoder.next(self.inbox.rest()).map_err(Broken::Malformed)?;
            let (more, end) = (piece == Piece::More, piece == Piece::End);
            write_piece(piece, encode, &mut out);
            self.inbox.consume(taken);
            if more || end || out.len() >= BATCH {
                self.write(&out).await?;
                out.clear();
            }
            if end {
                return Ok(());
            }
            if more {
                self.fill().await?;
            }
        }
    }

    async fn fill(&mut self) -> Result<(), Broken> {
        let filled = async {
            let Some(gate) = &mut self.gate else { return self.inbox.fill(self.from).await };
            self.inbox.let_go();
            let portion = gate.portion(self.from).await?;
            let read = self.inbox.fill_some(self.from, portion).await?;
            self.paid += read;
            Ok(read)
        };
        match timeout(self.idle, filled).await {
            Err(_) => Err(Broken::Idle),
            Ok(Err(_)) => Err(Broken::Sender),
            Ok(Ok(0)) => Err(Broken::Ended),
            Ok(Ok(_)) => Ok(()),
        }
    }

    async fn pass(&mut self, count: usize) -> Result<(), Broken> {
        self.pay(count).await;
        let bytes = self.inbox.rest().get(..count).unwrap_or_default();
        send(self.to, bytes, self.idle, self.moved, self.gate.as_ref()).await?;
        self.inbox.consume(count);
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        self.pay(bytes.len()).await;
        send(self.to, bytes, self.idle, self.moved, self.gate.as_ref()).await
    }

    /// Waits for the turn of those of `count` bytes that came together with what was read before the body.
    async fn pay(&mut self, count: usize) {
        if let Some(gate) = &mut self.gate {
            gate.pay(count.saturating_sub(self.paid)).await;
            self.paid = self.paid.saturating_sub(count);
        }
    }
}

/// Writes `bytes`, and counts them.
///
/// # Errors
/// [`Broken::Idle`], [`Broken::Receiver`], [`Broken::Limited`].
pub(super) async fn send(
    to: &TcpStream,
    bytes: &[u8],
    idle: Duration,
    moved: &mut u64,
    gate: Option<&Gate<'_>>,
) -> Result<(), Broken> {
    match timeout(idle, limits::write_all(to, bytes, gate, moved)).await {
        Err(_) => Err(Broken::Idle),
        Ok(Err(Unwritten::Failed)) => Err(Broken::Receiver),
        Ok(Err(Unwritten::Limited)) => Err(Broken::Limited),
        Ok(Ok(())) => Ok(()),
    }
}

fn write_piece(piece: Piece<'_>, encode: bool, out: &mut Vec<u8>) {
    match piece {
        Piece::Data(bytes) => out.extend_from_slice(bytes),
        _ if !encode => {}
        Piece::More => {}
        Piece::Chunk(size) => out.extend_from_slice(format!("{size:x}\r\n").as_bytes()),
        Piece::ChunkEnd | Piece::End => out.extend_from_slice(b"\r\n"),
        Piece::Last => out.extend_from_slice(b"0\r\n"),
        Piece::Trailer(line) if fields::may_be_trailer(line) => {
            out.extend_from_slice(line);
            out.extend_from_slice(b"\r\n");
        }
        Piece::Trailer(_) => {}
    }
}
