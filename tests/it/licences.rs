//! What we depend on: licences from a list, and one version of each crate but for a reasoned few.
//!
//! `deny.toml` says the same to cargo-deny, which also knows advisories; this test needs nothing but cargo.
use std::collections::{BTreeMap, BTreeSet};

use crate::support::repo;

/// Licences that fit beside MIT and Apache-2.0 in a binary that we hand out.
const ALLOWED: &[&str] = &[
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "Apache-2.0 WITH LLVM-exception",
];

/// Crates that stand in Cargo.lock in more than one version, and why that can't be helped now.
const TWICE: &[(&str, &str)] = &[
    ("getrandom", "0.2 is ring's, which only hickory-proto's optional features name: it is not built"),
    ("syn", "openssl-macros is still on 2, clap_derive is on 3: both run at build time only"),
];

#[test]
fn licences_are_on_the_list() {
    let metadata = repo::metadata();
    let mut wrong = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let licence = package["license"].as_str().unwrap_or("none");
        if !acceptable(licence) {
            wrong.insert(package["name"].as_str().unwrap().to_owned(), licence.to_owned());
        }
    }
    assert!(wrong.is_empty(), "licences that are not on the list: {wrong:#?}");
}

/// Whether one of the alternatives of an SPDX expression is on the list as a whole.
fn acceptable(expression: &str) -> bool {
    let flat = expression.replace(['(', ')'], " ").replace('/', " OR ");
    let words = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    words.split(" OR ").any(|choice| choice.split(" AND ").all(|part| ALLOWED.contains(&part.trim())))
}

#[test]
fn expressions_are_read_right() {
    for (expression, expected) in [
        ("MIT", true),
        ("MIT OR GPL-3.0", true),
        ("MIT/Apache-2.0", true),
        ("GPL-3.0", false),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("none", false),
    ] {
        assert_eq!(acceptable(expression), expected, "{expression}");
    }
}

#[test]
fn no_crate_stands_twice_without_a_reason() {
    let metadata = repo::metadata();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let (name, version) = (package["name"].as_str().unwrap(), package["version"].as_str().unwrap());
        versions.entry(name).or_default().insert(version);
    }
    versions.retain(|_, found| found.len() > 1);
    let listed: BTreeSet<&str> = TWICE.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = versions.keys().copied().collect();
    assert_eq!(found, listed, "left: in Cargo.lock twice, right: listed as such; {versions:#?}");
}
