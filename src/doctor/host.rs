//! What a host says of itself.
#[cfg(test)]
pub(crate) mod recorded;

use std::{
    fs, io,
    net::{IpAddr, UdpSocket},
    os::unix::fs::MetadataExt,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// A host: this machine, or a recorded one.
pub(crate) trait Host {
    /// The bytes of a file, such as those below `/proc`.
    ///
    /// # Errors
    /// What the system says.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The permissions of a file or folder, as `chmod` takes them, and its type.
    ///
    /// # Errors
    /// What the system says.
    fn mode(&self, path: &Path) -> io::Result<u32>;

    /// Whether a socket may have this address.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrNotAvailable`] if it is another host's; otherwise what the system says.
    fn bind(&self, address: IpAddr) -> io::Result<()>;

    /// Seconds since 1970.
    fn now(&self) -> i64;
}

/// This machine.
pub(crate) struct Machine;

impl Host for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        Ok(fs::metadata(path)?.mode())
    }

    fn bind(&self, address: IpAddr) -> io::Result<()> {
        // Asking the kernel is surer than a list of addresses: whole networks may be local, or foreign addresses be allowed.
        UdpSocket::bind((address, 0)).map(drop)
    }

    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }
}
