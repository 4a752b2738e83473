//! House rules that no compiler lint holds: file heads, lengths, words that must not stand in the tree.
use std::path::Path;

use syn::{spanned::Spanned, visit::Visit};

use crate::support::repo;

/// Lines of a file, at most.
const FILE: usize = 500;
/// Lines of a function, at most, from its signature to its closing brace.
const FUNCTION: usize = 80;

/// Runs `judge` over every Rust file, and fails with all that it says.
fn every_file(judge: impl Fn(&Path, &str) -> Vec<String>) {
    let mut faults = Vec::new();
    for path in repo::rust_files() {
        let text = std::fs::read_to_string(&path).unwrap();
        faults
            .extend(judge(&path, &text).into_iter().map(|fault| format!("{}: {fault}", repo::shown(&path))));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn files_say_what_they_are_for() {
    every_file(|_, text| match text.lines().next() {
        Some(line) if line.starts_with("//! ") && line.len() > "//! ".len() => vec![],
        _ => vec!["begins with no `//!` line".into()],
    });
}

#[test]
fn files_are_short() {
    every_file(|_, text| match text.lines().count() {
        n if n > FILE => vec![format!("{n} lines, more than {FILE}: split it by subject")],
        _ => vec![],
    });
}

#[test]
fn functions_are_short() {
    every_file(|path, text| {
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut long = LongFunctions::default();
        long.visit_file(&file);
        long.found
    });
}

#[test]
fn nothing_is_left_for_later() {
    // Written in halves, so that this file passes its own test.
    let words = [
        ["to", "do!("],
        ["unimple", "mented!("],
        ["FIX", "ME"],
        ["XX", "X "],
        ["#[al", "low("],
        ["#![al", "low("],
    ]
    .map(|half| half.concat());
    every_file(|_, text| {
        let lines = text.lines().enumerate();
        let marked = lines.filter_map(|(n, line)| {
            let word = words.iter().find(|word| line.contains(word.as_str()))?;
            Some(format!("line {}: `{word}`", n + 1))
        });
        marked.collect()
    });
}

/// The words in backticks of the architecture page.
fn named_in_architecture() -> Vec<String> {
    let page = std::fs::read_to_string(repo::root().join("docs/architecture.md")).unwrap();
    page.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn the_architecture_page_names_no_rust_file_that_is_not_there() {
    let files = repo::rust_files();
    let gone: Vec<_> = named_in_architecture()
        .into_iter()
        .filter(|name| name.ends_with(".rs") && !files.iter().any(|file| file.ends_with(name)))
        .collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn the_architecture_page_names_every_file_at_the_top_of_a_package() {
    let named = named_in_architecture();
    let tops = ["src", "grammar/src", "compiler/src", "runtime/src", "lsp/src", "tests/it"];
    let unnamed: Vec<_> = repo::rust_files()
        .into_iter()
        .filter(|file| tops.iter().any(|top| file.parent() == Some(&repo::root().join(top))))
        .filter(|file| !file.ends_with("lib.rs") && !file.ends_with("main.rs"))
        .filter(|file| {
            // By itself, or by its folder.
            let stem = file.file_stem().unwrap().to_str().unwrap();
            let of_it = |name: &&str| *name == format!("{stem}.rs") || *name == stem;
            !named.iter().any(|name| name.split('/').any(|part| of_it(&part)))
        })
        .map(|file| repo::shown(&file))
        .collect();
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

/// Characters of a line of the architecture page, at most: one file or group of files a line.
const PAGE_LINE: usize = 200;

#[test]
fn the_architecture_page_has_short_lines() {
    let page = std::fs::read_to_string(repo::root().join("docs/architecture.md")).unwrap();
    let long = |(_, line): &(usize, &str)| line.chars().count() > PAGE_LINE;
    let long: Vec<_> = page.lines().enumerate().filter(long).map(|(n, _)| n + 1).collect();
    assert!(long.is_empty(), "lines {long:?} have more than {PAGE_LINE} characters");
}

#[derive(Default)]
struct LongFunctions {
    found: Vec<String>,
}

impl LongFunctions {
    fn judge(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let (from, to) = (signature.span().start().line, body.span().end().line);
        if to - from + 1 > FUNCTION {
            self.found.push(format!(
                "line {from}: `{}` has {} lines, more than {FUNCTION}",
                signature.ident,
                to - from + 1
            ));
        }
    }
}

impl<'ast> Visit<'ast> for LongFunctions {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.judge(&item.sig, &item.block);
        syn::visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.judge(&item.sig, &item.block);
        syn::visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.judge(&item.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, item);
    }
}

#[test]
fn long_functions_are_found() {
    let body = "let _ = 1;\n".repeat(FUNCTION);
    let mut long = LongFunctions::default();
    long.visit_file(
        &syn::parse_file(&format!("fn short() {{}}\nimpl T {{ fn long() {{\n{body}}} }}")).unwrap(),
    );
    assert_eq!(long.found.len(), 1, "{:?}", long.found);
}
