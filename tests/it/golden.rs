//! The driver of the golden cases tells the truth: what is not listed must pass, what is listed must fail.
//!
//! All cases are run by `make golden`; here its rules are tried with a program that refuses every configuration.
use std::process::{Command, Output};

use crate::support::repo;

/// Runs check.py on one case, with `pending` as its list, against a program that ends at once.
fn check(case: &str, pending: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("pending.txt");
    std::fs::write(&list, pending).unwrap();
    Command::new("python3")
        .arg(repo::root().join("tests/golden/check.py"))
        .args(["--cmd", "false {CONFIG}", "--id", case, "--retries", "0", "--pending"])
        .arg(&list)
        .output()
        .unwrap()
}

/// 3proxy refuses it.
const REFUSED: &str = "acl-ports-012";
/// 3proxy serves it.
const SERVED: &str = "acl-order-001";

#[test]
fn an_unlisted_case_must_pass_and_a_listed_one_must_fail() {
    for (case, pending, passes) in [
        (REFUSED, String::new(), true),
        (REFUSED, format!("# a reason\n{REFUSED}\n"), false),
        (SERVED, String::new(), false),
        (SERVED, format!("# a reason\n{SERVED}\n"), true),
    ] {
        let output = check(case, &pending);
        assert_eq!(output.status.success(), passes, "{case}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

#[test]
fn a_group_without_a_reason_is_refused() {
    assert!(!check(REFUSED, &format!("{SERVED}\n")).status.success());
}

#[test]
fn an_unknown_case_is_refused() {
    assert!(!check(REFUSED, "# a reason\nno-such-case-001\n").status.success());
}
