//! Whatever is written, the whole compiler has an answer, and its findings point into the text.
//!
//! What stands behind a line `%%` is the file `more`, so that `include more` and `$more` reach something.
#![no_main]

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
    let compiled = compiler::compile(Path::new("main"), &files);
    for finding in &compiled.findings {
        let edits = finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.at);
        for at in [finding.at].into_iter().chain(finding.labels.iter().map(|label| label.at)).chain(edits) {
            let source = compiled.sources.get(at.file).expect("a finding is in a text that was read");
            assert!(at.span.start <= at.span.end && at.span.end as usize <= source.text.len());
        }
        if let Some(fix) = &finding.fix {
            for (file, source) in compiled.sources.iter() {
                fix.apply(file, &source.text);
            }
        }
    }
});
