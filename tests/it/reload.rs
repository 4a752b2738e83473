//! Reloads under load, reloads that fail, and files that are watched.
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::fs::symlink,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use crate::support::{
    cfgc::Cfgc,
    client::{answer, connect, echoes, http_connect, socks5},
    server,
};

/// A configuration whose user, password and target belong together: a request with one configuration's password and another's
/// target passes under none of them, but would under a mix.
fn paired(password: &str, target: u16, more: &str) -> String {
    format!(
        "internal 127.0.0.1\nauth iponly\nallow *\nsocks -p@socks\nflush\n\
         users ann:CL:{password}\nauth strong\nallow ann * * {target}\ndeny *\nproxy -p@proxy\n{more}"
    )
}

#[test]
fn fifty_reloads_under_load_refuse_no_one_break_nothing_and_mix_nothing() {
    const CLIENTS: usize = 100;
    const RELOADS: usize = 50;
    let targets = [server::echo(), server::echo()].map(|server| server.port());
    let configs = [paired("one", targets[0], ""), paired("two", targets[1], "proxy -p@more\n")];
    let mut cfgc = Cfgc::run_with(&configs[0], &["--no-watch", "--allow", "all"]);
    let (socks, proxy) = (cfgc.at("socks"), cfgc.at("proxy"));
    let ended = Arc::new(AtomicBool::new(false));
    let begun = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (ended, begun) = (Arc::clone(&ended), Arc::clone(&begun));
            std::thread::spawn(move || {
                let mut tunnel = socks5(socks, "127.0.0.1", targets[0], None).unwrap();
                begun.fetch_add(1, Ordering::Relaxed);
                let mut passed = 0;
                let mut round = client;
                while !ended.load(Ordering::Relaxed) {
                    transfer(&mut tunnel, round);
                    passed += usize::from(ask(proxy, targets, round));
                    round += 1;
                }
                passed
            })
        })
        .collect();
    while begun.load(Ordering::Relaxed) < CLIENTS {
        std::thread::yield_now();
    }
    for reload in 1..=RELOADS {
        cfgc.rewrite(&configs[reload % 2]);
        cfgc.reload();
    }
    ended.store(true, Ordering::Relaxed);
    let passed: usize = clients.into_iter().map(|client| client.join().unwrap()).sum();
    assert!(passed > 0, "no request ever passed, so nothing was tested");
    assert!(cfgc.is_alive());
}

/// Sends something over a tunnel that lasts and wants it back.
fn transfer(tunnel: &mut TcpStream, round: usize) {
    let sent: Vec<u8> = (0..10_000).map(|at| ((at * 7 + round) % 251) as u8).collect();
    tunnel.write_all(&sent).unwrap();
    let mut back = vec![0; sent.len()];
    tunnel.read_exact(&mut back).unwrap();
    assert!(sent == back, "the tunnel changed what went through it");
}

/// Asks with each password in turn for each target. Whether it passed, which only what belongs together may.
fn ask(proxy: SocketAddr, targets: [u16; 2], round: usize) -> bool {
    let (password, target) = (round % 2, round / 2 % 2);
    let login = Some(("ann", ["one", "two"][password]));
    match http_connect(proxy, &format!("127.0.0.1:{}", targets[target]), login) {
        Ok(mut tunnel) => {
            assert_eq!(password, target, "a request passed that no configuration lets pass");
            echoes(&mut tunnel);
            true
        }
        Err(refused) => {
            assert!(matches!(refused.status, 403 | 407), "{refused:?}");
            false
        }
    }
}

const GOOD: &str = "internal 127.0.0.1\nauth iponly\nallow *\nsocks -p@socks\n";

