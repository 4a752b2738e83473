//! One log target: standard output, or a file that is renamed, rotated and opened again.
use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use jiff::{Span, ToSpan, Zoned};
use rustix::{fs::OFlags, io::Errno};
use tokio::time::Instant;

use super::format::Format;
use compiler::program::limits::Rotation;

/// How often it is looked whether a file was renamed.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// A log target.
#[derive(Debug)]
pub(crate) struct Sink {
    /// Records that were dropped since it was last said.
    pub(super) dropped: AtomicU64,
    /// The last write failed, and that was said.
    pub(super) failing: AtomicBool,
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
    /// `rotate`: how many older files stay; 0: all.
    keep: u32,
}

/// The name of a file for the period of `rotation` that `at` is in, as 3proxy names logs and reports.
pub(crate) fn dated(path: &Path, rotation: Rotation, at: &Zoned) -> PathBuf {
    Name { path: path.into(), rotation, keep: 0 }.at(at)
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
    pub(crate) fn stdout() -> Self {
        Self { dropped: AtomicU64::new(0), failing: AtomicBool::new(false), kind: Kind::Stdout }
    }

    /// The file `path`, or the one that its `%` letters name now; a new one begins with each period of `rotation`, and the one
    /// of `keep` periods ago is removed (0: none is).
    ///
    /// # Errors
    /// It can't be opened for writing.
    pub(crate) fn file(path: PathBuf, rotation: Rotation, keep: u32) -> io::Result<Self> {
        let name = Name { path, rotation, keep };
        let open = Open::new(&name, &Zoned::now())?;
        Ok(Self {
            dropped: AtomicU64::new(0),
            failing: AtomicBool::new(false),
            kind: Kind::File { name, open: Mutex::new(open) },
        })
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
                let followed = open.follow(name);
                // If the next file can't be opened, the one that is open is better than none.
                open.file.write_all(lines)?;
                followed
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

    /// The file that has become too old at `now`.
    fn outdated(&self, now: &Zoned) -> Option<PathBuf> {
        let keep = i64::from(self.keep);
        let age = match self.rotation {
            _ if keep == 0 => return None,
            Rotation::None | Rotation::Never => return None,
            Rotation::Annually => Span::new().try_years(keep),
            Rotation::Monthly => Span::new().try_months(keep),
            Rotation::Weekly => Span::new().try_weeks(keep),
            Rotation::Daily => Span::new().try_days(keep),
            Rotation::Hourly => Span::new().try_hours(keep),
            Rotation::Minutely => Span::new().try_minutes(keep),
        };
        let then = now.checked_sub(age.ok()?).ok()?;
        Some(self.at(&then)).filter(|path| *path != self.at(now))
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
        let file = append_to(&path)?;
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
        let begins = name.period(&now) != self.period;
        if moved || begins {
            *self = Self::new(name, &now)?;
        }
        if begins && let Some(old) = name.outdated(&now) {
            // Mostly it is there no more, or never was.
            let _ = std::fs::remove_file(old);
        }
        Ok(())
    }
}

/// Opens a file, or a pipe that somebody reads: to open one that nobody does would wait for a reader.
fn append_to(path: &Path) -> io::Result<File> {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().append(true).create(true).custom_flags(nonblocking).open(path);
    let file = opened.map_err(|error| match error.raw_os_error() {
        Some(number) if number == Errno::NXIO.raw_os_error() => {
            io::Error::new(ErrorKind::NotConnected, "nobody reads it")
        }
        _ => error,
    })?;
    // Writing may wait: the thread that does it does nothing else.
    rustix::fs::fcntl_setfl(&file, rustix::fs::fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Name, Rotation, Sink};

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
                Name { path: path.into(), rotation, keep: 0 }.at(&now),
                PathBuf::from(expected),
                "{path} {rotation:?}"
            );
        }
    }

    #[test]
    fn the_file_of_so_many_periods_ago_is_outdated() {
        let now = "2026-03-07T04:05:06+00:00[UTC]".parse::<jiff::Zoned>().unwrap();
        let cases = [
            (Rotation::Daily, 0, None),
            (Rotation::None, 3, None),
            (Rotation::Daily, 7, Some("/l.2026.02.28")),
            (Rotation::Hourly, 5, Some("/l.2026.03.06-23")),
            (Rotation::Weekly, 1, Some("/l.2026.02.22")),
            (Rotation::Monthly, 3, Some("/l.2025.12")),
            (Rotation::Annually, 1, Some("/l.2025")),
        ];
        for (rotation, keep, expected) in cases {
            let name = Name { path: "/l".into(), rotation, keep };
            assert_eq!(name.outdated(&now), expected.map(PathBuf::from), "{rotation:?} {keep}");
        }
        let same_always = Name { path: "/%%l".into(), rotation: Rotation::Daily, keep: 1 };
        assert_eq!(same_always.outdated(&now), None);
    }

    #[test]
    fn a_pipe_is_written_while_somebody_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = Sink::file(path.clone(), Rotation::None, 0).unwrap_err();
        assert_eq!(error.to_string(), "nobody reads it");
        // Both ends: to open one alone would wait for the other.
        let mut reader = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
        Sink::file(path, Rotation::None, 0).unwrap().write(b"a record\n").unwrap();
        let mut record = [0; 9];
        std::io::Read::read_exact(&mut reader, &mut record).unwrap();
        assert_eq!(&record, b"a record\n");
    }
}
