//! `cfgc doctor` on the machine that runs the tests: what is so on every one.
use std::{net::TcpListener, process::Output};

use crate::support::cfgc;

/// What it finds, as `check message`.
fn found(output: &Output) -> Vec<String> {
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap().iter();
    findings
        .map(|row| format!("{} {}", row["check"].as_str().unwrap(), row["message"].as_str().unwrap()))
        .collect()
}

#[test]
fn an_address_of_another_host_is_found() {
    // TEST-NET-1: nobody has it.
    let output =
        cfgc::output(&["doctor", "--json"], "maxconn 1\nexternal 192.0.2.99\nproxy -i127.0.0.1 -p@p\n");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(found(&output).iter().any(|row| row.starts_with("address-not-here `192.0.2.99`")), "{output:?}");
}

#[test]
fn a_check_can_be_left_out() {
    let config = "maxconn 1\nexternal 192.0.2.99\nproxy -i127.0.0.1 -p@p\n";
    let output = cfgc::output(&["doctor", "--json", "--allow", "address-not-here"], config);
    assert!(found(&output).iter().all(|row| !row.starts_with("address-not-here")), "{output:?}");
    let output = cfgc::output(&["doctor", "--allow", "adress-not-here"], config);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("did you mean `address-not-here`?"),
        "{output:?}"
    );
}

#[test]
fn who_does_not_answer_is_found_when_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let up = listener.local_addr().unwrap().port();
    let down = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "maxconn 1\nallow *\nparent 500 socks5 127.0.0.1 {up}\nparent 500 socks5 127.0.0.1 {down}\nproxy -i127.0.0.1 -p@p\n"
    );
    let silent = |arguments: &[&str]| -> Vec<String> {
        let rows = found(&cfgc::output(arguments, &config));
        rows.into_iter().filter(|row| row.starts_with("no-answer")).collect()
    };
    assert_eq!(silent(&["doctor", "--json"]), [] as [&str; 0]);
    let expected =
        format!("no-answer the parent `127.0.0.1:{down}` does not answer: the connection is refused");
    assert_eq!(silent(&["doctor", "--json", "--probe"]), [expected]);
}

#[test]
fn the_limits_of_a_process_are_looked_at() {
    let config = "maxconn 2000000000\nproxy -i127.0.0.1 -p@p\n";
    let level = |arguments: &[&str]| {
        let output = cfgc::output(arguments, config);
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut rows = document["findings"].as_array().unwrap().clone();
        rows.retain(|row| {
            row["check"] == "open-files"
                && row["command"].as_str().is_some_and(|command| command.starts_with("ulimit"))
        });
        rows.pop().unwrap()["level"].clone()
    };
    assert_eq!(level(&["doctor", "--json"]), "warn");
    assert_eq!(level(&["doctor", "--json", "--pid", &std::process::id().to_string()]), "deny");
    let nobody = cfgc::output(&["doctor", "--pid", "4294967295"], config);
    assert_eq!(nobody.status.code(), Some(2), "{nobody:?}");
}

#[test]
fn threads_are_asked_for_unless_cfgc_serves() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("3proxy.cfg"), "maxconn 2000000000\nproxy -i127.0.0.1\n").unwrap();
    let asks_for_threads = |arguments: &[&str]| {
        let mut command = cfgc::command();
        let output =
            command.args(["doctor", "--json", "3proxy.cfg"]).args(arguments).current_dir(&folder).output();
        found(&output.unwrap()).iter().any(|row| row.starts_with("memory-maps"))
    };
    assert!(asks_for_threads(&[]));
    assert!(!asks_for_threads(&["--target", "cfgc"]));
    std::fs::write(folder.path().join("cfgc.toml"), "target = \"cfgc\"\n").unwrap();
    assert!(!asks_for_threads(&[]));
    assert!(asks_for_threads(&["--target", "3proxy"]));
}

#[test]
fn a_folder_that_is_not_there_is_found() {
    let config = "log /nowhere/at/all/log D\ncounter here.3cf\nmaxconn 1\nproxy -i127.0.0.1 -p@p\n";
    let found = found(&cfgc::output(&["doctor", "--json"], config));
    let of_paths: Vec<_> = found.iter().filter(|row| row.starts_with("path-")).collect();
    assert_eq!(of_paths, ["path-missing there is no folder `/nowhere/at/all` for the log file"]);
}

#[test]
fn without_a_configuration_there_is_nothing_to_examine() {
    let output = cfgc::command().args(["doctor", "/nowhere/3proxy.cfg"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
}
