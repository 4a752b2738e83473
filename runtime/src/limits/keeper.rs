//! What quotas have counted, over restarts: the counter file, and reports.
//!
//! The file is written beside itself and renamed, so that it is whole at every moment; every [`SAVE_EVERY`] if something was counted,
//! when the process drains, and when another configuration comes into force. That is what a crash can lose.
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use compiler::program::limits::Rotation;
use grammar::Text;
use jiff::{Timestamp, tz::TimeZone};
use tokio::time::Duration;

use super::{
    counter_file::{CounterFile, Damage, LONGEST, Record},
    period,
    traffic::Quota,
};
use crate::{
    log,
    replace::{Beside, replace},
};

/// How often what was counted is written: a crash loses what was counted since.
pub(crate) const SAVE_EVERY: Duration = Duration::from_secs(10);

/// A counter file on the disk.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    /// What is to stand in it, and whether it does.
    contents: Mutex<(CounterFile, bool)>,
    /// The last attempt to write it failed, and that was said.
    pub(super) failing: AtomicBool,
}

/// Why a counter file can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    /// What stands in it.
    #[error("`{}` {damage}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        damage: Damage,
    },
    /// It can't be read, or nothing can be written beside it.
    #[error("`{}` can't be read and replaced: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
}

impl Store {
    /// Reads the file, if there is one, and makes sure that it can be replaced.
    ///
    /// # Errors
    /// It can't be used. It is as it was.
    pub(super) fn open(path: PathBuf) -> Result<Self, Unusable> {
        let fails = |error| Unusable::Io { path: path.clone(), error };
        let bytes = read(&path).map_err(fails)?;
        Beside::of(&path).map_err(fails)?;
        let is_there = !bytes.is_empty();
        let damaged = |damage| Unusable::Damaged { path: path.clone(), damage };
        if bytes.len() as u64 > LONGEST {
            return Err(damaged(Damage::TooLong));
        }
        let file = CounterFile::read(bytes).map_err(damaged)?;
        Ok(Self { path, contents: Mutex::new((file, is_there)), failing: AtomicBool::new(false) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What is kept of a number.
    ///
    /// # Errors
    /// Its record is damaged.
    pub(super) fn record(&self, number: u32) -> Result<Option<Record>, Unusable> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.0.record(number).map_err(|damage| Unusable::Damaged { path: self.path.clone(), damage })
    }
}

/// A line whose count is kept or reported.
#[derive(Debug)]
pub(super) struct Line {
    /// Its number; 0: it is only reported.
    pub(super) number: u32,
    pub(super) comment: Text,
    pub(super) quota: Arc<Quota>,
}

/// The counter file of a configuration, and what it keeps there.
#[derive(Debug)]
pub(super) struct Keeper {
    pub(super) store: Arc<Store>,
    pub(super) lines: Vec<Line>,
    /// How often there is a report, and its path.
    pub(super) report: Option<(Rotation, PathBuf)>,
}

impl Keeper {
    /// Writes what was counted, if something was since the last time, and the report of a period that is over.
    ///
    /// # Errors
    /// What the system says, and of which file. What is not written is written the next time.
    pub(super) fn save(&self, now: i64) -> Result<(), (PathBuf, io::Error)> {
        let mut contents = self.store.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let (file, is_written) = &mut *contents;
        let written = file.written();
        let reported = self.report(written, now);
        let mut records: Vec<(u32, Record)> = Vec::new();
        for line in self.lines.iter().filter(|line| line.number > 0) {
            let counted = line.quota.counted(now);
            let record = Record { used: counted.used, began: counted.began, updated: counted.updated };
            records.push((line.number, record));
        }
        // Of lines with one number the last counts, as in 3proxy.
        for (number, record) in records {
            // A damaged one was refused when the file was opened.
            if file.record(number) != Ok(Some(record)) {
                file.set(number, record);
                *is_written = false;
            }
        }
        let is_over = self.report.as_ref().is_some_and(|(rotation, _)| is_over(*rotation, written, now));
        if !*is_written || is_over {
            if reported.is_ok() {
                file.set_written(now);
            }
            replace(&self.store.path, file.bytes()).map_err(|error| (self.store.path.clone(), error))?;
            *is_written = true;
        }
        reported
    }

    /// Writes the report of the period that `written` was in, if that is over.
    fn report(&self, written: i64, now: i64) -> Result<(), (PathBuf, io::Error)> {
        let Some((rotation, path)) = &self.report else { return Ok(()) };
        if written == 0 || !is_over(*rotation, written, now) {
            return Ok(());
        }
        let Ok(then) = Timestamp::from_second(written) else { return Ok(()) };
        let path = log::dated(path, *rotation, &then.to_zoned(TimeZone::system()));
        let mut text = Vec::new();
        let is_as_long = |line: &&Line| length(line.quota.rotation) >= length(*rotation);
        for line in self.lines.iter().filter(is_as_long) {
            let counted = line.quota.counted(now);
            // A count that began anew with the period that is now: its own period is over, too.
            let bytes = if counted.began > written { counted.before } else { counted.used };
            text.extend_from_slice(format!("{:05} {bytes:020} #", line.number).as_bytes());
            text.extend_from_slice(line.comment.as_bytes());
            text.push(b'\n');
        }
        replace(&path, &text).map_err(|error| (path, error))
    }

    /// Whether the last failure was said. It is from now on; or is not, if there was none.
    pub(super) fn says(&self, fails: bool) -> bool {
        self.store.failing.swap(fails, Ordering::Relaxed)
    }
}

/// Orders periods; one that never ends is the longest.
const fn length(rotation: Rotation) -> u8 {
    match rotation {
        Rotation::None => 0,
        Rotation::Minutely => 1,
        Rotation::Hourly => 2,
        Rotation::Daily => 3,
        Rotation::Weekly => 4,
        Rotation::Monthly => 5,
        Rotation::Annually => 6,
        Rotation::Never => 7,
    }
}

fn is_over(rotation: Rotation, written: i64, now: i64) -> bool {
    written > 0 && period::end(rotation, written, &TimeZone::system()).is_some_and(|end| end <= now)
}

/// What stands in a file; nothing, if there is none.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        metadata => metadata?,
    };
    // Looked at before it is opened: a pipe would wait for its writer.
    if !metadata.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    // One more than there may be shows that there is too much.
    File::open(path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
