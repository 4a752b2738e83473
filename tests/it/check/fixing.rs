//! `--fix`, `--unsafe-fixes`, `--diff`.
use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::Value;

use super::{Folder, Said};
use crate::support::repo;

const BEFORE: &str =
    "internal 127.0.0.1\nauth iponly\ninclude more.cfg\nallow * * * 443-80\nproxy\n  maxconn 5\n";

fn folder() -> Folder {
    Folder::with(&[("3proxy.cfg", BEFORE), ("more.cfg", "deny * * * * * Mon-Fri\n")])
}

#[test]
fn safe_fixes_are_written_to_all_files_and_the_rest_is_reported() {
    let folder = folder();
    fs::set_permissions(folder.path("3proxy.cfg"), fs::Permissions::from_mode(0o640)).unwrap();
    let said = folder.check(&["--fix", "--format", "short", "3proxy.cfg"]);
    assert_eq!(folder.read("3proxy.cfg"), BEFORE.replace("443-80", "80-443"));
    assert_eq!(folder.read("more.cfg"), "deny * * * * * 1-5\n");
    let mode = fs::metadata(folder.path("3proxy.cfg")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("fixed[port-list-malformed]: 3proxy.cfg:4: "), "{}", said.out);
    assert!(lines[1].starts_with("fixed[weekday-not-understood]: more.cfg:1: "), "{}", said.out);
    assert!(lines[2].starts_with("3proxy.cfg:6:3: warn[indented-directive]"), "{}", said.out);
    assert_eq!((lines.len(), said.status), (3, Some(0)), "{}", said.err);
    // There is nothing more to do.
    let again = folder.check(&["--fix", "3proxy.cfg"]);
    assert!(!again.out.contains("fixed"), "{}", again.out);
}

#[test]
fn a_difference_is_printed_and_nothing_written() {
    let folder = folder();
    let said = folder.check(&["--diff", "3proxy.cfg"]);
    assert_eq!((folder.read("3proxy.cfg").as_str(), said.status), (BEFORE, Some(1)));
    let expected = "--- 3proxy.cfg\n+++ 3proxy.cfg\n@@ -1,6 +1,6 @@\n internal 127.0.0.1\n auth iponly\n include more.cfg\n\
-allow * * * 443-80\n+allow * * * 80-443\n proxy\n   maxconn 5\n\
--- more.cfg\n+++ more.cfg\n@@ -1 +1 @@\n-deny * * * * * Mon-Fri\n+deny * * * * * 1-5\n";
    assert_eq!(said.out, expected);
    assert!(said.err.contains("2 would be fixed"), "{}", said.err);
    let clean = Folder::with(&[("a.cfg", "internal 127.0.0.1\nsocks\n")]).check(&["--diff", "a.cfg"]);
    assert_eq!((clean.out.as_str(), clean.status), ("", Some(0)));
    // What can't be mended is denied all the same: a job that shows differences lets nothing pass.
    let left = Folder::with(&[("a.cfg", "internal 127.0.0.1\nfrobnicate\nsocks\n")]);
    let said = left.check(&["--diff", "a.cfg"]);
    assert_eq!((said.out.as_str(), said.status), ("", Some(1)));
    assert!(said.err.contains("1 denied"), "{}", said.err);
}

#[test]
fn what_changes_the_meaning_is_done_on_request() {
    let folder = folder();
    // The line would be a setting behind its service, where only the other kind of fix mends it.
    let said = folder.check(&["--fix", "--deny", "all", "3proxy.cfg"]);
    assert!(!said.out.contains("fixed[setting-after-service]"), "{}", said.out);
    let said = folder.check(&["--unsafe-fixes", "3proxy.cfg"]);
    assert!(said.out.contains("fixed[setting-after-service]"), "{}", said.out);
    assert!(!said.out.contains("not fixed") && !said.out.contains(" makes "), "{}", said.out);
    let folder = Folder::with(&[("a.cfg", "internal 127.0.0.1\n  maxconn 5\nsocks\n")]);
    assert_eq!(folder.check(&["--fix", "a.cfg"]).status, Some(0));
    assert!(folder.read("a.cfg").contains("\n  maxconn"));
    assert_eq!(folder.check(&["--unsafe-fixes", "--deny-warnings", "a.cfg"]).status, Some(0));
    assert!(folder.read("a.cfg").contains("\nmaxconn"));
}