#[test]
fn a_reload_that_fails_changes_nothing_and_says_why() {
    let echo = server::echo();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = format!(
        "internal 127.0.0.1\nflush\nauth iponly\ndeny *\nsocks -p@socks\nproxy -p{}\n",
        taken.local_addr().unwrap().port()
    );
    let denied = "internal 127.0.0.1\nauth iponly\ndeny *\nsocks -p@socks\n";
    let with = |line: &str| format!("{denied}{line}\n");
    let cases = [
        ("what 3proxy refuses", with("frobnicate"), "frobnicate"),
        ("a finding at deny level", with("flush\nauth none\ndeny *\nsocks -p@other"), "acl-under-auth-none"),
        ("an empty file", String::new(), "has no service any more"),
        ("a missing include", with("include nowhere.cfg"), "nowhere.cfg"),
        ("a missing $file", with("users $nobody"), "nobody"),
        ("what is not executed", with("daemon"), "`daemon` is not executed"),
        ("a port that is taken", taken, "in use"),
        ("one port twice", with("socks -p@socks"), "@socks"),
        ("a log that can't be written", with("log /nowhere/at/all\nsocks -p@other"), "/nowhere/at/all"),
    ];
    let mut cfgc = Cfgc::run_with(GOOD, &["--no-watch"]);
    let socks = cfgc.at("socks");
    let mut tunnel = socks5(socks, "127.0.0.1", echo.port(), None).unwrap();
    for (failures, (what, config, why)) in cases.into_iter().enumerate() {
        cfgc.rewrite(&config);
        cfgc.signal("USR1");
        let failed = |lines: &[String]| lines.iter().filter(|line| line.contains("reload failed")).count();
        cfgc.stderr.wait_until(what, |lines| failed(lines) > failures);
        let said = cfgc.stderr.so_far().join("\n");
        let why = why.replace("@socks", &socks.port().to_string());
        assert!(said.contains(&why), "{what}: `{why}` is not in:\n{said}");
        assert!(!said.contains("is in force"), "{what}:\n{said}");
        echoes(&mut tunnel);
        let mut new = socks5(socks, "127.0.0.1", echo.port(), None).unwrap();
        echoes(&mut new);
    }
    cfgc.rewrite(GOOD);
    cfgc.reload();
    echoes(&mut tunnel);
}

#[test]
fn a_service_moves_from_one_address_to_all_and_back() {
    let echo = server::echo();
    let everywhere = GOOD.replace("internal 127.0.0.1\n", "internal 0.0.0.0\n");
    let mut cfgc = Cfgc::run_with(GOOD, &["--no-watch", "--allow", "all"]);
    let mut tunnel = socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap();
    for config in [&everywhere, GOOD, &everywhere] {
        cfgc.rewrite(config);
        cfgc.reload();
        echoes(&mut tunnel);
        echoes(&mut socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap());
    }
    // What let the new socket in beside the old one has been taken back.
    let port = cfgc.at("socks").port();
    assert!(TcpListener::bind(("127.0.0.1", port)).is_err());
}

#[test]
fn a_service_that_is_taken_out_is_closed_and_its_sessions_go_on() {
    let echo = server::echo();
    let two = format!("{GOOD}socks -p@other\n");
    let mut cfgc = Cfgc::run_with(&two, &["--no-watch"]);
    let other = cfgc.at("other");
    let mut tunnel = socks5(other, "127.0.0.1", echo.port(), None).unwrap();
    cfgc.rewrite(GOOD);
    cfgc.reload();
    assert!(TcpStream::connect(other).is_err());
    echoes(&mut tunnel);
    cfgc.rewrite(&two);
    cfgc.reload();
    echoes(&mut socks5(other, "127.0.0.1", echo.port(), None).unwrap());
}

