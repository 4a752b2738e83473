//! Standard output that can't be written: every command says so once, and ends with 2.
use std::fs;

use crate::support::{cfgc, formats};

const CONFIG: &str = "internal 127.0.0.1\nauth iponly\nallow * * * 443-80\nproxy\n";

/// Every other command that prints.
const OTHERS: [&[&str]; 20] = [
    &["check", "--statistics", "a.cfg"],
    &["check", "--diff", "a.cfg"],
    &["check", "--fix", "a.cfg"],
    &["trace", "a.cfg", "--from", "127.0.0.1", "--to", "192.0.2.1:80"],
    &["trace", "a.cfg", "--from", "127.0.0.1", "--to", "192.0.2.1:80", "--json"],
    &["ir", "a.cfg"],
    &["diff", "a.cfg", "b.cfg"],
    &["diff", "a.cfg", "b.cfg", "--json"],
    &["fmt", "--check", "b.cfg"],
    &["fmt", "--diff", "b.cfg"],
    &["doctor", "a.cfg"],
    &["doctor", "a.cfg", "--json"],
    &["crypt"],
    &["explain"],
    &["explain", "open-proxy"],
    &["rules"],
    &["rules", "--json"],
    &["completions", "bash"],
    &["check", "--help"],
    &["--version"],
];

#[test]
fn a_full_standard_output_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.cfg", CONFIG),
        ("b.cfg", "internal   127.0.0.1\nauth iponly\nallow *\nproxy\n"),
        (
            "tests",
            "[[test]]\nname = \"web\"\nfrom = \"127.0.0.1\"\nto = \"192.0.2.1:80\"\nexpect = \"allow\"\n",
        ),
        ("input", "password\n"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let others = OTHERS.iter().map(|arguments| arguments.to_vec());
    for arguments in formats::printing().chain(others) {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let input = fs::File::open(folder.path().join("input")).unwrap();
        let mut command = cfgc::command();
        command.args(&arguments).current_dir(folder.path()).stdin(input).stdout(full);
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        let told = said.matches("standard output can't be written: No space left on device").count();
        assert_eq!(told, 1, "{arguments:?}: {said}");
        if arguments.contains(&"--fix") {
            assert!(said.contains("1 fixed, but not reported: "), "{said}");
        }
    }
    let fixed = fs::read_to_string(folder.path().join("a.cfg")).unwrap();
    assert_eq!(fixed, CONFIG.replace("443-80", "80-443"), "the file is whole");
}

/// Who reads it may have read enough.
#[test]
fn a_reader_that_leaves_is_no_failure_to_complain_of() {
    for arguments in [&["rules", "--json"][..], &["explain"], &["completions", "bash"], &["--help"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = cfgc::command().args(arguments).stdout(writer).output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}
