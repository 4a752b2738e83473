//! Files from the disk, none of which may keep its reader waiting for ever or have no end.
use std::{
    fs::{File, FileType, Metadata, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
    thread,
    time::Duration,
};

use compiler::sources::LONGEST;
use rustix::fs::{OFlags, fcntl_setfl};

/// By one byte more than the compiler takes, so that it sees what is longer.
const MOST_BYTES: u64 = LONGEST as u64 + 1;
/// A text is read in such parts; one that is mostly NUL is none.
const PART: u64 = 1 << 16;

/// What is looked at to tell a text.
const HEAD: usize = 4096;

/// A named pipe to which nobody writes is looked at again this many times: for ten seconds.
const LOOKS: u32 = 1_000;
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Reads a configuration: a regular file, or a pipe, as `<(…)` of a shell is. Of a named pipe somebody else has to hold the other end, or to open
/// it soon; how long they then take to write is theirs.
///
/// # Errors
/// What the system says, or that it is something else: a device may have no end. [`ErrorKind::InvalidData`]: it is no text.
pub fn configuration(path: &Path) -> io::Result<Vec<u8>> {
    read(path, |kind| kind.is_file() || kind.is_fifo(), LOOKS).and_then(text)
}

/// Reads a configuration from standard input.
///
/// # Errors
/// As [`configuration`].
pub fn stream(from: impl Read) -> io::Result<Vec<u8>> {
    whole(from).and_then(text)
}

/// Refuses what is no text: nobody could say more of it than that.
pub(super) fn text(text: Vec<u8>) -> io::Result<Vec<u8>> {
    let head = text.get(..HEAD).unwrap_or(&text);
    let nul = head.iter().filter(|byte| **byte == 0).count();
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        let why = "it is UTF-16, which 3proxy does not read: save it as UTF-8";
        return Err(io::Error::new(ErrorKind::InvalidData, why));
    }
    // A stray one is a finding.
    if nul > 1 && nul * 100 > head.len() || is_noise(head) {
        return Err(io::Error::new(ErrorKind::InvalidData, "it holds binary data"));
    }
    Ok(text)
}

/// Whether control characters are strewn over it, as in compressed and in random data: of these a tenth of the bytes are some, in a text of
/// whatever encoding hardly one.
fn is_noise(head: &[u8]) -> bool {
    let controls = head.iter().filter(|byte| matches!(byte, 1..=8 | 14..=26 | 28..=31 | 127)).count();
    controls > 2 && controls * 50 > head.len()
}

/// Reads what a configuration includes: a regular file. A pipe holds nothing when it is read again, and who reads one
/// that nobody writes to waits for ever.
///
/// # Errors
/// What the system says, or that it is something else.
pub fn included(path: &Path) -> io::Result<Vec<u8>> {
    regular(path).and_then(text)
}

/// Reads a regular file, whatever it holds.
///
/// # Errors
/// What the system says, or that it is something else.
pub(crate) fn regular(path: &Path) -> io::Result<Vec<u8>> {
    read(path, FileType::is_file, 0)
}

/// Reads to the end, or as far as the compiler looks.
///
/// # Errors
/// What the system says, or that it is no text: what comes from a device may have no end.
fn whole(mut from: impl Read) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        let before = text.len();
        let left = MOST_BYTES.saturating_sub(before as u64);
        let read = from.by_ref().take(left.min(PART)).read_to_end(&mut text)?;
        let nul = text.iter().skip(before).filter(|byte| **byte == 0).count();
        // Not more than half of it: UTF-16, of which the compiler says more.
        if read as u64 == PART && nul > read / 2 {
            return Err(io::Error::new(ErrorKind::InvalidData, "it holds binary data"));
        }
        if read == 0 || text.len() as u64 == MOST_BYTES {
            return Ok(text);
        }
    }
}

fn read(path: &Path, is_good: impl Fn(&FileType) -> bool, looks: u32) -> io::Result<Vec<u8>> {
    // Before it is opened: that alone may wait.
    let metadata = std::fs::metadata(path)?;
    look(&metadata, &is_good)?;
    if metadata.file_type().is_fifo() {
        return pipe(path, looks);
    }
    // Files that the kernel makes up are called regular, and some wait for what comes next, as `/proc/kmsg` does.
    let file =
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    look(&file.metadata()?, |kind| is_good(kind) && !kind.is_fifo())?;
    whole(file).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => io::Error::new(ErrorKind::InvalidInput, "it has no end"),
        _ => error,
    })
}

