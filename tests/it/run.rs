//! `cfgc run` as a process: how it starts, logs, is overloaded, and ends.
use std::{
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    sync::mpsc,
    time::Duration,
};

use crate::support::{
    cfgc::{Cfgc, command, output},
    client::{connect, echoes, http_get, socks5},
    server,
};

const SOCKS: &str = "internal 127.0.0.1\nauth iponly\nallow *\nsocks -p@socks\n";

#[test]
fn what_can_not_be_run_is_refused_with_a_status() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!("internal 127.0.0.1\nallow *\nsocks -p{}\n", taken.local_addr().unwrap().port());
    let cases = [
        (&["run"][..], "frobnicate\n", 1, "frobnicate"),
        (&["run", "--allow", "all"], "frobnicate\n", 1, "frobnicate"),
        (&["run"], "auth iponly\ndaemon\nproxy -p@a -i127.0.0.1\n", 1, "`daemon` is not executed"),
        (&["run", "--allow", "all"], "auth iponly\ndaemon\nproxy -p@a\n", 1, "`daemon` is not executed"),
        (&["run", "--allow", "nonsense"], SOCKS, 2, "nonsense"),
        (&["run"], &taken, 2, "in use"),
        (&["run"], "internal 127.0.0.1\nallow *\nlog /nowhere/at/all\nsocks -p@a\n", 2, "/nowhere/at/all"),
        (
            &["run"],
            "internal 127.0.0.1\nallow *\npidfile /nowhere/at/all\nsocks -p@a\n",
            2,
            "/nowhere/at/all",
        ),
    ];
    for (arguments, config, status, why) in cases {
        let output = output(arguments, config);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments:?} {config}\n{said}");
        assert!(said.contains(why), "`{why}` is not in:\n{said}");
        assert!(!said.contains("ready:"), "{said}");
    }
}

#[test]
fn standard_input_is_no_file_to_run() {
    let said = command().args(["run", "-"]).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("`run` does not read standard input"), "{said}");
}

#[test]
fn an_allowed_rule_does_not_refuse() {
    let cfgc = Cfgc::run_with("auth iponly\nallow *\nsocks -p@socks\n", &["--allow", "open-proxy"]);
    let ready = format!("ready: listening on 0.0.0.0:{}", cfgc.at("socks").port());
    cfgc.stderr.wait_for("ready", |line| line.contains(&ready));
}

#[test]
fn records_go_to_standard_output_in_the_format_asked_for() {
    let echo = server::echo();
    let config = format!("log\nlogformat \"L%N|%E|%U|%C|%n:%q|%R:%r|%O|%I|%h|%p|%T\"\n{SOCKS}");
    let cfgc = Cfgc::run(&config);
    let started =
        format!("SOCKS|00000|-|0.0.0.0|[0.0.0.0]:0|0.0.0.0:0|0|0|0|{}|Accepting", cfgc.at("socks").port());
    cfgc.stdout.wait_for("the start", |line| line.starts_with(&started));
    let mut tunnel = socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap();
    echoes(&mut tunnel);
    drop(tunnel);
    let (echo, socks) = (echo.port(), cfgc.at("socks").port());
    let wanted = format!(
        "SOCK5|00000|-|127.0.0.1|127.0.0.1:{echo}|127.0.0.1:{echo}|9|9|0|{socks}|CONNECT 127.0.0.1:{echo}"
    );
    cfgc.stdout.wait_for("the session", |line| line == wanted);
}

#[test]
fn a_log_file_that_was_renamed_is_begun_anew() {
    let echo = server::echo();
    let mut cfgc = Cfgc::run(&format!("log access.log\nlogformat \"L%E %T\"\n{SOCKS}"));
    let once = |cfgc: &Cfgc| drop(socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap());
    once(&cfgc);
    let wanted = format!("00000 CONNECT 127.0.0.1:{}", echo.port());
    let (sender, written) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event| drop(sender.send(event))).unwrap();
    let folder = cfgc.path("access.log").parent().unwrap().to_owned();
    notify::Watcher::watch(&mut watcher, &folder, notify::RecursiveMode::NonRecursive).unwrap();
    let holds = |path: &std::path::Path| {
        while !std::fs::read_to_string(path).is_ok_and(|text| text.contains(&wanted)) {
            let event = written.recv_timeout(crate::support::DEADLINE);
            assert!(event.is_ok(), "no record in {}", path.display());
        }
    };
    holds(&cfgc.path("access.log"));
    std::fs::rename(cfgc.path("access.log"), cfgc.path("old.log")).unwrap();
    // A reload opens it again at once; without one that happens within a second.
    cfgc.reload();
    once(&cfgc);
    holds(&cfgc.path("access.log"));
    assert!(cfgc.is_alive());
}

