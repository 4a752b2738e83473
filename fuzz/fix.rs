//! A fix never adds a finding, and a safe one never changes what another line does.
//!
//! What stands behind a line `%%` is the file `more`, so that `include more` and `$more` reach something.
#![no_main]

#[path = "../tests/it/support/mending.rs"]
mod mending;

use std::path::Path;

use compiler::sources::MemoryFiles;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &[u8]| {
    let mark = b"\n%%\n";
    let at = source.windows(mark.len()).position(|window| window == mark);
    let (main, more) = at.map_or((source, &[][..]), |at| (&source[..at + 1], &source[at + mark.len()..]));
    let mut files = MemoryFiles::default();
    files.insert("main", main);
    files.insert("more", more);
    mending::hold(Path::new("main"), &files);
});