/// Reads a pipe. To open one that has a name waits for whoever opens its other end, be it for ever: so it is opened without waiting,
/// and looked at again and again until somebody is there.
fn pipe(path: &Path, looks: u32) -> io::Result<Vec<u8>> {
    // That of a shell has no name, and its other end is or was open.
    if std::fs::canonicalize(path).is_err() {
        return whole(File::open(path)?);
    }
    let mut file =
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)?;
    let mut left = looks;
    let mut start = [0; 1];
    let start = loop {
        match file.read(&mut start) {
            Ok(0) if left == 0 => {
                return Err(io::Error::new(ErrorKind::TimedOut, "it is a pipe to which nobody writes"));
            }
            Ok(0) => {
                left -= 1;
                thread::sleep(LOOK_AGAIN);
            }
            Ok(_) => break start.as_slice(),
            // Somebody is there, and has written nothing yet.
            Err(error) if error.kind() == ErrorKind::WouldBlock => break &[],
            Err(error) => return Err(error),
        }
    };
    fcntl_setfl(&file, OFlags::empty())?;
    whole(start.chain(file))
}

/// Refuses what is not to be read.
fn look(metadata: &Metadata, is_good: impl Fn(&FileType) -> bool) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !is_good(&kind) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    if metadata.len() >= MOST_BYTES {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is longer than 1 GiB"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{io, path::Path, process::Command};

    use super::{MOST_BYTES, PART, configuration, included, whole};

    /// What is read to the end of a stream that has one.
    fn read(stream: impl io::Read) -> Option<usize> {
        whole(stream).ok().map(|text| text.len())
    }

    #[test]
    fn a_stream_is_read_while_it_is_text() {
        use io::Read;
        let part = usize::try_from(PART).unwrap();
        let mut binary = io::repeat(0);
        assert_eq!(read(&mut binary), None);
        let late = io::repeat(b'#').take(3 * PART).chain(io::repeat(0));
        assert_eq!(read(late), None);
        // A few are findings, and UTF-16 has its own.
        assert_eq!(read(&b"allow\0\n"[..]), Some(7));
        assert_eq!(read(vec![0; part - 1].as_slice()), Some(part - 1));
        assert_eq!(read(b"a\0".repeat(part).as_slice()), Some(2 * part));
    }

    #[test]
    fn what_is_no_text_is_refused_and_old_encodings_are_texts() {
        let mut seed = 1_u64;
        let noise = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 56) as u8
        });
        let noise: Vec<u8> = noise.filter(|byte| *byte != 0).take(100_000).collect();
        for length in [100, 1_000, 100_000] {
            assert!(super::stream(&noise[..length]).is_err(), "{length}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("noise");
        std::fs::write(&file, &noise).unwrap();
        assert_eq!(included(&file).unwrap_err().to_string(), "it holds binary data");
        // A gzipped configuration of 60 bytes.
        let gzip = b"\x1f\x8b\x08\x08\x9a\x4e\x01\x02\x02\x03a\xcb\x2c\xc9\x57\xc8\x2c\xc8\xcf\xcb\xac\x4a\x05\x11\x1c\x06";
        assert!(super::stream(&gzip[..]).is_err());
        for text in [
            // Each letter of Latin-1 and CP1251, and what terminals and old systems leave in texts.
            [b"# ".as_slice(), &(128..=255).collect::<Vec<u8>>(), b"\nproxy\n"].concat(),
            b"# \x1b[31mred\x1b[0m\r\n\x0cproxy\n\x1a".to_vec(),
            b"allow \x01\x02\n".to_vec(),
            "# Grüße, Привет, 你好\nproxy\n".as_bytes().to_vec(),
        ] {
            assert_eq!(super::stream(text.as_slice()).ok().as_ref(), Some(&text));
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MOST_BYTES).unwrap();
        assert_eq!(included(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        file.set_len(MOST_BYTES - 1).unwrap();
        assert_eq!(
            included(&path).unwrap_err().kind(),
            io::ErrorKind::InvalidData,
            "it holds nothing but NUL"
        );
    }

    /// Some of its files are called regular, but wait for what comes next: who may read them is told so.
    #[test]
    fn what_the_kernel_makes_up_keeps_nobody_waiting() {
        assert!(included(Path::new("/proc/kmsg")).is_err());
        assert!(included(Path::new("/proc/self/pagemap")).is_err());
    }

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
        let nobody = super::read(&pipe, |_| true, 0).unwrap_err();
        assert_eq!(nobody.to_string(), "it is a pipe to which nobody writes");
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::write(pipe, "allow\n")
        });
        assert_eq!(configuration(&pipe).unwrap(), b"allow\n");
        writer.join().unwrap().unwrap();
    }
}
