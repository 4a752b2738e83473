//! A line that sets something is told by the name of its directive or option.
use std::{collections::HashMap, path::Path};

use grammar::{
    directive::{self, Effect},
    option,
};

use crate::{Compiled, change::compare, compile, sources::MemoryFiles};

fn compiled(text: &str) -> Compiled {
    let mut files = MemoryFiles::default();
    files.insert("3proxy.cfg", text);
    compile(Path::new("3proxy.cfg"), &files)
}

/// The names of the settings that differ, those of services and of the process.
fn told(old: &str, new: &str) -> Vec<&'static str> {
    let changes = compare(&compiled(old), &compiled(new));
    assert!(changes.opened.is_empty() && changes.closed.is_empty(), "{old} → {new}: {changes:?}");
    let services = changes.changed.iter().flat_map(|service| &service.settings);
    services.chain(&changes.settings).map(|setting| setting.name).collect()
}

/// A line of each directive that sets something, in front of it what else it needs, behind it what is told where that is not its name.
const LINES: &[(&str, &str, &str)] = &[
    ("", "archiver gz gzip %F", ""),
    ("", "auth strong", ""),
    ("", "authcache user 60", ""),
    ("", "authnserver 127.0.0.9", ""),
    ("", "backlog 7", ""),
    ("", "bandlimin 1000 bob", ""),
    ("", "bandlimout 1000 bob", ""),
    ("", "chroot /var/empty", ""),
    ("", "config other.cfg", ""),
    ("", "connlim 3 60 bob", ""),
    ("", "countall 1 D 10 bob", ""),
    ("", "counter counters.bin", ""),
    ("", "countin 1 D 10 bob", ""),
    ("", "countout 1 D 10 bob", ""),
    ("", "daemon", ""),
    ("", "delimchar @", ""),
    ("", "dialer dial", ""),
    ("", "external 127.0.0.9", ""),
    ("", "fakeresolve", ""),
    ("", "filtermaxsize 1000", ""),
    ("noforce\n", "force", ""),
    ("", "log proxy.log", ""),
    ("", "logdump 1 2", ""),
    ("", "logformat L%U", ""),
    ("", "maxconn 7", ""),
    ("", "maxseg 1000", ""),
    ("", "monitor watched", ""),
    ("", "nobandlimin bob", ""),
    ("", "nobandlimout bob", ""),
    ("", "noconnlim bob", ""),
    ("", "nocountall bob", ""),
    ("", "nocountin bob", ""),
    ("", "nocountout bob", ""),
    ("", "noforce", "force"),
    ("", "nscache 65536", ""),
    ("", "nscache6 65536", ""),
    ("", "nserver 127.0.0.9", ""),
    ("nscache 65536\n", "nsrecord a.test 10.0.0.1", ""),
    ("", "parentretries 7", ""),
    ("", "pcre request deny x", ""),
    ("pcre request deny x\n", "pcre_extend deny bob", ""),
    ("", "pcre_options i", ""),
    ("", "pcre_rewrite request dunno x y", ""),
    ("", "pidfile pid", ""),
    ("", "plugin some.so start", ""),
    ("", "radius secret 127.0.0.9", ""),
    ("", "rotate 7", ""),
    ("", "service", ""),
    ("", "setgid 7", ""),
    ("", "setuid 7", ""),
    ("", "ssl_certcache cache/", ""),
    ("", "ssl_cli", ""),
    ("", "ssl_client", "ssl_cli"),
    ("", "ssl_client_alpn h2", ""),
    ("", "ssl_client_ca_dir ca", ""),
    ("", "ssl_client_ca_file ca", ""),
    ("", "ssl_client_ca_store ca", ""),
    ("", "ssl_client_cert cert", ""),
    ("", "ssl_client_cipher_list HIGH", ""),
    ("", "ssl_client_ciphersuites TLS_AES_128_GCM_SHA256", ""),
    ("", "ssl_client_key key", ""),
    ("", "ssl_client_max_proto_version TLSv1.2", ""),
    ("", "ssl_client_min_proto_version TLSv1.2", ""),
    ("", "ssl_client_mode 3", ""),
    ("ssl_client_verify\n", "ssl_client_no_verify", "ssl_client_verify"),
    ("", "ssl_client_sni a.test", ""),
    ("", "ssl_client_verify", ""),
    ("", "ssl_ktls", ""),
    ("", "ssl_mitm", ""),
    ("ssl_cli\n", "ssl_nocli", "ssl_cli"),
    ("ssl_cli\n", "ssl_noclient", "ssl_cli"),
    ("ssl_ktls\n", "ssl_noktls", "ssl_ktls"),
    ("ssl_mitm\n", "ssl_nomitm", "ssl_mitm"),
    ("ssl_serv\n", "ssl_noserv", "ssl_serv"),
    ("ssl_serv\n", "ssl_noserver", "ssl_serv"),
    ("", "ssl_serv", ""),
    ("", "ssl_server", "ssl_serv"),
    ("", "ssl_server_ca_dir ca", ""),
    ("", "ssl_server_ca_file ca", ""),
    ("", "ssl_server_ca_key ca", ""),
    ("", "ssl_server_ca_store ca", ""),
    ("", "ssl_server_cert cert", ""),
    ("", "ssl_server_cipher_list HIGH", ""),
    ("", "ssl_server_ciphersuites TLS_AES_128_GCM_SHA256", ""),
    ("", "ssl_server_key key", ""),
    ("", "ssl_server_max_proto_version TLSv1.2", ""),
    ("", "ssl_server_min_proto_version TLSv1.2", ""),
    ("ssl_server_verify\n", "ssl_server_no_verify", "ssl_server_verify"),
    ("", "ssl_server_verify", ""),
    ("", "stacksize 1000", ""),
    ("", "system true", ""),
    ("", "timeouts 1 2 3", ""),
    ("", "writable", ""),
];

