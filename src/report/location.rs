//! Places as other programs count them: paths from the working directory on, columns in characters.
use std::path::{Component, Path};

use compiler::sources::{Loc, Source, Sources};

/// A range of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) path: String,
    /// Line and column, from 1.
    pub(super) start: (u32, u32),
    /// The place behind its last character.
    pub(super) end: (u32, u32),
}

impl Location {
    pub(super) fn of(sources: &Sources, at: Loc) -> Self {
        let Some(source) = sources.get(at.file) else {
            return Self { path: String::new(), start: (1, 1), end: (1, 1) };
        };
        let point = |offset| point(source, offset);
        Self { path: relative(&source.path), start: point(at.span.start), end: point(at.span.end) }
    }
}

/// Line and column of an offset, in characters.
fn point(source: &Source, offset: u32) -> (u32, u32) {
    let at = source.line_column(offset);
    let start = (offset + 1).saturating_sub(at.column) as usize;
    let before = source.text.get(start..offset as usize).unwrap_or_default();
    let characters: usize =
        before.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum();
    (at.line, u32::try_from(characters).unwrap_or(u32::MAX).saturating_add(1))
}

/// A path from the working directory on, if it is below it.
pub(super) fn relative(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let path = path.strip_prefix(&here).unwrap_or(path);
    let parts = path.components().filter(|part| *part != Component::CurDir);
    parts.collect::<std::path::PathBuf>().display().to_string()
}

/// A path as a URI, or as a relative reference.
pub(super) fn uri(path: &Path) -> String {
    let mut uri = if path.is_absolute() { "file://".to_owned() } else { String::new() };
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use compiler::{
        compile,
        sources::{FileId, Loc, MemoryFiles},
    };
    use grammar::Span;

    use super::{Location, relative, uri};

    #[test]
    fn columns_count_characters() {
        let mut files = MemoryFiles::default();
        files.insert("a", b"flush\ncaf\xc3\xa9 \xff x\n".to_vec());
        let compiled = compile(Path::new("a"), &files);
        let location = Location::of(&compiled.sources, Loc { file: FileId(0), span: Span::new(14, 15) });
        assert_eq!((location.start, location.end), ((2, 8), (2, 9)));
    }

    #[test]
    fn paths_are_from_here_on() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(relative(&here.join("a/b.cfg")), "a/b.cfg");
        assert_eq!(relative(Path::new("./a.cfg")), "a.cfg");
        assert_eq!(relative(Path::new("/nowhere/a.cfg")), "/nowhere/a.cfg");
        assert_eq!(uri(Path::new("/a b/ü.cfg")), "file:///a%20b/%C3%BC.cfg");
        assert_eq!(uri(Path::new("a/<stdin>")), "a/%3Cstdin%3E");
    }
}