#[test]
fn a_fix_is_made_with_those_of_what_it_brings() {
    let text = "users u:CL:secret-of-u\nauth strong\ndeny * * 127.0.0.1\nallow u\nsocks\n";
    let folder = Folder::with(&[("a.cfg", text)]);
    // The safe fix alone first: then the wider one brings its finding back.
    let said = folder.check(&["--fix", "a.cfg"]);
    assert!(said.out.contains("--unsafe-fixes makes"), "{}", said.out);
    let said = folder.check(&["--unsafe-fixes", "a.cfg"]);
    assert!(!said.out.contains("not fixed") && said.out.contains("nothing left"), "{}", said.out);
    let fixed = folder.read("a.cfg");
    assert!(fixed.contains("127.0.0.0/8") && fixed.contains("::ffff:127.0.0.0/104"), "{fixed}");
    assert!(folder.check(&["--unsafe-fixes", "a.cfg"]).out.contains("nothing found"));
}

#[test]
fn standard_input_is_a_filter() {
    let folder = folder();
    let said = folder.check_input(&["--fix", "-", "--stdin-filename", "3proxy.cfg"], BEFORE.as_bytes());
    assert_eq!(said.out, BEFORE.replace("443-80", "80-443"));
    assert!(said.err.contains("--> 3proxy.cfg:6:3"), "{}", said.err);
    assert_eq!(folder.read("3proxy.cfg"), BEFORE, "what is piped is not written");
    let clean = "internal 127.0.0.1\nsocks\n";
    assert_eq!(folder.check_input(&["--fix", "-"], clean.as_bytes()).out, clean);
    let diff =
        folder.check_input(&["--diff", "-"], b"internal 127.0.0.1\nauth iponly\nallow * * * 2-1\nsocks\n");
    assert!(diff.out.starts_with("--- <stdin>\n+++ <stdin>\n@@"), "{}", diff.out);
}

#[test]
fn what_is_allowed_is_not_mended() {
    let folder = folder();
    folder.check(&["--fix", "--allow", "port-list-malformed", "3proxy.cfg"]);
    assert!(folder.read("3proxy.cfg").contains("443-80"));
}

#[test]
fn a_file_that_can_not_be_written_is_told() {
    let folder = Folder::with(&[]);
    let pipe = folder.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, BEFORE)
    });
    let said = folder.check(&["--fix", "--no-includes", "pipe"]);
    writer.join().unwrap().unwrap();
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("`pipe` can't be rewritten"), "{}", said.err);
    assert!(said.out.contains("[port-list-malformed]") && !said.out.contains("fixed["), "{}", said.out);
}

#[test]
fn of_files_that_can_not_all_be_written_none_is() {
    let folder = folder();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let said = folder.check_to(full, &["--fix", "-", "--stdin-filename", "3proxy.cfg"], BEFORE.as_bytes());
    assert_eq!(said.status, Some(2), "{}", said.err);
    assert_eq!(folder.read("more.cfg"), "deny * * * * * Mon-Fri\n");
    assert!(
        said.err.contains("3proxy.cfg:4:13") && said.err.contains("[port-list-malformed]"),
        "{}",
        said.err
    );
    assert!(said.err.contains("more.cfg:1") && !said.err.contains("fixed["), "{}", said.err);
    let names: Vec<_> =
        fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "nothing is left beside them: {names:?}");
}

#[test]
fn lines_that_come_end_as_those_about_them() {
    let text =
        "internal 127.0.0.1\r\nauth strong\r\nusers bob:CL:rabbit-hole\r\nallow bob\r\nsocks\r\nmaxconn 5";
    let folder = Folder::with(&[("a.cfg", text)]);
    let said = folder.check(&["--unsafe-fixes", "--allow", "crlf", "a.cfg"]);
    let fixed = folder.read("a.cfg");
    assert!(fixed.contains("maxconn 5\r\nsocks"), "{}{fixed}", said.out);
    assert_eq!(fixed.matches('\n').count(), fixed.matches("\r\n").count(), "{fixed:?}");
}

/// A number of the summary for programs.
fn number(said: &Said, member: &str) -> u64 {
    let document: Value = serde_json::from_str(&said.out).unwrap();
    document["summary"][member].as_u64().unwrap()
}

