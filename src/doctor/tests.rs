//! Recorded hosts are examined.
use std::path::Path;

use compiler::{Compiled, compile, sources::MemoryFiles};

use super::{
    examination::{Outcome, Subject},
    examine,
    host::recorded::Recorded,
};
use crate::{args::ServedBy, report};

const CONFIG: &str = "3proxy.cfg";

fn compiled(config: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert(CONFIG, config);
    compile(Path::new(CONFIG), &files)
}

/// What is found on `host`; of process 812 where that is recorded.
fn outcome(compiled: &Compiled, host: &Recorded, served_by: ServedBy) -> Outcome {
    let process = super::host::Host::read(host, Path::new("/proc/812/limits")).ok().map(|_| 812);
    let subject = Subject { sources: &compiled.sources, program: &compiled.program, served_by, process };
    examine(subject, host).finish()
}

/// `check: seen -> needed` of all that is found, and `check?` of what could not be examined.
fn found(config: &str, host: &Recorded, served_by: ServedBy) -> Vec<String> {
    let outcome = outcome(&compiled(config), host, served_by);
    let found = outcome.found.iter().map(|diagnosis| {
        let (rule, seen, needed) = (diagnosis.finding.rule, &diagnosis.seen, &diagnosis.needed);
        format!("{rule}: {seen} -> {needed}")
    });
    found.chain(outcome.unchecked.iter().map(|unchecked| format!("{}?", unchecked.check))).collect()
}

#[track_caller]
fn check(host: &str, changes: &[(&str, &str)], config: &str, expected: &[&str]) {
    let host = changes.iter().fold(Recorded::named(host), |host, (name, value)| host.with(name, value));
    assert_eq!(found(config, &host, ServedBy::ThreeProxy), expected, "{changes:?} {config}");
}

#[test]
fn a_tuned_host_bears_much_and_a_small_one_little() {
    check("tuned", &[], "maxconn 20000\nsocks -i192.0.2.10\nproxy -i192.0.2.10\n", &[]);
    check("small", &[], "maxconn 100\nproxy -i127.0.0.1\n", &[]);
    // The default of 500 connections for each of three services is more than a shell's 1024 descriptors.
    check(
        "small",
        &[],
        "proxy -i127.0.0.1\nsocks -i127.0.0.1\nsocks -i127.0.0.1 -p1081\n",
        &["open-files: 1024 -> 3019"],
    );
}

#[test]
fn descriptors_are_those_of_connections() {
    let limit = |descriptors: &str| {
        format!("Max open files {descriptors} 1048576 files\nMax processes unlimited unlimited processes\n")
    };
    for (config, needed) in [
        ("maxconn 1000\nproxy\n", 2 * 1000 + 1 + 16),
        ("maxconn 1000\nftppr\n", 4 * 1000 + 1 + 16),
        ("maxconn 1000\nudppm 5300 192.0.2.1 53\n", 1000 + 1 + 16),
        ("maxconn 1000\nproxy -s\n", 6 * 1000 + 1 + 16),
        ("maxconn 1000\nproxy -s1\n", 4 * 1000 + 1 + 16),
        ("maxconn 1000\nproxy -s0\n", 2 * 1000 + 1 + 16),
        ("nserver 127.0.0.1\nmaxconn 1000\nproxy\n", 3 * 1000 + 1 + 16),
        ("radius secret 127.0.0.1\nauth radius\nmaxconn 1000\nproxy\n", 3 * 1000 + 1 + 16),
        ("maxconn 1000\nproxy\nmaxconn 10\nsocks\n", 2 * 1010 + 2 + 16),
    ] {
        let host = |limit: String| Recorded::named("tuned").with("/proc/812/limits", &limit);
        let enough = found(config, &host(limit(&needed.to_string())), ServedBy::ThreeProxy);
        assert_eq!(enough, [] as [&str; 0], "{config}");
        let little = found(config, &host(limit(&(needed - 1).to_string())), ServedBy::ThreeProxy);
        assert_eq!(little, [format!("open-files: {} -> {needed}", needed - 1)], "{config}");
    }
}

