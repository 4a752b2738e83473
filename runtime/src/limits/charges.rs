//! What the bytes of a request are charged to: the bandwidths and quotas that apply to it, by direction.
//!
//! A stream reads no more than its turn allows ([`Gate::poll_portion`]), and writes no more than is left of its quotas
//! ([`Gate::write`]). A datagram passes at once or is dropped ([`Charges::admits`]).
use std::{
    fmt, io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use jiff::Timestamp;
use tokio::{
    net::TcpStream,
    time::{Instant, Sleep, sleep_until},
};

use super::{bandwidth::Channel, traffic::Quota};

/// No portion is larger than a buffer.
const LARGEST: u64 = 16 * 1024;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the client: `bandlimin`, `countin`.
    In,
    /// To the server: `bandlimout`, `countout`.
    Out,
}

/// What applies to a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Charges {
    pub(super) inwards: Way,
    pub(super) outwards: Way,
}

/// What applies to one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    pub(super) channels: Box<[Arc<Channel>]>,
    pub(super) quotas: Box<[Arc<Quota>]>,
}

impl Way {
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty() && self.quotas.is_empty()
    }
}

impl Charges {
    const fn way(&self, direction: Direction) -> &Way {
        match direction {
            Direction::In => &self.inwards,
            Direction::Out => &self.outwards,
        }
    }

    /// Whether nothing applies.
    pub(super) fn is_empty(&self) -> bool {
        self.inwards.is_empty() && self.outwards.is_empty()
    }

    /// Whether something is left of every quota.
    pub(crate) fn has_left(&self) -> bool {
        [Direction::In, Direction::Out].into_iter().all(|direction| self.left(direction) > 0)
    }

    /// How many bytes are left of the quotas of a direction.
    pub(crate) fn left(&self, direction: Direction) -> u64 {
        let now = now();
        self.way(direction).quotas.iter().map(|quota| quota.left(now)).min().unwrap_or(u64::MAX)
    }

    /// Whether a datagram of `bytes` bytes may pass: one that would have to wait is dropped, as in 3proxy, and so is one that is more
    /// than is left. It is counted if it passes; of one that is dropped nothing is.
    pub(crate) fn admits(&self, direction: Direction, bytes: usize) -> bool {
        let granted = self.grant(direction, bytes);
        let admitted = granted == bytes && self.reserve_now(direction, bytes as u64);
        if !admitted {
            self.give_back(direction, granted);
        }
        admitted
    }

    /// Reserves the time that the bytes take in all channels, if nobody waits for one of them.
    fn reserve_now(&self, direction: Direction, bytes: u64) -> bool {
        let (channels, now) = (&self.way(direction).channels, Instant::now());
        let Some(busy) = channels.iter().position(|channel| !channel.reserve_now(bytes, now)) else {
            return true;
        };
        channels.iter().take(busy).for_each(|channel| channel.give_back(bytes));
        false
    }

    /// Counts as many of `bytes` as are left of every quota, and returns how many those are.
    fn grant(&self, direction: Direction, bytes: usize) -> usize {
        let quotas = &self.way(direction).quotas;
        if quotas.is_empty() {
            return bytes;
        }
        let now = now();
        let mut granted = bytes as u64;
        for (at, quota) in quotas.iter().enumerate() {
            let taken = quota.take(granted, now);
            quotas.iter().take(at).for_each(|earlier| earlier.give_back(granted - taken));
            granted = taken;
        }
        usize::try_from(granted).unwrap_or(bytes)
    }

    fn give_back(&self, direction: Direction, bytes: usize) {
        if bytes > 0 {
            self.way(direction).quotas.iter().for_each(|quota| quota.give_back(bytes as u64));
        }
    }

    /// Reserves the time that the bytes take, and returns when they may pass.
    fn reserve(&self, direction: Direction, bytes: u64, now: Instant) -> Instant {
        let channels = self.way(direction).channels.iter();
        channels.map(|channel| channel.reserve(bytes, now)).max().unwrap_or(now)
    }

    /// How many bytes may be reserved at once.
    fn portion(&self, direction: Direction) -> Option<u64> {
        let channels = self.way(direction).channels.iter();
        channels.map(|channel| channel.burst().min(LARGEST)).min()
    }
}

fn now() -> i64 {
    Timestamp::now().as_second()
}

