//! The examples: each says what it is for, checks clean, passes its tests, and stands in the README.
use std::{ffi::OsStr, path::PathBuf};

use crate::support::{cfgc, repo};

fn examples() -> Vec<PathBuf> {
    let found = files("cfg");
    assert!(found.len() >= 6, "{found:?}");
    found
}

fn files(extension: &str) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(repo::root().join("examples")).unwrap();
    let all = folder.map(|entry| entry.unwrap().path());
    let mut found: Vec<_> = all.filter(|path| path.extension() == Some(OsStr::new(extension))).collect();
    found.sort();
    found
}

/// `NAME.test.toml` tests `NAME.cfg`, all of the service that it is about.
#[test]
fn each_that_has_tests_passes_them() {
    let suites = files("toml");
    assert!(!suites.is_empty());
    for suite in suites {
        let config = suite.with_extension("").with_extension("cfg");
        let output = cfgc::command().args(["test", "--coverage"]).arg(&config).arg(&suite).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{}:\n{said}", suite.display());
        assert!(said.contains(" passed, 0 failed\n") && !said.contains("no test reaches"), "{said}");
    }
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
    for example in examples().into_iter().chain(files("toml")) {
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