#[test]
fn threads_are_3proxys_alone() {
    let config = "maxconn 5000\nproxy -i192.0.2.10\n";
    let small = [
        ("kernel.threads-max", "5000"),
        ("kernel.pid_max", "5000"),
        ("vm.max_map_count", "10000"),
        ("/sys/fs/cgroup/system.slice/pids.max", "4915\n"),
    ];
    let expected = [
        "memory-maps: 10000 -> 10260",
        "tasks: 4915 -> 5002",
        "threads: 5000 -> 5113",
        "threads: 5000 -> 5113",
    ];
    check("tuned", &small, config, &expected);
    let host = small.iter().fold(Recorded::named("tuned"), |host, (name, value)| host.with(name, value));
    assert_eq!(found(config, &host, ServedBy::Cfgc), [] as [&str; 0]);
}

#[test]
fn what_no_kernel_takes_is_not_asked_for() {
    let services: String = (0..3_000).map(|n| format!("proxy -i127.0.0.1 -p{}\n", 10_000 + n)).collect();
    let compiled = compiled(&format!("maxconn 5000\n{services}"));
    let outcome = outcome(&compiled, &Recorded::named("tuned"), ServedBy::ThreeProxy);
    let threads = outcome.found.iter().filter(|diagnosis| diagnosis.finding.rule == "threads");
    let told: Vec<_> =
        threads.map(|diagnosis| (diagnosis.finding.help.as_deref(), &diagnosis.command)).collect();
    let lower = "lower `maxconn` to 1396 at most for each service: no kernel takes more than 4194304 for `kernel.pid_max`";
    assert!(told.contains(&(Some(lower), &None)), "{told:?}");
    assert!(told.iter().any(|(help, _)| help.is_some_and(|help| help.contains("threads-max="))), "{told:?}");
}

#[test]
fn the_limit_on_processes_holds_for_users() {
    let limits = "Max open files 1048576 1048576 files\nMax processes 100 100 processes\n";
    let config = "maxconn 200\nproxy -i192.0.2.10\n";
    check("tuned", &[("/proc/812/limits", limits)], config, &[]);
    check(
        "tuned",
        &[("/proc/812/limits", limits)],
        "setuid 65535\nmaxconn 200\nproxy -i192.0.2.10\n",
        &["processes: 100 -> 202"],
    );
    let user = [("/proc/812/limits", limits), ("/proc/812/status", "Uid:\t13\t13\t13\t13\nThreads:\t4\n")];
    check("tuned", &user, config, &["processes: 100 -> 202"]);
}

#[test]
fn control_groups_count_up_to_the_top_in_both_versions() {
    let config = "maxconn 200\nproxy -i192.0.2.10\n";
    for changes in [
        &[("/sys/fs/cgroup/system.slice/3proxy.service/pids.max", "100\n")][..],
        &[("/sys/fs/cgroup/system.slice/pids.max", "100\n")],
        &[
            ("/proc/812/cgroup", "9:pids:/system.slice/3proxy.service\n1:cpu:/\n0::/x\n"),
            ("/sys/fs/cgroup/pids/system.slice/pids.max", "100\n"),
        ],
    ] {
        check("tuned", changes, config, &["tasks: 100 -> 202"]);
    }
}

/// A service with many connections.
const ONE: &str = "maxconn 8000\nproxy -i192.0.2.10\n";

#[test]
fn queues() {
    let short = "backlog 200\nmaxconn 8000\nproxy -i192.0.2.10\n";
    let few = "maxconn 1000\nproxy -i192.0.2.10\n";
    for (name, value, config, expected) in [
        ("net.core.somaxconn", "128\n", ONE, &["listen-queue: 128 -> 1001"][..]),
        ("net.ipv4.tcp_max_syn_backlog", "128\n", ONE, &["listen-queue: 128 -> 1001"]),
        ("net.core.somaxconn", "128\n", short, &["listen-queue: 128 -> 200"]),
        ("net.core.somaxconn", "128\n", few, &[]),
        ("net.ipv4.tcp_syncookies", "0\n", ONE, &["syn-cookies: 0 -> 1"]),
    ] {
        check("tuned", &[(name, value)], config, expected);
    }
    let drops = "TcpExt: A ListenOverflows B ListenDrops\nTcpExt: 1 5 2 7\n";
    let expected = "listen-drops: ListenOverflows 5, ListenDrops 7 -> less than one of 10000";
    for (accepted, expected) in [("69999", &[expected][..]), ("70001", &[]), ("0", &[expected])] {
        let opened = format!("Tcp: ActiveOpens PassiveOpens\nTcp: 3 {accepted}\n");
        check("tuned", &[("/proc/net/netstat", drops), ("/proc/net/snmp", &opened)], ONE, expected);
        let datagrams = "nserver 192.0.2.1\nnscache 65536\ndnspr -i192.0.2.10\n";
        check("tuned", &[("/proc/net/netstat", drops), ("/proc/net/snmp", &opened)], datagrams, &[]);
    }
}