#[test]
fn a_kept_connection_is_judged_by_the_configuration_in_force() {
    let origin = server::http();
    let allowed = "internal 127.0.0.1\nauth iponly\nallow *\nproxy -p@proxy\n";
    let mut cfgc = Cfgc::run_with(allowed, &["--no-watch"]);
    let mut kept = connect(cfgc.at("proxy"));
    let get = |kept: &mut TcpStream| {
        write!(kept, "GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\n\r\n", origin.address()).unwrap();
        answer(kept).unwrap().map(|answer| answer.status)
    };
    assert_eq!(get(&mut kept), Some(200));
    cfgc.rewrite(&allowed.replace("allow *", "allow * * 127.0.0.0/8"));
    cfgc.reload();
    assert_eq!(get(&mut kept), Some(200));
    cfgc.rewrite(&allowed.replace("allow *", "deny *"));
    cfgc.reload();
    assert_eq!(get(&mut kept), Some(403));
    let mut kept = connect(cfgc.at("proxy"));
    cfgc.rewrite(&allowed.replace("proxy -p@proxy", "proxy -p@other"));
    cfgc.reload();
    assert_eq!(get(&mut kept), None, "the service is gone");
}

/// Whether a new connection passes the list.
fn passes(cfgc: &Cfgc, echo: &server::Server) -> bool {
    socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).is_ok()
}

#[test]
fn files_are_watched_through_renames_links_includes_and_monitors() {
    let echo = server::echo();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (version, list) in [("..1", "allow *\n"), ("..2", "deny *\n"), ("..3", "allow *\n")] {
        std::fs::create_dir(at(version)).unwrap();
        std::fs::write(at(version).join("list.cfg"), list).unwrap();
    }
    symlink("..1", at("..data")).unwrap();
    symlink("..data/list.cfg", at("list.cfg")).unwrap();
    std::fs::write(at("watched"), "1").unwrap();
    let (list, watched) = (at("list.cfg"), at("watched"));
    let config = |rest: &str| {
        let (list, watched) = (list.display(), watched.display());
        format!("monitor {watched}\ninternal 127.0.0.1\nauth iponly\ninclude {list}\nsocks -p@socks\n{rest}")
    };
    let mut cfgc = Cfgc::run(&config(""));
    assert!(passes(&cfgc, &echo));
    let mut generation = 1;
    let mut reloaded = |cfgc: &Cfgc, what: &str| {
        generation += 1;
        let text = format!("configuration {generation} is in force");
        cfgc.stderr.wait_for(what, |line| line.contains(&text));
    };
    for (version, expected) in [("..2", false), ("..3", true)] {
        symlink(version, at("..next")).unwrap();
        std::fs::rename(at("..next"), at("..data")).unwrap();
        reloaded(&cfgc, "the link of an include is swapped");
        assert_eq!(passes(&cfgc, &echo), expected);
    }
    std::fs::write(at("..3/list.cfg"), "deny *\n").unwrap();
    reloaded(&cfgc, "an include is written");
    assert!(!passes(&cfgc, &echo));
    cfgc.rewrite(&config("flush\nallow *\nsocks -p@other\n"));
    reloaded(&cfgc, "the configuration is replaced");
    assert!(socks5(cfgc.at("other"), "127.0.0.1", echo.port(), None).is_ok());
    std::fs::write(&watched, "2").unwrap();
    reloaded(&cfgc, "a monitored file is written");
    std::fs::write(cfgc.config_path(), "nonsense\n").unwrap();
    cfgc.stderr.wait_for("a broken configuration is written", |line| line.contains("reload failed"));
    cfgc.rewrite(&config(""));
    reloaded(&cfgc, "it is mended");
}

#[test]
fn what_waits_before_a_new_configuration_is_served() {
    let echo = server::echo();
    let one = format!("maxconn 1\n{GOOD}");
    let mut cfgc = Cfgc::run_with(&one, &["--no-watch"]);
    let mut held = socks5(cfgc.at("socks"), "127.0.0.1", echo.port(), None).unwrap();
    let mut waiting = connect(cfgc.at("socks"));
    waiting.write_all(&[5, 1, 0]).unwrap();
    cfgc.rewrite(&one.replace("maxconn 1", "maxconn 2"));
    cfgc.reload();
    let mut method = [0; 2];
    waiting.read_exact(&mut method).unwrap();
    assert_eq!(method, [5, 0]);
    echoes(&mut held);
}
