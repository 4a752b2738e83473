//! What a host says of itself.
#[cfg(test)]
pub(crate) mod recorded;

use std::{
    fs,
    io::{self, Read},
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

    /// The user and the group that a file or folder belongs to.
    ///
    /// # Errors
    /// What the system says.
    fn owner(&self, path: &Path) -> io::Result<(u32, u32)>;

    /// Whether a socket may have this address.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrNotAvailable`] if it is another host's; otherwise what the system says.
    fn bind(&self, address: IpAddr) -> io::Result<()>;

    /// Seconds since 1970.
    fn now(&self) -> i64;
}

/// No file that tells of a host, and no certificate, is longer: more is not read. In bytes.
const LONGEST: u64 = 16 << 20;

/// This machine.
pub(crate) struct Machine;

impl Host for Machine {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // A pipe may never end, nor begin.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let mut bytes = Vec::new();
        fs::File::open(path)?.take(LONGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        Ok(fs::metadata(path)?.mode())
    }

    fn owner(&self, path: &Path) -> io::Result<(u32, u32)> {
        fs::metadata(path).map(|metadata| (metadata.uid(), metadata.gid()))
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

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, path::Path};

    use super::{Host, Machine};

    #[test]
    fn this_machine_is_asked() {
        assert!(!Machine.read(Path::new("/proc/self/limits")).unwrap().is_empty());
        assert!(Machine.read(Path::new("/dev/zero")).is_err() && Machine.read(Path::new("/")).is_err());
        assert!(Machine.bind(Ipv4Addr::LOCALHOST.into()).is_ok());
        assert!(Machine.mode(Path::new("/nowhere")).is_err());
        assert!(Machine.owner(Path::new("/")).is_ok() && Machine.owner(Path::new("/nowhere")).is_err());
        assert!(Machine.now() > 1_700_000_000);
    }
}