#[test]
fn ports_are_those_of_the_addresses_that_services_share() {
    let range = "net.ipv4.ip_local_port_range";
    let extip = |address: &str| format!("allow *\nparent 1000 extip {address} 0\n{ONE}");
    let lists = format!("{}flush\nsocks -i192.0.2.10\n", extip("192.0.2.11"));
    for (name, value, config, expected) in [
        (range, "50000 59999\n", ONE, &[][..]),
        (range, "50000 57000\n", ONE, &["local-ports: 7001 -> 8000"]),
        ("net.ipv4.ip_local_reserved_ports", "10000-60000,60002\n", ONE, &["local-ports: 5534 -> 8000"]),
        (
            range,
            "50000 57000\n",
            "maxconn 4000\nproxy -i192.0.2.10 -e192.0.2.10\nproxy -p1 -e192.0.2.11\n",
            &[],
        ),
        (range, "50000 57000\n", "maxconn 4000\nproxy -i192.0.2.10\nsocks\n", &["local-ports: 7001 -> 8000"]),
        // An entry with an address of its own doubles the ports, one with a network has no end of them.
        (range, "50000 57000\n", &extip("192.0.2.11"), &[]),
        (range, "50000 57000\n", &extip("2001:db8:1::/64"), &[]),
        (range, "50000 57000\n", &extip("0.0.0.0"), &[]),
        (range, "50000 57000\n", &lists, &["local-ports: 7001 -> 8000"]),
        ("net.ipv4.tcp_tw_reuse", "2\n", ONE, &[]),
        ("net.ipv4.tcp_tw_reuse", "2\n", "maxconn 30000\nproxy -i192.0.2.10\n", &["time-wait: 2 -> 1"]),
        (
            "net.ipv4.tcp_fin_timeout",
            "120\n",
            "maxconn 30000\nproxy -i192.0.2.10\n",
            &["time-wait: 120 -> 60 at most"],
        ),
    ] {
        check("tuned", &[(name, value)], config, expected);
    }
}

#[test]
fn memory_and_tracking() {
    let most = "524288 at most, with 16000 MiB of memory";
    let (receive, send) =
        (format!("socket-memory: 6291456 -> {most}"), format!("socket-memory: 4194304 -> {most}"));
    for (name, value, expected) in [
        ("net.ipv4.tcp_mem", "1000 2000 3000\n", &["socket-memory: 1000 2000 3000 pages -> 32000 pages"][..]),
        ("net.ipv4.tcp_mem", "1000 2000 4000000\n", &[&receive, &send]),
        ("net.netfilter.nf_conntrack_max", "10000\n", &["connection-tracking: 10000 -> 16000"]),
        ("net.netfilter.nf_conntrack_max", "16000\n", &[]),
        ("net.netfilter.nf_conntrack_helper", "1\n", &[]),
    ] {
        check("tuned", &[(name, value)], ONE, expected);
    }
    let tracked = [
        ("net.netfilter.nf_conntrack_max", "30000\n"),
        ("net.netfilter.nf_conntrack_buckets", "1024\n"),
        ("net.netfilter.nf_conntrack_tcp_timeout_established", "432000\n"),
        ("net.netfilter.nf_conntrack_helper", "1\n"),
    ];
    let expected = [
        "connection-tracking: 1024 -> 8192",
        "connection-tracking: 432000 -> 86400 at most",
        "connection-tracking: 1 -> 0",
    ];
    check("tuned", &tracked, ONE, &expected);
    // Twice as large pages hold twice as much.
    let large =
        [("net.ipv4.tcp_mem", "1000 2000 3000\n"), ("/proc/self/smaps", "KernelPageSize:       64 kB\n")];
    check("tuned", &large, ONE, &[]);
}