/// Told otherwise: services by where they listen, lists by requests, users by their names; or they set nothing of their own.
const NO_SETTING: &[&str] = &[
    "allow", "deny", "redirect", "nolog", "weight", "parent", "flush", "users", "include", "end", "internal",
];

#[test]
fn every_directive_that_sets_something_is_told_by_its_name() {
    let mut faults = Vec::new();
    let lines: HashMap<&str, _> =
        LINES.iter().map(|line| (line.1.split(' ').next().unwrap_or_default(), line)).collect();
    for row in directive::all() {
        if row.effect == Effect::Service || NO_SETTING.contains(&row.name) {
            continue;
        }
        let Some((before, line, name)) = lines.get(row.name) else {
            panic!("`{}`: add a line that sets something", row.name)
        };
        let name = if name.is_empty() { row.name } else { name };
        let found = told(&format!("{before}proxy -p3128\n"), &format!("{before}{line}\nproxy -p3128\n"));
        if found.is_empty() || found.iter().any(|told| *told != name) {
            faults.push(format!("{line}: {found:?}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_only_stands_elsewhere_is_the_same() {
    for (before, line, _) in LINES {
        let text = format!("{before}{line}\nproxy -p3128\n");
        assert_eq!(told(&text, &format!("# a comment\n{text}")), [""; 0], "{line}");
    }
    for (service, option, _) in OPTIONS {
        let text = format!("{service} -p3128 {option}\n");
        assert_eq!(told(&text, &format!("# a comment\n{text}")), [""; 0], "{option}");
    }
}

/// An option on a service that has it, behind it what is told where that is not its name.
const OPTIONS: &[(&str, &str, &str)] = &[
    ("proxy", "-e127.0.0.9", "external"),
    ("proxy", "-4", ""),
    ("proxy", "-6", ""),
    ("proxy", "-46", ""),
    ("proxy", "-64", ""),
    ("proxy", "-Dilo", ""),
    ("proxy", "-Delo", ""),
    ("proxy", "-Dlo", "-De"),
    ("proxy", "-nispace", ""),
    ("proxy", "-nespace", ""),
    ("proxy", "-rhost:1", ""),
    ("proxy", "-Rhost:1", ""),
    ("proxy", "-ocTCP_NODELAY", ""),
    ("proxy", "-osTCP_NODELAY", ""),
    ("proxy", "-olTCP_NODELAY", ""),
    ("proxy", "-orTCP_NODELAY", ""),
    ("proxy", "-oRTCP_NODELAY", "-or"),
    ("proxy", "-lproxy.log", "log"),
    ("proxy", "-fL%U", "logformat"),
    ("proxy", "-t", ""),
    ("proxy", "-b1000", ""),
    ("proxy", "-S1000", ""),
    ("proxy", "-d", ""),
    ("proxy", "-H", ""),
    ("proxy", "-g100,2,10", ""),
    ("proxy", "-s1", ""),
    ("dnspr", "-s", ""),
    ("proxy", "-C0", ""),
    ("proxy", "-c1", ""),
    ("proxy", "-u2", ""),
    ("socks", "-N10.0.0.1", "-Ne"),
    ("socks", "-Ne10.0.0.1", ""),
    ("socks", "-Ni10.0.0.1", ""),
    ("socks", "-U1", ""),
    ("proxy", "-a1", ""),
    ("proxy", "-T", ""),
    ("smtpp", "-x", ""),
    ("tlspr", "-Xsmtp", ""),
    ("smtpp", "-P26", ""),
    ("smtpp", "-hhost", ""),
    ("dnspr", "-F10.0.0.1", ""),
];

/// Where it listens makes a service another one; `-n` does nothing.
const NO_SETTING_OF_A_SERVICE: &[&str] = &["-p", "-i", "-n"];

#[test]
fn every_option_is_told_by_its_flag() {
    let mut faults = Vec::new();
    for row in option::all() {
        let flag = row.flag;
        if NO_SETTING_OF_A_SERVICE.contains(&flag) {
            continue;
        }
        let is_of_row =
            |word: &str| option::find(word.as_bytes()).is_some_and(|(found, _)| found.flag == flag);
        let lines: Vec<_> = OPTIONS.iter().filter(|(_, word, _)| is_of_row(word)).collect();
        assert!(!lines.is_empty(), "`{flag}`: add one that sets something");
        for (service, option, name) in lines {
            let name = if name.is_empty() { flag } else { name };
            let found = told(&format!("{service} -p3128\n"), &format!("{service} -p3128 {option}\n"));
            if found != [name] {
                faults.push(format!("{service} {option}: {found:?}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_port_mapper_s_target_is_told_by_its_command() {
    assert_eq!(told("tcppm 22 a.test 22\n", "tcppm 22 b.test 22\n"), ["tcppm"]);
}

#[test]
fn settings_of_one_directive_are_told_apart() {
    let tls = "ssl_server_cert a\nssl_server_key b\n";
    assert_eq!(
        told(&format!("{tls}proxy\n"), &format!("{}proxy\n", tls.replace('b', "c"))),
        ["ssl_server_key"]
    );
    assert_eq!(told("proxy -4\n", "proxy -6\n"), ["-4", "-6"]);
    assert_eq!(told("countin 1 D 10\nproxy\n", "countout 1 D 10\nproxy\n"), ["countin", "countout"]);
}
