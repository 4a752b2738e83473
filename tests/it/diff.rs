//! `cfgc diff` on pairs of configurations: what it prints, what it exits with.
//!
//! A case is a file of parts, each behind a line `#@ NAME`: `old.cfg`, `new.cfg`, and what is printed (`expect`), which `UPDATE=1`
//! writes.
use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::support::{cfgc, repo};

/// The parts of a case.
struct Case<'a> {
    old: &'a str,
    new: &'a str,
    expect: &'a str,
}

impl<'a> Case<'a> {
    fn of(text: &'a str) -> Self {
        let part = |name: &str| {
            let (_, rest) =
                text.split_once(&format!("#@ {name}\n")).unwrap_or_else(|| panic!("no part {name}"));
            rest.split("#@ ").next().unwrap()
        };
        Self { old: part("old.cfg"), new: part("new.cfg"), expect: part("expect") }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old.cfg"), self.old).unwrap();
        fs::write(folder.path().join("new.cfg"), self.new).unwrap();
        let mut command = cfgc::command();
        command.arg("diff").args(arguments).args(["old.cfg", "new.cfg"]).current_dir(folder.path());
        command.output().unwrap()
    }
}

fn each(mut judge: impl FnMut(&Path, &str)) {
    let folder = repo::root().join("tests/cases/diff");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 5);
    for path in paths {
        judge(&path, &fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn a_comparison_is_printed_as_expected() {
    let mut faults = Vec::new();
    each(|path, text| {
        let case = Case::of(text);
        let output = case.run(&[]);
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", path.display());
        if std::env::var_os("UPDATE").is_some() {
            let (before, _) = text.split_once("#@ expect\n").unwrap();
            fs::write(path, format!("{before}#@ expect\n{printed}")).unwrap();
        } else if printed != case.expect {
            faults.push(format!("{}:\n{printed}", path.display()));
        }
    });
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn programs_are_told_the_same_and_no_form_tells_a_secret() {
    each(|path, text| {
        let case = Case::of(text);
        let output = case.run(&["--json", "--exit-code"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let differs = !case.expect.starts_with("nothing changes");
        assert_eq!(document["differs"], differs, "{}", path.display());
        assert_eq!(output.status.code(), Some(i32::from(differs)), "{}", path.display());
        let classes = |list: &Value| list["classes"].as_array().unwrap().len();
        let told: usize = document["lists"].as_array().unwrap().iter().map(classes).sum();
        let told_people = ["such as ", "nobody asks for: "].map(|text| case.expect.matches(text).count());
        assert_eq!(told, told_people.iter().sum::<usize>(), "{}", path.display());
        let printed = String::from_utf8(output.stdout).unwrap() + case.expect;
        for secret in ["wonderland", "looking", "builder", "carol1", "secret-of-parent", "shared-secret"] {
            assert!(!printed.contains(secret), "{}: {secret}", path.display());
        }
    });
}

#[test]
fn a_file_that_is_not_there_is_an_error() {
    let output =
        cfgc::command().args(["diff", "--exit-code", "no-such.cfg", "no-such.cfg"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// All commands say in one way that a configuration could not be read whole, and what helps.
#[test]
fn a_missing_include_leads_to_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.cfg", "internal 127.0.0.1\ninclude /nowhere/more\nsocks\n");
    write("b.cfg", "internal 127.0.0.1\nfrobnicate\nsocks\n");
    write("tests", "[[test]]\nname = \"web\"\nto = \"a.test:80\"\nexpect = \"allow\"\n");
    write("input", "password\n");
    let said = |arguments: &[&str]| {
        let input = fs::File::open(folder.path().join("input")).unwrap();
        let mut command = cfgc::command();
        let output = command.args(arguments).current_dir(folder.path()).stdin(input).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let hint = "`--root DIR` looks up absolute paths in DIR";
    let request = ["--from", "127.0.0.1", "--to", "192.0.2.1:80"];
    for (command, status) in [
        ([&["trace", "FILE"], &request[..]].concat(), 0),
        (vec!["ir", "FILE"], 1),
        (vec!["diff", "FILE", "FILE"], 2),
        (vec!["test", "FILE", "tests"], 2),
        (vec!["crypt", "--user", "bob", "--check", "FILE"], 2),
        (vec!["doctor", "FILE"], 1),
    ] {
        let with = |file: &'static str| {
            let word = |word: &&'static str| if *word == "FILE" { file } else { *word };
            command.iter().map(word).collect::<Vec<&str>>()
        };
        let (code, missing) = said(&with("a.cfg"));
        assert_eq!(code, status, "{command:?}: {missing}");
        // The host has its files where they are.
        assert_eq!(missing.contains(hint), command[0] != "doctor", "{command:?}: {missing}");
        let (code, refused) = said(&with("b.cfg"));
        assert_eq!(code, status, "{command:?}: {refused}");
        assert!(!refused.contains(hint), "{command:?}: {refused}");
        let says = refused.contains("3proxy would reject") || command[0] == "crypt";
        assert!(says, "{command:?}: {refused}");
    }
}

/// A job that compares must not pass because nothing could be read.
#[test]
fn a_guess_is_no_success() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good.cfg", "internal 127.0.0.1\nsocks\n");
    write("users.cfg", "internal 127.0.0.1\nusers $/nowhere/users\ninclude /nowhere/more\nsocks\n");
    write("nested.cfg", "include users.cfg\nsocks\n");
    write("broken.cfg", "internal 127.0.0.1\nfrobnicate\nsocks\n");
    let checked = |root: &str| format!("Run `cfgc check --root {root} broken.cfg` for details");
    let (old, new) = (checked("image"), checked("."));
    fs::create_dir_all(folder.path().join("image/nowhere")).unwrap();
    write("image/nowhere/users", "alice:CL:x");
    write("image/nowhere/more", "maxconn 5");
    let unread = "`/nowhere/users` can't be read";
    for (arguments, status, says) in [
        (&["good.cfg", "good.cfg"][..], 0, ""),
        (
            &["users.cfg", "users.cfg"],
            2,
            "`users.cfg` could not be read completely: users.cfg:2: `/nowhere/users` can't be read",
        ),
        (&["good.cfg", "users.cfg"], 2, "and 1 more; `--root DIR` looks up absolute paths in DIR"),
        (&["nested.cfg", "good.cfg"], 2, "`nested.cfg` could not be read completely: users.cfg:2: "),
        (&["good.cfg", "users.cfg", "--exit-code", "--json"], 2, unread),
        (&["users.cfg", "users.cfg", "--root", "image"], 0, ""),
        (&["users.cfg", "good.cfg", "--old-root", "image"], 0, ""),
        (&["good.cfg", "broken.cfg"], 2, "3proxy would reject `broken.cfg` (1 error); "),
        (&["good.cfg", "broken.cfg"], 2, "Run `cfgc check broken.cfg` for details"),
        (&["broken.cfg", "good.cfg", "--root", ".", "--old-root", "image"], 2, &old),
        (&["good.cfg", "broken.cfg", "--root", ".", "--old-root", "image"], 2, &new),
    ] {
        let output = cfgc::command().arg("diff").args(arguments).current_dir(folder.path()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {err}");
        assert!(err.contains(says) && err.is_empty() == (status == 0), "{arguments:?}: {err}");
        assert!(!output.stdout.is_empty(), "{arguments:?}");
        if arguments.contains(&"--json") {
            assert_eq!(serde_json::from_slice::<Value>(&output.stdout).unwrap()["guess"], true);
        }
    }
}