#[test]
fn what_can_not_be_read_is_said() {
    let config = "proxy -i192.0.2.10\n";
    check("tuned", &[("/proc/812/limits", "Max open files 9999 9999 files\n")], config, &["processes?"]);
    check("tuned", &[("net.core.somaxconn", "-")], config, &["listen-queue?"]);
    check("tuned", &[("net.core.somaxconn", "many\n")], config, &["listen-queue?"]);
    check("tuned", &[("/proc/net/netstat", "IpExt: x\n")], config, &["listen-drops?"]);
    check("tuned", &[("/proc/meminfo", "MemFree: 1 kB\n")], config, &["socket-memory?"]);
    check("tuned", &[("/proc/loadavg", "0 0 0\n")], config, &["threads?"]);
    let user = [
        ("/proc/812/limits", "Max open files 9999 9999 files\nMax processes 10 10 processes\n"),
        ("/proc/812/status", ""),
    ];
    check("tuned", &user, config, &["processes?"]);
    check("tuned", &[("/proc/812/cgroup", "-")], config, &["tasks?"]);
}

#[test]
fn kernel_help() {
    let tls = "ssl_server_cert a.pem\nssl_server_key a.key\nssl_ktls\nssl_serv\nproxy -i192.0.2.10\n";
    let unreadable = "certificate-unreadable:  -> ";
    check("tuned", &[], tls, &[unreadable]);
    let none = ("net.ipv4.tcp_available_ulp", "mptcp\n");
    check(
        "tuned",
        &[none],
        tls,
        &[unreadable, "kernel-tls: `mptcp` -> `tls` in /proc/sys/net/ipv4/tcp_available_ulp"],
    );
    check("tuned", &[none], "ssl_ktls\nproxy -i192.0.2.10\n", &[]);
    let splice = "maxconn 1000\nproxy -i192.0.2.10 -s\n";
    check("tuned", &[], splice, &[]);
    check("tuned", &[("fs.pipe-user-pages-soft", "16384\n")], splice, &["splice-pipes: 16384 -> 32000"]);
}

#[test]
fn addresses_are_this_hosts() {
    let here = "not here -> an address of an interface";
    for (config, expected) in [
        ("internal 192.0.2.10\nexternal 192.0.2.11\nproxy\n", 0),
        ("internal 192.0.2.99\nproxy\nsocks\n", 1),
        ("external 192.0.2.99\nproxy\n", 1),
        ("proxy -i192.0.2.98 -e192.0.2.99\n", 2),
        ("allow *\nparent 1000 extip 192.0.2.99 0\nproxy -i127.0.0.1\n", 1),
        ("allow *\nparent 1000 extip 2001:db8:1:2::/64 0\nproxy -i127.0.0.1\n", 0),
        ("allow *\nparent 1000 extip 2001:db8:2::/64 0\nproxy -i127.0.0.1\n", 1),
        ("allow *\nparent 1000 extip 0.0.0.0 0\nproxy -i127.0.0.1\n", 0),
        ("allow *\nparent 1000 socks5 203.0.113.1 1080\nproxy -i127.0.0.1\n", 0),
        ("radius secret 127.0.0.1/192.0.2.99\nauth radius\nproxy -i127.0.0.1\n", 1),
        ("proxy -niother -i192.0.2.99\n", 0),
    ] {
        check("tuned", &[], config, &vec![format!("address-not-here: {here}").as_str(); expected]);
    }
}

#[test]
fn secrets_are_for_the_proxy_alone() {
    let plain = "proxy -i127.0.0.1\n";
    let users = "users a:CL:b\nauth strong\nproxy -i127.0.0.1\n";
    let readable = "file-permissions: mode 0644 -> no permission for others";
    check("tuned", &[(CONFIG, "0644")], plain, &[]);
    check("tuned", &[(CONFIG, "0644")], users, &[readable]);
    check("tuned", &[(CONFIG, "0640")], users, &[]);
    for secret in ["radius s 127.0.0.1\n", "allow *\nparent 1000 http 127.0.0.1 1 a b\n"] {
        check("tuned", &[(CONFIG, "0644")], &format!("{secret}{plain}"), &[readable]);
    }
    check(
        "tuned",
        &[(CONFIG, "0602")],
        users,
        &["file-permissions: mode 0602 -> no write permission for others"],
    );
    check(
        "tuned",
        &[(".", "0777")],
        plain,
        &["file-permissions: mode 0777 of its folder -> no write permission for others"],
    );
    check("tuned", &[(".", "01777")], plain, &[]);
    let jail = "chroot /jail\nssl_client_key /k\nssl_cli\nproxy -i127.0.0.1\n";
    let modes = [("/jail/k", "0604"), ("/jail", "0755"), ("/k", "0600"), ("/", "0755")];
    check("tuned", &modes, jail, &["file-permissions: mode 0604 -> no permission for others"]);
    check("tuned", &modes[1..], jail, &[]);
    let key = "ssl_client_key /k\nssl_cli\nproxy -i127.0.0.1\n";
    check(
        "tuned",
        &[("/k", "0604"), ("/", "0755")],
        key,
        &["file-permissions: mode 0604 -> no permission for others"],
    );
}