#[test]
fn at_maxconn_clients_wait_and_it_is_said_once() {
    let echo = server::echo();
    let cfgc = Cfgc::run(&format!("maxconn 2\n{SOCKS}"));
    let socks = cfgc.at("socks");
    let open = || socks5(socks, "127.0.0.1", echo.port(), None).unwrap();
    let (first, mut second) = (open(), open());
    let full = |line: &str| line.contains("further clients wait");
    cfgc.stderr.wait_for("the limit", full);
    let mut waiting = connect(socks);
    waiting.write_all(&[5, 1, 0]).unwrap();
    waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let mut method = [0; 2];
    assert!(waiting.read_exact(&mut method).is_err(), "a third client was served");
    drop(first);
    waiting.set_read_timeout(Some(crate::support::DEADLINE)).unwrap();
    waiting.read_exact(&mut method).unwrap();
    echoes(&mut second);
    assert_eq!(cfgc.stderr.so_far().iter().filter(|line| full(line)).count(), 1);
}

#[test]
fn without_descriptors_it_backs_off_says_so_and_goes_on() {
    let origin = server::http();
    let config = "internal 127.0.0.1\nauth iponly\nallow *\nproxy -p@proxy\n";
    let cfgc = Cfgc::run_limited(config, 40);
    let proxy = cfgc.at("proxy");
    let many: Vec<TcpStream> = (0..60).map(|_| connect(proxy)).collect();
    cfgc.stderr.wait_for("the shortage", |line| line.contains("can't accept clients now"));
    drop(many);
    let answer = http_get(proxy, &format!("http://{}/after", origin.address()), None);
    assert_eq!(answer.status, 200);
}

#[test]
fn term_lets_sessions_end_and_a_second_one_does_not_wait() {
    let echo = server::echo();
    for second in [false, true] {
        let mut cfgc = Cfgc::run(SOCKS);
        let socks = cfgc.at("socks");
        let mut tunnel = socks5(socks, "127.0.0.1", echo.port(), None).unwrap();
        echoes(&mut tunnel);
        cfgc.signal("TERM");
        cfgc.stderr.wait_for("the end to come", |line| line.contains("ending when 1 session has ended"));
        echoes(&mut tunnel);
        if second {
            cfgc.signal("TERM");
        } else {
            drop(tunnel);
        }
        assert_eq!(cfgc.ended(), Some(0));
        assert!(TcpStream::connect(socks).is_err());
    }
}

#[test]
fn services_share_a_port_when_both_ask_for_it() {
    let echo = server::echo();
    let twice = format!("{SOCKS}socks -p@socks\n").replace("socks -p", "socks -olSO_REUSEPORT -p");
    let mut cfgc = Cfgc::run(&twice);
    let ready = format!("ready: listening on {0}, {0}", cfgc.at("socks"));
    cfgc.stderr.wait_for("both", |line| line.contains(&ready));
    cfgc.rewrite(&twice.replace("allow *", "allow * * *"));
    cfgc.reload();
    for _ in 0..8 {
        echoes(&mut socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap());
    }
}

#[test]
fn the_process_id_is_where_pidfile_says() {
    let cfgc = Cfgc::run(&format!("pidfile run.pid\n{SOCKS}"));
    cfgc.stderr.wait_for("ready", |line| line.contains("ready"));
    let pid = std::fs::read_to_string(cfgc.path("run.pid")).unwrap();
    assert_eq!(pid, cfgc.id().to_string());
}

#[test]
fn a_pidfile_that_is_a_pipe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output =
        output(&["run"], &format!("internal 127.0.0.1\nallow *\npidfile {}\nsocks -p@a\n", pipe.display()));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("it is a pipe"), "{said}");
}

#[test]
fn of_many_addresses_the_first_are_named() {
    let services: String = (0..10).map(|number| format!("socks -p@p{number}\n")).collect();
    let cfgc = Cfgc::run(&format!("internal 127.0.0.1\nauth iponly\nallow *\n{services}"));
    let last = format!(", {} and 2 more", cfgc.at("p7"));
    cfgc.stderr.wait_for("ready", |line| line.contains("ready") && line.ends_with(&last));
}

/// Nobody writes to the pipe, so the configuration is never there.
#[test]
fn a_signal_ends_a_start_that_waits() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for signal in ["TERM", "INT"] {
        let mut waiting = command().arg("run").arg(&pipe).spawn().unwrap();
        // It has its signal handlers when the pipe has a reader: opening it to write waits for that.
        let writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        let id = waiting.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        assert_eq!(waiting.wait().unwrap().code(), Some(0));
        drop(writer);
    }
}

#[test]
fn a_signal_ends_a_reload_that_waits() {
    for signal in ["TERM", "INT"] {
        let mut cfgc = Cfgc::run_with(SOCKS, &["--no-watch"]);
        cfgc.stderr.wait_for("ready", |line| line.contains("ready"));
        let pipe = cfgc.config_path();
        std::fs::remove_file(&pipe).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        cfgc.signal("HUP");
        let writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        cfgc.signal(signal);
        assert_eq!(cfgc.ended(), Some(0));
        drop(writer);
    }
}
