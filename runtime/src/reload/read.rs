//! Files from the disk, none of which may keep its reader waiting for ever or have no end.
use std::{
    fs::{File, FileType},
    io::{self, ErrorKind, Read},
    os::unix::fs::FileTypeExt,
    path::Path,
};

/// The longest text that is read: by one byte more than the compiler takes, so that it sees what is longer.
const MOST_BYTES: u64 = u32::MAX as u64 + 1;

/// Reads a configuration: a regular file, or a pipe, as `<(…)` of a shell is.
///
/// # Errors
/// What the system says, or that it is something else: a device may have no end.
pub fn configuration(path: &Path) -> io::Result<Vec<u8>> {
    read(path, |kind| kind.is_file() || kind.is_fifo())
}

/// Reads what a configuration includes: a regular file. A pipe holds nothing when it is read again, and who reads one
/// that nobody writes to waits for ever.
///
/// # Errors
/// What the system says, or that it is something else.
pub fn included(path: &Path) -> io::Result<Vec<u8>> {
    read(path, FileType::is_file)
}

/// Reads to the end, or as far as the compiler looks.
///
/// # Errors
/// What the system says.
pub fn whole(from: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    from.take(MOST_BYTES).read_to_end(&mut text)?;
    Ok(text)
}

fn read(path: &Path, is_good: impl FnOnce(&FileType) -> bool) -> io::Result<Vec<u8>> {
    // Before it is opened: that alone may wait.
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !is_good(&kind) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    whole(File::open(path)?)
}

#[cfg(test)]
mod tests {
    use std::{path::Path, process::Command};

    use super::{configuration, included};

    /// Whether each may be read, of those that don't wait.
    #[test]
    fn what_has_no_end_or_may_wait_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link, pipe) =
            (folder.path().join("file"), folder.path().join("link"), folder.path().join("pipe"));
        std::fs::write(&file, "flush\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for (path, readable) in [
            (&*file, true),
            (&*link, true),
            (folder.path(), false),
            (Path::new("/dev/zero"), false),
            (Path::new("/dev/tty"), false),
        ] {
            assert_eq!(configuration(path).is_ok(), readable, "{path:?}");
            assert_eq!(included(path).is_ok(), readable, "{path:?}");
        }
        assert!(included(&pipe).is_err());
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, "allow\n")
        });
        assert_eq!(configuration(&pipe).unwrap(), b"allow\n");
        writer.join().unwrap().unwrap();
    }
}
