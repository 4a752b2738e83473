//! Characters that steer a terminal, end a line or turn the order of letters round: no output holds one as it is.
use std::fs;

use crate::support::{cfgc, formats};

const CHARACTERS: &str = "\u{1b}\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";

/// Every other command that shows text of a configuration, where it is found, named or compared.
const OTHERS: [&[&str]; 9] = [
    &["trace", "a.cfg", "--from", "127.0.0.1", "--to", "192.0.2.1:80"],
    &["trace", "a.cfg", "--from", "127.0.0.1", "--to", "192.0.2.1:80", "--json"],
    &["test", "b.cfg", "bad"],
    &["ir", "b.cfg"],
    &["diff", "a.cfg", "b.cfg"],
    &["diff", "a.cfg", "b.cfg", "--json"],
    &["doctor", "a.cfg"],
    &["doctor", "a.cfg", "--json"],
    &["fmt", "unreadable"],
];

#[test]
fn nothing_that_is_printed_steers_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let marked = |text: &str| text.replace('%', CHARACTERS);
    for (name, text) in [
        (
            "a.cfg",
            "internal 127.0.0.1\nlog /%/log\nauth iponly\nfrob% x%\nallow x%y * *.e%x 443-80 %\nparent 1000 soks% 1.2.3.4 5\ninclude /no%\n  proxy %\nproxy\n",
        ),
        ("b.cfg", "internal 127.0.0.1\nusers b%b:CL:x\nauth iponly\nallow c%c\ndeny *\nproxy -a\n"),
        ("tests", "[[test]]\nname = \"web%\"\nuser = \"c%c\"\nto = \"e.x%:80\"\nexpect = \"deny\"\n"),
        ("bad", "[[test]]\nname = \"web%\"\nusr% = 1\n"),
        ("unreadable", "allow \"x%\nproxy\n"),
    ] {
        let text = marked(text);
        // TOML takes no control characters in a text.
        let text = if matches!(name, "tests") { text.replace(['\u{1b}', '\u{7f}'], "") } else { text };
        fs::write(folder.path().join(name), text).unwrap();
    }
    let others = OTHERS.iter().map(|arguments| arguments.to_vec());
    for arguments in formats::printing().chain(others) {
        let output = cfgc::command().args(&arguments).current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let found = said.chars().find(|char| CHARACTERS.contains(*char));
        assert_eq!(found, None, "{arguments:?}: {said:?}");
        assert!(!said.is_empty(), "{arguments:?}");
        let is_json = arguments.iter().any(|word| word.contains("json") || ["sarif", "ir"].contains(word));
        let is_told = if is_json { said.contains("\\u202e") } else { said.contains("\\u{202e}") };
        let shows_text = !matches!(arguments[0], "doctor" | "trace" | "test" | "fmt");
        assert!(is_told || !shows_text, "{arguments:?}: {said}");
    }
}
