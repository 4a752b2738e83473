//! The examples: each says what it is for, checks clean, and stands in the README.
use std::path::PathBuf;

use crate::support::{cfgc, repo};

fn examples() -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repo::root().join("examples")).unwrap();
    let mut found: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(found.len() >= 6, "{found:?}");
    found
}

#[test]
fn each_checks_clean() {
    for example in examples() {
        let output = cfgc::command()
            .args(["check", "--deny-warnings", "--format", "short"])
            .arg(&example)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}:\n{said}", example.display());
        assert!(!said.contains("deny[") && !said.contains("warn["), "{}:\n{said}", example.display());
    }
}

#[test]
fn each_says_first_what_it_is_for() {
    for example in examples() {
        let text = std::fs::read_to_string(&example).unwrap();
        assert!(
            text.starts_with("# ") && text.lines().next().unwrap().ends_with(['.', ':']),
            "{}",
            example.display()
        );
    }
}

#[test]
fn the_readme_names_each() {
    let readme = std::fs::read_to_string(repo::root().join("README.md")).unwrap();
    for example in examples() {
        let name = repo::shown(&example);
        assert!(readme.contains(&format!("]({name})")), "{name}");
    }
}