/// What the summary says that could be mended, and what then is: by `--fix` and by `--unsafe-fixes`.
fn promised_and_kept(files: &[(&str, &str)], arguments: &[&str]) -> [(u64, u64); 2] {
    let with = |option: &str| {
        let all: Vec<&str> =
            ["--format", "json"].into_iter().chain((!option.is_empty()).then_some(option)).collect();
        Folder::with(files).check(&[&all, arguments].concat())
    };
    let (said, safe, all) = (with(""), with("--fix"), with("--unsafe-fixes"));
    let (fixable, more) = (number(&said, "fixable"), number(&said, "fixable_unsafely"));
    assert_eq!((number(&safe, "fixable"), number(&all, "fixable_unsafely")), (0, 0), "{}", said.out);
    [(fixable, number(&safe, "fixed")), (fixable + more, number(&all, "fixed"))]
}

#[test]
fn what_is_promised_is_done() {
    let users = "internal 127.0.0.1\nusers alice:CL:wonderland\n";
    let cache = format!(
        "{users}authcache user,pass 600\nauth cacheacl strong\nallow alice * * 80,443\nparent 1000 socks5 192.0.2.10 1080\nproxy\n"
    );
    let include = "internal 127.0.0.1\nauth iponly\ninclude more.cfg\nproxy\n";
    for (main, fixed) in [
        // One fix cures what another would.
        (cache.as_str(), [1, 1]),
        // A safe fix that lets strangers in is not made.
        ("auth iponly\nallow * * * 443-80\nproxy \u{2013}a\n", [1, 1]),
        // A file that is included twice is mended once.
        (
            "internal 127.0.0.1\nauth iponly\ninclude more.cfg\nproxy\nflush\ninclude more.cfg\nsocks\n",
            [1, 1],
        ),
        // What one uncovers is mended by the next.
        ("\u{feff}internal 127.0.0.1\nauth iponly\nallow * * * 443-80 * Mon-Fri\nproxy\n  flush\n", [3, 4]),
        ("internal 127.0.0.1\n  maxconn 5\nauth iponly\nallow * * * 443-80\nsocks\n", [1, 2]),
        (include, [1, 1]),
    ] {
        let told =
            promised_and_kept(&[("3proxy.cfg", main), ("more.cfg", "allow * * * 443-80\n")], &["3proxy.cfg"]);
        assert_eq!(told, fixed.map(|fixed| (fixed, fixed)), "{main}");
    }
    // Two configurations share a file.
    let files = [("a.cfg", include), ("b.cfg", include), ("more.cfg", "allow * * * 443-80\n")];
    assert_eq!(promised_and_kept(&files, &["a.cfg", "b.cfg"]), [(1, 1); 2]);
    let diff = Folder::with(&files).check(&["--diff", "a.cfg", "b.cfg"]);
    assert_eq!(diff.out.matches("--- more.cfg").count(), 1, "{}", diff.out);
    assert!(
        diff.err.contains("1 would be fixed, nothing left in 2 configurations of 3 files"),
        "{}",
        diff.err
    );
}

#[test]
fn what_is_promised_of_all_cases_is_done() {
    let folders = ["tests/cases/operators", "tests/cases/measured", "examples"];
    let paths = folders.into_iter().flat_map(|folder| std::fs::read_dir(repo::root().join(folder)).unwrap());
    let texts = paths.filter_map(|entry| std::fs::read_to_string(entry.unwrap().path()).ok());
    let texts: Vec<(String, String)> = texts
        .filter(|text| !text.contains("\n#@ "))
        .enumerate()
        .map(|(index, text)| (format!("{index}.cfg"), text))
        .collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let [safe, all] = promised_and_kept(&files, &names);
    assert_eq!((safe.0, all.0), (safe.1, all.1));
    assert!(safe.0 > 10 && all.0 > safe.0, "{safe:?} {all:?}");
}

#[test]
fn the_summary_counts_the_files_that_were_read() {
    let more = [("more.cfg", "allow * * * 443-80\n"), ("list", "192.0.2.1")];
    let main = "internal 127.0.0.1\nauth iponly\ninclude more.cfg\ndeny * * $list\nallow *\nproxy\n";
    let clean = "internal 127.0.0.1\nsocks\n";
    let folder = Folder::with(
        &[&[("a.cfg", main), ("b.cfg", main), ("c.cfg", clean), ("d.cfg", clean)], &more[..]].concat(),
    );
    for (files, says) in [
        (&["c.cfg"][..], "in 1 file"),
        (&["c.cfg", "d.cfg"], "in 2 files"),
        (&["a.cfg"], "in 1 configuration of 3 files; --fix makes 1 fix"),
        (&["a.cfg", "b.cfg", "c.cfg"], "in 3 configurations of 5 files; --fix makes 1 fix"),
    ] {
        let said = folder.check(files);
        assert!(said.out.trim_end().ends_with(says), "{}", said.out);
    }
}
