//! Every fix that is offered anywhere: for the recorded cases, the examples, and in the documentation of the rules.
use std::path::Path;

use compiler::{
    compile,
    finding::{Finding, Level},
    fix::{Fix, Safety},
    lints,
    sources::{FileId, Loc, MemoryFiles},
};
use grammar::Span;

use crate::support::{
    mending,
    recorded::{MAIN, files},
    repo,
};

#[test]
fn of_cases_and_examples() {
    let mut fixes = 0;
    for folder in ["tests/cases/operators", "tests/cases/measured", "examples"] {
        for entry in std::fs::read_dir(repo::root().join(folder)).unwrap() {
            let Ok(text) = std::fs::read_to_string(entry.unwrap().path()) else { continue };
            fixes += mending::hold(Path::new(MAIN), &files(&text).0);
        }
    }
    assert!(fixes > 50, "{fixes}");
}

#[test]
fn of_the_documentation_of_rules() {
    let mut fixes = 0;
    for rule in lints::all() {
        let mut files = MemoryFiles::default();
        for block in rule.docs.split("```3proxy,").skip(1) {
            let (claim, rest) = block.split_once('\n').unwrap();
            let text = rest.split("```").next().unwrap();
            let text: String =
                text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
            match claim.strip_prefix("file=") {
                Some(name) => files.insert(name, text),
                None => {
                    files.insert(MAIN, text);
                    fixes += mending::hold(Path::new(MAIN), &files);
                }
            }
        }
    }
    assert!(fixes > 30, "{fixes}");
}

#[test]
#[should_panic(expected = "changes what other entries decide")]
fn one_that_is_not_safe_is_found() {
    let (files, _) =
        files("internal 127.0.0.1\nauth iponly\nallow * 10.0.0.0/8\n#xxxx\nallow * 192.0.2.1\nproxy");
    let before = compile(Path::new(MAIN), &files);
    let at = Loc { file: FileId(0), span: Span::new(50, 55) };
    assert_eq!(before.sources.text(at), b"#xxxx");
    let finding = Finding::new("x", Level::Deny, at, "x").fix(Fix::replace("x", Safety::Safe, at, "flush"));
    mending::changes_only_its_lines(Path::new(MAIN), &files, &before, &finding);
}

/// Configurations in which fixes met each other: a fuzzer found them.
#[test]
fn of_torn_lines() {
    for text in [
        "deny * * *badsite.example\ndeny * * *.badsite.excmple\ndeny * * .badsite.exa\x0epl * * *badsite.example\ndeny * * *.badsite.excmple\n\
         deny * * .badsite.example\nallow *\nproxy\n",
        "# `*name` needs something before it, `.deny * * *badsite.example\ndeny * * *.badsite.excmple\ndeny * * .badsite.exa\x0epl * * *badsite.example\n\
         deny * * *.badsite.excmple\ndeny * * .badsite.example\nallow *\nproxy\n",
    ] {
        let (files, _) = files(text);
        assert!(mending::hold(Path::new(MAIN), &files) > 0, "{text}");
    }
}