#[test]
fn a_path_is_one_word_for_a_shell() {
    for (path, expected) in [
        ("/etc/3proxy.cfg", "/etc/3proxy.cfg"),
        ("my file", "'my file'"),
        ("it's", r"'it'\''s'"),
        ("-rf", "./-rf"),
        ("$(id)", "'$(id)'"),
    ] {
        assert_eq!(super::files::for_shell(Path::new(path)), expected);
    }
}

#[test]
fn it_is_told_in_words_and_to_programs() {
    let config = "users bob:CL:hunter2\nauth strong\nexternal 192.0.2.99\nproxy -i192.0.2.10\nmaxconn 2000\nsocks -i192.0.2.10\n";
    let compiled = compiled(config);
    let outcome =
        outcome(&compiled, &Recorded::named("small").with("net.core.somaxconn", "-"), ServedBy::ThreeProxy);
    let mut text = Vec::new();
    report::doctor::text(&mut text, &compiled.sources, &outcome, false).unwrap();
    let text = String::from_utf8(text).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/doctor/small.txt");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "UPDATE=1 writes it");
    let mut json = Vec::new();
    report::doctor::json(&mut json, &compiled.sources, &outcome).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let files = json["findings"].as_array().unwrap().iter().find(|row| row["check"] == "open-files").unwrap();
    assert_eq!(
        (&files["seen"], &files["needed"], &files["command"]),
        (&"1024".into(), &"5018".into(), &"ulimit -n 5018".into())
    );
    assert_eq!(json["summary"]["unchecked"], 1);
    assert!(!text.contains("hunter2") && !json.to_string().contains("hunter2"), "{text}");
}

#[test]
fn what_is_found_ten_thousand_times_is_told_once() {
    let line = |host: u32| format!("allow *\nparent 1000 extip 203.0.{}.{} 0\n", host / 256, host % 256);
    let config: String = (0..10_000).map(line).chain(["proxy -i127.0.0.1\n".to_owned()]).collect();
    let compiled = compiled(&config);
    let outcome = outcome(&compiled, &Recorded::named("tuned"), ServedBy::ThreeProxy);
    assert_eq!(outcome.found.len(), 10_000);
    let mut text = Vec::new();
    report::doctor::text(&mut text, &compiled.sources, &outcome, false).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.matches("deny[address-not-here]").count(), 1);
    assert!(text.contains("10000 denied, 0 warned"), "{text}");
}

/// A service without a fault of its own, behind these lines.
fn served(lines: &str) -> String {
    format!("{lines}\nmaxconn 10\nproxy -i127.0.0.1\n")
}

#[test]
fn what_the_configuration_names_has_to_be_there() {
    let missing = ["path-missing: nothing -> a folder"];
    for (lines, there, missing) in [
        ("log /var/log/p/log D", "/var/log/p", &missing[..]),
        ("log p.log", ".", &missing),
        ("counter /c/f.3cf", "/c", &missing),
        ("counter f.3cf D /reports/r", "/reports", &missing),
        ("pidfile /run/p/pid", "/run/p", &missing),
        ("chroot /jail", "/jail", &missing),
        ("monitor /etc/list", "/etc/list", &["path-missing: nothing -> a file"]),
        ("plugin /lib/x.so start", "/lib/x.so", &["path-missing: nothing -> a file"]),
        ("config /etc/other.cfg", "/etc/other.cfg", &["path-missing: nothing -> a file"]),
    ] {
        check("tuned", &[(there, "0755")], &served(lines), &[]);
        check("tuned", &[(there, "-")], &served(lines), missing);
    }
    let file = [("/var/log/p", "0100644")];
    check("tuned", &file, &served("log /var/log/p/log"), &["path-missing: no folder -> a folder"]);
    // What is called by the time of day, by a library path or by nothing can't be looked for.
    for lines in ["log /nowhere/%Y/log D", "plugin x.so start", "log", "log @syslog", "log /dev/null"] {
        check("tuned", &[("/dev", "0755")], &served(lines), &[]);
    }
}