/// The way of a stream's bytes in one direction.
pub(crate) struct Gate<'a> {
    charges: &'a Charges,
    direction: Direction,
    turn: Option<Turn>,
}

/// Bytes that will be read when their time has come.
struct Turn {
    bytes: usize,
    comes: Pin<Box<Sleep>>,
}

impl fmt::Debug for Gate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = self.turn.as_ref().map(|turn| turn.bytes);
        f.debug_struct("Gate").field("direction", &self.direction).field("waits", &waits).finish()
    }
}

impl<'a> Gate<'a> {
    /// Of bytes that are charged to `charges`; `None`: nothing limits them.
    pub(crate) fn new(charges: Option<&'a Charges>, direction: Direction) -> Option<Self> {
        let charges = charges.filter(|charges| !charges.way(direction).is_empty())?;
        Some(Self { charges, direction, turn: None })
    }

    /// Ready: so many bytes may be read from `from`, which was found to be readable. They are reserved, and nobody needs to hold a buffer
    /// while he waits for them.
    pub(crate) fn poll_portion(&mut self, cx: &mut Context<'_>, from: &TcpStream) -> Poll<usize> {
        let Some(most) = self.charges.portion(self.direction) else { return Poll::Ready(usize::MAX) };
        let turn = match &mut self.turn {
            Some(turn) => turn,
            None => {
                // Only what is there: what was reserved and is not used would be lost for all.
                let bytes = rustix::io::ioctl_fionread(from).unwrap_or(0).clamp(1, most);
                let now = Instant::now();
                let then = self.charges.reserve(self.direction, bytes, now);
                let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
                if then <= now {
                    return Poll::Ready(bytes);
                }
                self.turn.insert(Turn { bytes, comes: Box::pin(sleep_until(then)) })
            }
        };
        ready!(turn.comes.as_mut().poll(cx));
        let bytes = turn.bytes;
        self.turn = None;
        Poll::Ready(bytes)
    }

    /// Waits until `from` is readable and it is its turn: as [`Gate::poll_portion`].
    ///
    /// # Errors
    /// What the socket says.
    pub(crate) async fn portion(&mut self, from: &TcpStream) -> io::Result<usize> {
        from.readable().await?;
        Ok(std::future::poll_fn(|cx| self.poll_portion(cx, from)).await)
    }

    /// Waits until `bytes` bytes that were read already may pass.
    pub(crate) async fn pay(&mut self, bytes: usize) {
        let Some(most) = self.charges.portion(self.direction) else { return };
        let mut left = bytes as u64;
        while left > 0 {
            let portion = left.min(most);
            sleep_until(self.charges.reserve(self.direction, portion, Instant::now())).await;
            left -= portion;
        }
    }

    /// Writes as many of `bytes` as are left of the quotas, and counts those that `write` has written; 0 if a quota is used up.
    ///
    /// # Errors
    /// Those of `write`.
    pub(crate) fn write(
        &self,
        bytes: &[u8],
        write: impl FnOnce(&[u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        // They are counted first, so that others don't write them meanwhile.
        let granted = self.charges.grant(self.direction, bytes.len());
        if granted == 0 {
            return Ok(0);
        }
        let written = write(bytes.get(..granted).unwrap_or(bytes));
        let unwritten = granted.saturating_sub(*written.as_ref().unwrap_or(&0));
        self.charges.give_back(self.direction, unwritten);
        written
    }
}

/// Why not all bytes were written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// A quota is used up.
    Limited,
    /// The socket failed.
    Failed,
}

/// Writes all of `bytes`, and adds those that were written to `moved`, whatever comes of it.
///
/// # Errors
/// [`Unwritten`].
pub(crate) async fn write_all(
    to: &TcpStream,
    mut bytes: &[u8],
    gate: Option<&Gate<'_>>,
    moved: &mut u64,
) -> Result<(), Unwritten> {
    while !bytes.is_empty() {
        to.writable().await.map_err(|_| Unwritten::Failed)?;
        let written = match gate {
            Some(gate) => gate.write(bytes, |granted| to.try_write(granted)),
            None => to.try_write(bytes),
        };
        match written {
            Ok(0) => return Err(Unwritten::Limited),
            Ok(written) => {
                *moved += written as u64;
                bytes = bytes.get(written..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return Err(Unwritten::Failed),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
