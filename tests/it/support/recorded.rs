//! What is recorded: cases of several files, and 3proxy's behaviour.
use compiler::sources::MemoryFiles;
use serde_json::Value;

use super::repo;

/// The name of a case's first file.
pub(crate) const MAIN: &str = "3proxy.cfg";

/// The files of a case: behind a line `#@ NAME` stands a further one. The main file's text is given once more.
pub(crate) fn files(case: &str) -> (MemoryFiles, String) {
    let mut files = MemoryFiles::default();
    let mut parts = case.split("\n#@ ");
    let main = format!("{}\n", parts.next().unwrap_or_default());
    files.insert(MAIN, main.as_str());
    for part in parts {
        let (name, text) =
            part.split_once('\n').unwrap_or_else(|| panic!("nothing stands behind `#@ {part}`"));
        files.insert(name, text);
    }
    (files, main)
}

/// The golden cases.
pub(crate) fn golden() -> Vec<Value> {
    let text = std::fs::read_to_string(repo::root().join("tests/golden/golden_dev.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
