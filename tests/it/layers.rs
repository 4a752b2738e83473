//! Who may depend on whom: grammar ← compiler ← runtime; grammar, compiler ← lsp; all ← cfgc.
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::repo;

/// For each package of the workspace: the ones that it may use directly.
const LAYERS: [(&str, &[&str]); 5] = [
    ("grammar", &[]),
    ("compiler", &["grammar"]),
    ("runtime", &["compiler", "grammar"]),
    ("lsp", &["compiler", "grammar"]),
    ("cfgc", &["compiler", "grammar", "lsp", "runtime"]),
];

/// What `check` must not be able to do: run a network, write to a terminal, read a clock.
const FOREIGN_TO_CHECK: &[&str] = &[
    "annotate-snippets",
    "anstyle",
    "clap",
    "hickory-proto",
    "jiff",
    "mio",
    "notify",
    "openssl",
    "socket2",
    "tokio",
];

#[test]
fn packages_use_only_lower_ones() {
    let uses = direct_dependencies(&repo::metadata());
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in LAYERS {
        let wrong: Vec<_> = uses[name]
            .iter()
            .filter(|used| known.contains(used.as_str()) && !allowed.contains(&used.as_str()))
            .collect();
        assert!(wrong.is_empty(), "`{name}` must not use {wrong:?}");
    }
}

#[test]
fn every_package_has_its_layer() {
    let metadata = repo::metadata();
    let members: BTreeSet<&str> = metadata["workspace_members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| package_name(&metadata, id))
        .collect();
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    assert_eq!(members, known);
}

#[test]
fn grammar_and_compiler_know_neither_network_nor_terminal() {
    let metadata = repo::metadata();
    for package in ["grammar", "compiler"] {
        let wrong: Vec<_> = reachable(&metadata, package)
            .into_iter()
            .filter(|name| FOREIGN_TO_CHECK.contains(&name.as_str()))
            .collect();
        assert!(wrong.is_empty(), "`{package}` must not reach {wrong:?}");
    }
}

#[test]
fn the_language_server_and_the_runtime_do_not_know_each_other() {
    let metadata = repo::metadata();
    assert!(!reachable(&metadata, "lsp").contains("runtime"));
    assert!(!reachable(&metadata, "runtime").contains("lsp"));
}

fn package_name<'m>(metadata: &'m Value, id: &Value) -> &'m str {
    let packages = metadata["packages"].as_array().unwrap();
    packages.iter().find(|package| package["id"] == *id).unwrap()["name"].as_str().unwrap()
}

/// Direct dependencies of each package, those for its tests left out.
fn direct_dependencies(metadata: &Value) -> BTreeMap<String, Vec<String>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let used = package["dependencies"].as_array().unwrap().iter();
            let normal = used.filter(|dependency| dependency["kind"].is_null());
            (text(&package["name"]), normal.map(|dependency| text(&dependency["name"])).collect())
        })
        .collect()
}

/// Everything that is linked into `package`.
fn reachable(metadata: &Value, package: &str) -> BTreeSet<String> {
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap();
    let members = metadata["workspace_members"].as_array().unwrap();
    let start = members.iter().find(|id| package_name(metadata, id) == package).unwrap();
    let (mut seen, mut queue) = (BTreeSet::new(), vec![start.clone()]);
    while let Some(id) = queue.pop() {
        let node = nodes.iter().find(|node| node["id"] == id).unwrap();
        for dependency in node["deps"].as_array().unwrap() {
            let kinds = dependency["dep_kinds"].as_array().unwrap();
            let linked = kinds.iter().any(|kind| kind["kind"].is_null());
            if linked && seen.insert(package_name(metadata, &dependency["pkg"]).to_owned()) {
                queue.push(dependency["pkg"].clone());
            }
        }
    }
    seen
}