/// What makes the folder is a command, for the user who writes there.
#[test]
fn what_is_missing_is_made_by_a_command() {
    let passwd = ("/etc/passwd", "root:x:0:0::/:\nnobody:x:65534:65534::/:\n");
    for (lines, there, command) in [
        ("log /var/log/p/log D", "/var/log/p", "mkdir -p /var/log/p"),
        (
            "setuid nobody\nlog '/var/log/p/log D",
            "'/var/log/p",
            "mkdir -p ''\\''/var/log/p' && chown 65534 ''\\''/var/log/p'",
        ),
        ("setuid nobody\ncounter /c/f.3cf", "/c", "mkdir -p /c && chown 65534 /c"),
        ("setuid 0\npidfile /run/p/pid", "/run/p", "mkdir -p /run/p"),
        ("chroot /jail", "/jail", "mkdir -p /jail"),
    ] {
        let host = Recorded::named("tuned").with(there, "-").with(passwd.0, passwd.1);
        let outcome = outcome(&compiled(&served(lines)), &host, ServedBy::ThreeProxy);
        let commands: Vec<_> = outcome.found.iter().filter_map(|found| found.command.as_deref()).collect();
        assert_eq!(commands, [command], "{lines}");
    }
}

#[test]
fn behind_chroot_paths_are_in_there() {
    let modes = [("/jail", "0755"), ("/log", "0755"), ("/jail/log", "-")];
    check("tuned", &modes, &served("log /log/p\nchroot /jail"), &[]);
    check("tuned", &modes, &served("chroot /jail\nlog /log/p"), &["path-missing: nothing -> a folder"]);
    check("tuned", &[("/jail", "0755"), ("/jail/log", "0755")], &served("chroot /jail\nlog /log/p"), &[]);
    // A second `chroot` changes users only.
    check("tuned", &modes, &served("log /log/p\nchroot /jail\nchroot /nowhere"), &[]);
}

#[test]
fn who_serves_must_be_able_to_write() {
    let users = ("/etc/passwd", "root:x:0:0::/:\nnobody:x:65534:65534::/:\n");
    let folder = |mode| [users, ("/log", mode)];
    let told = ["path-not-writable: mode 0755 of user 0 -> write permission for user 65534"];
    for (lines, mode, expected) in [
        ("setuid nobody\nlog /log/p", "0755", &told[..]),
        ("setuid 65534\nlog /log/p", "0755", &told),
        ("setuid nobody\nlog /log/p", "0775", &[]),
        ("setuid nobody\nlog /log/p", "0757", &[]),
        // It is open by then.
        ("log /log/p\nsetuid nobody", "0755", &[]),
        ("log /log/p D\nsetuid nobody", "0755", &told),
        ("log /log/p D", "0755", &[]),
        ("setuid root\nlog /log/p", "0755", &[]),
    ] {
        check("tuned", &folder(mode), &served(lines), expected);
    }
    let host = Recorded::named("tuned").with("/log", "0755").owned("/log", 65534);
    assert_eq!(found(&served("setuid 65534\nlog /log/p"), &host, ServedBy::ThreeProxy), [""; 0]);
}

#[test]
fn users_and_interfaces_are_known() {
    let accounts = [("/etc/passwd", "root:x:0:0::/:\n"), ("/etc/group", "root:x:0:\n")];
    let unknown = |what: &str| format!("user-unknown: nothing -> a {what}");
    for (lines, expected) in [
        ("setuid proxy", vec![unknown("user")]),
        ("setgid proxy\nsetuid root", vec![unknown("group")]),
        ("setgid root\nsetuid 13", vec![]),
    ] {
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check("tuned", &accounts, &served(lines), &expected);
    }
    let net = [("/sys/class/net", "0755"), ("/sys/class/net/eth0", "0755")];
    let gone = "interface-missing: nothing -> an entry in /sys/class/net";
    check("tuned", &net, "maxconn 10\nproxy -i127.0.0.1 -Deeth0\n", &[]);
    check("tuned", &net, "maxconn 10\nproxy -i127.0.0.1 -Dieth1\n", &[gone]);
    check("tuned", &[], "maxconn 10\nproxy -i127.0.0.1 -Dieth1\n", &[]);
}
