//! Files that are no configuration, and configurations that can't be read to their end: whatever the command, one clear message, the right
//! exit status, nothing half done.
use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::Path,
    process::{Output, Stdio},
};

use crate::support::cfgc::command;

/// Every command that reads a configuration: the words before and behind its file.
const COMMANDS: [(&[&str], &[&str]); 10] = [
    (&["check", "--format", "short"], &[]),
    (&["check", "--fix", "--format", "short"], &[]),
    (&["fmt"], &[]),
    (&["trace"], &["--from", "127.0.0.1", "--to", "a.test:80"]),
    (&["test"], &["good.toml"]),
    (&["diff"], &["good.cfg"]),
    (&["diff", "good.cfg"], &[]),
    (&["ir"], &[]),
    (&["doctor"], &[]),
    (&["run", "--no-watch"], &[]),
];

/// Besides, with a password on standard input.
const CRYPT: (&[&str], &[&str]) = (&["crypt", "--user", "bob", "--check"], &[]);

fn said(folder: &Path, (before, behind): (&[&str], &[&str]), file: impl AsRef<OsStr>) -> Output {
    let mut command = command();
    command.args(before).arg(file).args(behind).current_dir(folder).stdin(Stdio::null());
    command.output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("good.cfg", b"internal 127.0.0.1\nauth iponly\nallow * 127.0.0.1\nsocks -p1080\n");
    write(
        "good.toml",
        b"[[test]]\nname = \"a\"\nservice = \"socks\"\nfrom = \"127.0.0.1\"\nto = \"a.test:80\"\nexpect = \"allow\"\n",
    );
    folder
}

#[test]
fn what_is_no_configuration_is_refused_by_every_command_in_one_line() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("binary.cfg"), b"\x7fELF\x02\x01\x01\0\0\0\0\0".repeat(1000)).unwrap();
    fs::write(at("zeros.cfg"), vec![0; 1 << 17]).unwrap();
    fs::write(at("utf16.cfg"), b"\xff\xfep\0r\0o\0x\0y\0\n\0").unwrap();
    fs::create_dir(at("folder.cfg")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("link.cfg")).unwrap();
    std::os::unix::fs::symlink("loop.cfg", at("loop.cfg")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(at("socket.cfg")).unwrap();
    let files: [(&[u8], &str); 10] = [
        (b"binary.cfg", "it holds binary data"),
        (b"zeros.cfg", "it holds binary data"),
        (b"utf16.cfg", "is UTF-16, which 3proxy does not read: save it as UTF-8"),
        (b"folder.cfg", ""),
        (b"link.cfg", "No such file or directory (os error 2)"),
        (b"loop.cfg", "(os error 40)"),
        (b"nowhere\xff\n.cfg", "No such file or directory (os error 2)"),
        (b"good.cfg/x", "Not a directory (os error 20)"),
        (b"/dev/zero", "it is no regular file"),
        (b"socket.cfg", "it is no regular file"),
    ];
    for ((before, behind), (file, why)) in
        COMMANDS.into_iter().chain([CRYPT]).flat_map(|command| files.map(|file| (command, file)))
    {
        let Output { status, stdout, stderr } =
            said(folder.path(), (before, behind), OsStr::from_bytes(file));
        let err = String::from_utf8_lossy(&stderr);
        let what = format!("{before:?} {}: {err}", String::from_utf8_lossy(file));
        assert_eq!((status.code(), String::from_utf8_lossy(&stdout).as_ref()), (Some(2), ""), "{what}");
        assert!(err.starts_with("cfgc: ") && err.lines().count() == 1 && err.contains(why), "{what}");
        let is_searched = before.first() == Some(&"check");
        let says = is_searched
            || file != b"folder.cfg"
            || err.ends_with("`folder.cfg` is a folder: name a file in it\n");
        assert!(says, "{what}");
    }
    drop(socket);
}

/// A command may say that 3proxy refuses it, but it ends, does not panic, and `fmt` and `check --fix` leave it alone.
#[test]
fn what_can_not_be_read_to_its_end_ends_every_command() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let line = [&b"deny "[..], &vec![b'x'; 3 << 20], b"\n"].concat();
    let files: [(&str, &[u8]); 8] = [
        ("cycle.cfg", b"include cycle.cfg\nsocks\n"),
        ("pipe.cfg", b"include pipe\nsocks\n"),
        ("list-pipe.cfg", b"users $pipe\nsocks\n"),
        ("folder.cfg", b"include .\nsocks\n"),
        ("nul.cfg", b"allow \0\nsocks\n"),
        ("quote.cfg", b"allow \"bob\nsocks\n"),
        ("latin.cfg", b"allow b\xf6b\ninclude nowhere\xff\nsocks\n"),
        ("line.cfg", &line),
    ];
    for (name, text) in files {
        fs::write(at(name), text).unwrap();
        for (before, behind) in COMMANDS.into_iter().chain([CRYPT]) {
            let Output { status, stdout, stderr } = said(folder.path(), (before, behind), name);
            let err = String::from_utf8_lossy(&stderr);
            let what = format!("{before:?} {name}: {err}");
            assert!(matches!(status.code(), Some(0..=2)) && !err.contains("panicked"), "{what}");
            assert!(stdout.len() + stderr.len() < 100_000, "{what}");
            let is_run = before.first() == Some(&"run");
            assert!(!is_run || status.code() == Some(1), "{what}");
        }
        assert_eq!(fs::read(at(name)).unwrap(), text, "{name}");
    }
}

/// Who reads us may have read enough.
#[test]
fn the_reader_may_close_its_end_at_once() {
    let folder = folder();
    let many = "users \"bob:CL:x\"\nfrobnicate\n".repeat(400) + "socks\n";
    fs::write(folder.path().join("many.cfg"), many).unwrap();
    let others: [(&[&str], &[&str]); 5] = [
        (&["check", "--format", "json"], &[]),
        (&["check", "--format", "sarif"], &[]),
        (&["check", "--diff"], &[]),
        (&["fmt", "--diff"], &[]),
        (&["trace", "--json"], &["--from", "127.0.0.1", "--to", "a.test:80"]),
    ];
    let reading = COMMANDS.into_iter().filter(|(before, _)| before[0] != "run");
    for (before, behind) in reading.chain(others) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = command();
        command.args(before).arg("many.cfg").args(behind).current_dir(folder.path()).stdin(Stdio::null());
        let output =
            command.stdout(writer).stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code().is_some(), "{before:?} is killed");
        assert!(!err.contains("panicked") && !err.contains("roken pipe"), "{before:?}: {err}");
    }
}
