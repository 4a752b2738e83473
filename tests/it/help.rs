//! Completions and manual pages know every command.
use std::process::Command;

use crate::support::cfgc;

/// The commands, as `cfgc --help` lists them.
fn commands() -> Vec<String> {
    let help = cfgc::command().arg("--help").output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    listed
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_shell_gets_a_script() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = cfgc::command().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(script.stdout).unwrap();
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    // It knows the names that arguments may have.
    for shell in ["bash", "fish", "zsh"] {
        let script = cfgc::command().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8(script.stdout).unwrap();
        for name in ["open-proxy", "security", "all", "open-files", "not-executed"] {
            // clap's scripts for fish complete the values of options only.
            let is_option = name != "not-executed";
            assert!(script.contains(name) || shell == "fish" && !is_option, "{shell}: {name}");
        }
    }
    // The one shell that is everywhere reads it without a complaint.
    let script = cfgc::command().args(["completions", "bash"]).output().unwrap().stdout;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cfgc.bash");
    std::fs::write(&path, script).unwrap();
    let read = Command::new("bash").arg("-n").arg(&path).output().expect("the tests need bash");
    assert!(read.status.success() && read.stderr.is_empty(), "{read:?}");
    let complete = |words: &str| {
        let count = words.split(' ').count() - 1;
        let script = format!(
            ". {}; COMP_WORDS=({words}); COMP_CWORD={count}; _cfgc cfgc \"${{COMP_WORDS[$COMP_CWORD]}}\" \"${{COMP_WORDS[$COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\"",
            path.display()
        );
        String::from_utf8(Command::new("bash").args(["-c", &script]).output().unwrap().stdout).unwrap()
    };
    assert_eq!(complete("cfgc check --deny open-pr"), "open-proxy\n");
    assert_eq!(complete("cfgc run --allow securi"), "security\n");
    assert_eq!(complete("cfgc explain path-miss"), "path-missing\n");
    assert_eq!(complete("cfgc doctor --allow path-miss"), "path-missing\n");
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man/man1");
    assert!(cfgc::command().arg("man").arg(&pages).status().unwrap().success());
    for page in std::iter::once("cfgc".to_owned()).chain(commands().iter().map(|name| format!("cfgc-{name}")))
    {
        let text = std::fs::read_to_string(pages.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH SYNOPSIS"), "{page}: {text}");
    }
    // A file stands where the folder should.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    assert_eq!(cfgc::command().arg("man").arg(&file).status().unwrap().code(), Some(2));
}
