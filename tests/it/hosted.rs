//! What continuous integration runs: the shell steps of `action.yml`, by hand.
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

use crate::support::repo;

/// The script of the step that has this name.
fn step(name: &str) -> String {
    let action = fs::read_to_string(repo::root().join("action.yml")).unwrap();
    let (_, step) = action.split_once(&format!("name: {name}\n")).expect("there is such a step");
    let (_, script) = step.split_once("run: |\n").unwrap();
    let lines = script.lines().take_while(|line| line.is_empty() || line.starts_with("        "));
    lines.map(|line| line.trim_start_matches("        ").to_owned() + "\n").collect()
}

/// Runs a script as a step in `folder`. `None`: there is no bash here.
fn run(script: &str, folder: &Path, variables: &[(&str, &str)]) -> Option<Output> {
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder);
    command.envs(variables.iter().copied()).output().ok()
}

#[test]
fn the_check_step_tells_what_is_found_and_how_it_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("root/bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_cfgc"), path("root/bin/cfgc")).unwrap();
    fs::create_dir_all(path("conf with blanks/.git")).unwrap();
    fs::write(path("conf with blanks/3proxy.cfg"), "internal 127.0.0.1\nsocks\n  flush\n").unwrap();
    fs::write(path("bad.cfg"), "frobnicate\n").unwrap();
    let root = path("root");
    let root = root.to_str().unwrap();
    let script = step("Check");
    for (files, arguments, sarif, status, says) in [
        ("conf with blanks\n", "", "", 0, "::warning file=conf with blanks/3proxy.cfg,line=3"),
        (
            "\n  \nconf with blanks/3proxy.cfg",
            "\n--deny-warnings\n--no-config\n",
            "out.sarif",
            1,
            "::warning file=",
        ),
        ("conf with blanks\nbad.cfg", "", "out.sarif", 1, "::error file=bad.cfg,line=1"),
        ("missing.cfg\nbad.cfg", "", "out.sarif", 2, "::error file=bad.cfg,line=1"),
        ("$(touch made)\n`touch made`\n--fix", "", "", 2, "can't be read"),
        ("bad.cfg", "--allow=nonsense", "out.sarif", 2, ""),
        ("bad.cfg", "", "no/such/folder.sarif", 1, ""),
    ] {
        let variables = [("ROOT", root), ("FILES", files), ("ARGUMENTS", arguments), ("SARIF", sarif)];
        let Some(output) = run(&script, folder.path(), &variables) else { return };
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        let what = format!("{files:?} {arguments:?}: {out}{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{what}");
        assert!(out.contains(says) || what.contains("can't be read"), "{what}");
        if sarif == "out.sarif" {
            let written = fs::read(path(sarif)).unwrap();
            let is_log = serde_json::from_slice::<serde_json::Value>(&written).is_ok();
            assert_eq!(is_log, !arguments.contains("nonsense"), "{what}");
        } else if !sarif.is_empty() {
            assert!(
                !out.contains("::error"),
                "a log that can't be written is told, not checked past: {what}"
            );
        }
    }
    assert!(!path("made").exists() && fs::read_to_string(path("bad.cfg")).unwrap() == "frobnicate\n");
}

#[test]
fn what_is_built_is_known_by_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::create_dir_all(path("action/src/target")).unwrap();
    fs::create_dir_all(path("action/.git")).unwrap();
    fs::write(path("action/src/main.rs"), "fn main() {}").unwrap();
    let script = step("Identify cfgc");
    let key = |system: &str| {
        let _ = fs::remove_file(path("output"));
        let (action, output) = (path("action"), path("output"));
        let variables = [
            ("GITHUB_ACTION_PATH", action.to_str().unwrap()),
            ("GITHUB_OUTPUT", output.to_str().unwrap()),
            ("RUNNER_TEMP", "/runner/temp"),
            ("RUNNER_OS", system),
            ("RUNNER_ARCH", "X64"),
            ("ImageOS", "ubuntu24"),
        ];
        let done = run(&script, folder.path(), &variables)?;
        let told = fs::read_to_string(&output).unwrap_or_default();
        assert_eq!(done.status.success(), system != "Windows", "{}", String::from_utf8_lossy(&done.stderr));
        Some(told)
    };
    let Some(first) = key("Linux") else { return };
    let hash = first.trim_end().rsplit('-').next().unwrap();
    assert!(first.starts_with("root=/runner/temp/cfgc\nkey=cfgc-Linux-X64-ubuntu24-"), "{first}");
    assert!(hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{first}");
    fs::write(path("action/.git/index"), "other").unwrap();
    fs::write(path("action/src/target/built"), "other").unwrap();
    assert_eq!(key("Linux").unwrap(), first);
    fs::write(path("action/src/main.rs"), "fn main() { }").unwrap();
    assert_ne!(key("Linux").unwrap(), first);
    assert_eq!(key("Windows").unwrap(), "");
}
