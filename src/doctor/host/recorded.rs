//! A host that was written down: tests/cases/doctor/NAME.json.
use std::{
    collections::HashMap,
    io::{self, ErrorKind},
    net::IpAddr,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::Host;

/// What a host said of itself, as far as anybody asks.
#[derive(Deserialize)]
pub(crate) struct Recorded {
    now: i64,
    /// Addresses and networks that sockets may have.
    addresses: Vec<String>,
    /// Kernel settings by name.
    sysctl: HashMap<String, String>,
    files: HashMap<PathBuf, String>,
    /// Octal.
    modes: HashMap<PathBuf, String>,
    /// Those that are not root's.
    #[serde(default)]
    owners: HashMap<PathBuf, u32>,
}

impl Recorded {
    /// The host of this name.
    pub(crate) fn named(name: &str) -> Self {
        let path = format!("{}/tests/cases/doctor/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// The same with a file or folder of another user.
    pub(crate) fn owned(mut self, path: &str, user: u32) -> Self {
        self.owners.insert(path.into(), user);
        self
    }

    /// The same with another kernel setting, file, or mode (where the value is octal): `-` takes it away.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        let path = PathBuf::from(name);
        let octal =
            value.len() > 3 && value.starts_with('0') && value.bytes().all(|byte| byte.is_ascii_digit());
        let gone = value == "-";
        if gone {
            self.files.remove(&path);
            self.sysctl.remove(name);
            self.modes.remove(&path);
        } else if octal {
            self.modes.insert(path, value.to_owned());
        } else if name.contains('/') {
            self.files.insert(path, value.to_owned());
        } else {
            self.sysctl.insert(name.to_owned(), value.to_owned());
        }
        self
    }
}

impl Host for Recorded {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let setting =
            path.strip_prefix("/proc/sys").ok().map(|name| name.to_str().unwrap().replace('/', "."));
        let text = match setting {
            Some(name) => self.sysctl.get(&name),
            None => self.files.get(path),
        };
        text.map(|text| text.clone().into_bytes()).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn mode(&self, path: &Path) -> io::Result<u32> {
        let mode = self.modes.get(path).ok_or(ErrorKind::NotFound)?;
        Ok(u32::from_str_radix(mode, 8).unwrap())
    }

    fn owner(&self, path: &Path) -> io::Result<(u32, u32)> {
        self.mode(path).map(|_| (self.owners.get(path).copied().unwrap_or_default(), 0))
    }

    fn bind(&self, address: IpAddr) -> io::Result<()> {
        let here = self.addresses.iter().any(|own| match own.split_once('/') {
            Some((network, length)) => match (network.parse().unwrap(), address) {
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    (network.to_bits() ^ address.to_bits()) >> (128 - length.parse::<u32>().unwrap()) == 0
                }
                _ => false,
            },
            None => own.parse::<IpAddr>().unwrap() == address,
        });
        if here { Ok(()) } else { Err(ErrorKind::AddrNotAvailable.into()) }
    }

    fn now(&self) -> i64 {
        self.now
    }
}
