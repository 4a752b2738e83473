//! Standard output, which says what it is when it can't be written.
use std::io::{self, BufWriter, StdoutLock, Write};

/// Standard output, in larger parts: flush it at the end.
pub(crate) fn stdout() -> impl Write {
    BufWriter::new(Stdout(io::stdout().lock()))
}

struct Stdout(StdoutLock<'static>);

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| unprinted(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| unprinted(&error))
    }
}

/// That it can't be written.
pub(crate) fn unprinted(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output can't be written: {error}"))
}
