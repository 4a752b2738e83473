//! `cfgc crypt`: what it prints is a word of a `users` line, and its password is the one that was hashed.
use std::{
    io::Write,
    process::{Output, Stdio},
};

use crate::support::cfgc;

fn crypt(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = cfgc::command();
    command.arg("crypt").args(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_printed_is_checked_against_the_same_password() {
    let folder = tempfile::tempdir().unwrap();
    for scheme in ["blake2", "md5", "nt"] {
        let made = crypt(&["--scheme", scheme, "--user", "bob"], b"pass word\n");
        assert!(made.status.success(), "{made:?}");
        let config = folder.path().join(scheme);
        let word = String::from_utf8(made.stdout).unwrap();
        std::fs::write(&config, format!("users bob:CL:old {word}auth strong\nproxy -i127.0.0.1\n")).unwrap();
        for (password, expected) in
            [("pass word", 0), ("pass word\r\nmore", 0), ("Pass word", 1), ("old", 1), ("", 1)]
        {
            let file = config.to_str().unwrap();
            let checked = crypt(&["--check", file, "--user", "bob"], password.as_bytes());
            assert_eq!(checked.status.code(), Some(expected), "{scheme} {password:?} {checked:?}");
        }
        let unknown = crypt(&["--check", config.to_str().unwrap(), "--user", "eve"], b"x");
        assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
        let findings = cfgc::command().args(["check", "--format", "short"]).arg(&config).output().unwrap();
        let findings = String::from_utf8(findings.stdout).unwrap();
        assert!(
            !findings.contains("[user-dropped]") && !findings.contains("[password-read-as-include]"),
            "{findings}"
        );
    }
}

#[test]
fn a_hash_alone_is_printed_as_3proxy_crypt_prints_it() {
    for (scheme, start, length) in [
        ("blake2", "CR:$3$", 3 + 3 + 16 + 1 + 22),
        ("md5", "CR:$1$", 3 + 3 + 8 + 1 + 22),
        ("nt", "NT:", 3 + 32),
    ] {
        let text = String::from_utf8(crypt(&["--scheme", scheme], b"x").stdout).unwrap();
        assert!(text.starts_with(start) && text.trim_end().len() == length, "{text}");
    }
    assert_eq!(crypt(&["--scheme", "nt"], b"abc").stdout, b"NT:E0FBA38268D0EC66EF1CB452D5885E53\n");
}

#[test]
fn what_no_client_can_send_or_no_line_can_hold_is_refused() {
    let long = vec![b'x'; 256];
    for (arguments, input) in [
        (&["--user", "bob"][..], &b""[..]),
        (&["--user", "bob"], b"\n"),
        (&["--user", "bob"], b"a\0b"),
        (&["--user", "bob"], &long),
        (&["--user", ""], b"x"),
        (&["--user", "a:b"], b"x"),
        (&["--user", "a\"b"], b"x"),
        (&["--user", "a\nb"], b"x"),
        (&["--check", "-"], b"x"),
        (&["secret"], b"x"),
    ] {
        let refused = crypt(arguments, input);
        assert_eq!(
            (refused.status.code(), refused.stdout.as_slice()),
            (Some(2), &b""[..]),
            "{arguments:?} {refused:?}"
        );
    }
}
