//! One log target: standard output, or a file that is renamed, rotated and opened again.
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use jiff::{ToSpan, Zoned};
use tokio::time::Instant;

use super::format::Format;
use compiler::program::limits::Rotation;

/// How often it is looked whether a file was renamed.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// A log target.
#[derive(Debug)]
pub struct Sink {
    /// Records that were dropped since it was last said.
    pub(super) dropped: AtomicU64,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Stdout,
    File { name: Name, open: Mutex<Open> },
}

/// The name of a log file at a time.
#[derive(Debug)]
struct Name {
    path: PathBuf,
    rotation: Rotation,
}

/// The file that is being written.
#[derive(Debug)]
struct Open {
    path: PathBuf,
    file: File,
    /// Device and inode, to see that the path leads elsewhere now.
    identity: (u64, u64),
    /// The rotation period that it was opened in.
    period: String,
    looked: Instant,
}

impl Sink {
    /// Standard output.
    #[must_use]
    pub fn stdout() -> Self {
        Self { dropped: AtomicU64::new(0), kind: Kind::Stdout }
    }

    /// The file `path`, or the one that its `%` letters name now; a new one begins with each period of `rotation`.
    ///
    /// # Errors
    /// It can't be opened for writing.
    pub fn file(path: PathBuf, rotation: Rotation) -> io::Result<Self> {
        let name = Name { path, rotation };
        let open = Open::new(&name, &Zoned::now())?;
        Ok(Self { dropped: AtomicU64::new(0), kind: Kind::File { name, open: Mutex::new(open) } })
    }

    /// Writes lines. Only the writing thread calls this.
    pub(super) fn write(&self, lines: &[u8]) -> io::Result<()> {
        match &self.kind {
            Kind::Stdout => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(lines)?;
                stdout.flush()
            }
            Kind::File { name, open } => {
                // A panic of another writer, if there ever were one, leaves a file that can still be appended to.
                let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
                open.follow(name)?;
                open.file.write_all(lines)
            }
        }
    }
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Stdout => f.write_str("on standard output"),
            Kind::File { name, .. } => write!(f, "`{}`", name.path.display()),
        }
    }
}

impl Name {
    /// The path at `now`, as 3proxy makes it: `%` letters if there are any, else the period's date behind the name.
    fn at(&self, now: &Zoned) -> PathBuf {
        use std::os::unix::ffi::{OsStrExt, OsStringExt};
        let pattern = self.path.as_os_str().as_bytes();
        if pattern.contains(&b'%') {
            return std::ffi::OsString::from_vec(Format::render_name(pattern, now)).into();
        }
        let date = self.period(now);
        if date.is_empty() {
            return self.path.clone();
        }
        let mut name = self.path.clone().into_os_string();
        name.push(".");
        name.push(date);
        name.into()
    }

    /// What is equal for all moments of one rotation period.
    fn period(&self, now: &Zoned) -> String {
        let (day, format) = match self.rotation {
            Rotation::None | Rotation::Never => return String::new(),
            Rotation::Annually => (now.clone(), "%Y"),
            Rotation::Monthly => (now.clone(), "%Y.%m"),
            Rotation::Weekly => {
                let since_sunday = i64::from(now.weekday().to_sunday_zero_offset());
                (now.checked_sub(since_sunday.days()).unwrap_or_else(|_| now.clone()), "%Y.%m.%d")
            }
            Rotation::Daily => (now.clone(), "%Y.%m.%d"),
            Rotation::Hourly => (now.clone(), "%Y.%m.%d-%H"),
            Rotation::Minutely => (now.clone(), "%Y.%m.%d-%H.%M"),
        };
        day.strftime(format).to_string()
    }
}

impl Open {
    fn new(name: &Name, now: &Zoned) -> io::Result<Self> {
        let path = name.at(now);
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        Ok(Self { path, file, identity, period: name.period(now), looked: Instant::now() })
    }

    /// Opens the file that is to be written now, if that is another: its period has begun, or it was renamed or removed.
    fn follow(&mut self, name: &Name) -> io::Result<()> {
        let now = Zoned::now();
        let moved = self.looked.elapsed() >= LOOK_AFTER && {
            self.looked = Instant::now();
            identity(&self.path) != Some(self.identity)
        };
        if moved || name.period(&now) != self.period {
            *self = Self::new(name, &now)?;
        }
        Ok(())
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Name, Rotation};

    #[test]
    fn a_file_is_named_by_its_period() {
        let now = "2026-03-07T04:05:06+00:00[UTC]".parse::<jiff::Zoned>().unwrap();
        let cases = [
            ("/l", Rotation::None, "/l"),
            ("/l", Rotation::Never, "/l"),
            ("/l", Rotation::Annually, "/l.2026"),
            ("/l", Rotation::Monthly, "/l.2026.03"),
            ("/l", Rotation::Weekly, "/l.2026.03.01"),
            ("/l", Rotation::Daily, "/l.2026.03.07"),
            ("/l", Rotation::Hourly, "/l.2026.03.07-04"),
            ("/l", Rotation::Minutely, "/l.2026.03.07-04.05"),
            ("/l-%Y%m%d.log", Rotation::Daily, "/l-20260307.log"),
        ];
        for (path, rotation, expected) in cases {
            assert_eq!(
                Name { path: path.into(), rotation }.at(&now),
                PathBuf::from(expected),
                "{path} {rotation:?}"
            );
        }
    }
}
