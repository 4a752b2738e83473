//! Files that `cfgc check` can't read, or not to their end: one clear word about it, a status, and no half report.
use std::{
    os::unix::{
        fs::{MetadataExt, PermissionsExt},
        process::CommandExt,
    },
    process::Command,
};

use super::{Folder, Said};

fn check(folder: &Folder, path: &str) -> Said {
    let said = folder.check(&["--format", "short", path]);
    assert!(!said.err.contains("panicked"), "{path}: {}", said.err);
    said
}

#[test]
fn each_kind_of_bad_input_gets_one_answer() {
    let folder = Folder::with(&[
        ("cycle.cfg", "include cycle.cfg\ninternal 127.0.0.1\nsocks\n"),
        ("folder-included.cfg", "include sub\ninternal 127.0.0.1\nsocks\n"),
        ("missing-included.cfg", "include nowhere.cfg\ninternal 127.0.0.1\nsocks\n"),
        ("device-included.cfg", "include /dev/zero\ninternal 127.0.0.1\nsocks\n"),
        ("kernel-included.cfg", "include /proc/kmsg\ninternal 127.0.0.1\nsocks\n"),
        ("empty.cfg", ""),
        ("blank.cfg", "\n\n"),
        ("sub/a.txt", ""),
    ]);
    let elf: Vec<u8> =
        b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".iter().copied().cycle().take(100_000).collect();
    folder.write("binary.cfg", &elf);
    folder.write("zeros.cfg", &[0; 10_000]);
    folder.write("one-zero.cfg", b"internal 127.0.0.1\nsocks\0 -p1080\n");
    folder.write("utf16.cfg", b"\xff\xfep\0r\0o\0x\0y\0\n\0");
    // One finding: path, status, and what it says on standard output.
    for (path, status, finding) in [
        ("cycle.cfg", 1, "deny[include-cycle]"),
        ("folder-included.cfg", 1, "deny[include-missing]: `sub` can't be read: is a directory"),
        ("missing-included.cfg", 1, "deny[include-missing]"),
        ("device-included.cfg", 1, "deny[include-missing]"),
        ("kernel-included.cfg", 1, "deny[include-missing]"),
        ("empty.cfg", 0, "warn[empty-configuration]"),
        ("blank.cfg", 0, "warn[empty-configuration]"),
        ("one-zero.cfg", 1, "deny[nul-byte]"),
    ] {
        let said = check(&folder, path);
        assert_eq!(
            (said.status, said.out.lines().count()),
            (Some(status), 1),
            "{path}: {}{}",
            said.out,
            said.err
        );
        assert!(said.out.contains(finding), "{path}: {}", said.out);
    }
    // One error: path, and what it says on standard error.
    for (path, error) in [
        ("binary.cfg", "`binary.cfg` is no configuration: it holds binary data"),
        ("zeros.cfg", "it holds binary data"),
        ("utf16.cfg", "is UTF-16, which 3proxy does not read: save it as UTF-8"),
        ("sub", "there is no 3proxy configuration in `sub`"),
        ("nowhere.cfg", "`nowhere.cfg` can't be read"),
        ("/dev/zero", "`/dev/zero` can't be read: it is no regular file"),
    ] {
        let said = check(&folder, path);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{path}");
        assert!(said.err.contains(error) && said.err.lines().count() == 1, "{path}: {}", said.err);
    }
}

#[test]
fn standard_input_that_is_no_text_is_not_read_to_its_end() {
    let folder = Folder::with(&[]);
    let said = folder.check_from(std::fs::File::open("/dev/zero").unwrap(), &["--format", "short", "-"]);
    assert_eq!((said.status, said.out.as_str()), (Some(2), ""));
    assert_eq!(said.err, "cfgc: `-` is no configuration: it holds binary data\n");
}

/// Runs `cfgc check` as a user for whom permissions count: root may read everything, so it becomes nobody.
fn check_as_user(folder: &Folder, path: &str) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cfgc"));
    if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
        // The build may stand where nobody else may look.
        let copy = folder.path("cfgc");
        if !copy.exists() {
            std::fs::copy(env!("CARGO_BIN_EXE_cfgc"), &copy).unwrap();
        }
        command = Command::new(copy);
        command.uid(NOBODY).gid(NOBODY);
    }
    command.args(["check", "--format", "short", path]).current_dir(folder.path("")).output().unwrap()
}

const NOBODY: u32 = 65_534;

#[test]
fn a_file_that_may_not_be_read_is_told() {
    let folder = Folder::with(&[
        ("secret.cfg", "x\n"),
        ("main.cfg", "include secret.cfg\ninternal 127.0.0.1\nsocks\n"),
    ]);
    let set = |path: &str, mode| {
        std::fs::set_permissions(folder.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("", 0o755);
    set("secret.cfg", 0o000);
    let alone = check_as_user(&folder, "secret.cfg");
    assert_eq!(alone.status.code(), Some(2), "{alone:?}");
    let included = check_as_user(&folder, "main.cfg");
    let out = String::from_utf8_lossy(&included.stdout);
    assert!(included.status.code() == Some(1) && out.contains("deny[include-missing]"), "{included:?}");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_one_finding() {
    let folder = Folder::with(&[]);
    let line = |before: &str, megabytes: usize| {
        [before.as_bytes(), &vec![b'x'; megabytes << 20], b"\ninternal 127.0.0.1\nsocks\n"].concat()
    };
    folder.write("huge.cfg", &line("# ", 100));
    folder.write("comment.cfg", &line("# ", 2));
    folder.write("word.cfg", &line("deny ", 2));
    folder.write("command.cfg", &line("", 2));
    let whole =
        [("huge.cfg", "short"), ("comment.cfg", "text"), ("word.cfg", "json"), ("word.cfg", "github")];
    for (path, format) in whole.into_iter().chain([("word.cfg", "sarif"), ("command.cfg", "text")]) {
        let Said { status, out, err } = folder.check(&["--format", format, path]);
        assert_eq!((status, err.as_str()), (Some(1), ""), "{path}");
        assert!(out.contains("line-too-long") && out.len() < 10_000, "{path} {format}: {} bytes", out.len());
    }
}
