//! No password is printed, wherever a line has it and however it is broken.
use std::{
    path::Path,
    process::{Output, Stdio},
};

use proptest::{
    prelude::{Strategy, any},
    sample::{Index, select},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};
use tempfile::TempDir;

use crate::support::{
    cfgc::{Cfgc, command},
    client::{http_get, socks5},
    formats, server,
};

/// What every password has in it, at its start and at its end.
const CORE: &str = "zqjxkvw";
/// What may stand between.
const MIDDLES: [&str; 9] = ["", ",", ":", "`", "$", "$1$salt$", "@", "%41", "/"];
/// How many configurations are tried, and the lines of each.
const CONFIGURATIONS: u32 = 20;
const LINES: usize = 40;

#[test]
fn no_format_of_check_prints_one() {
    let formats = formats::FINDINGS.map(|format| vec!["--format", format]);
    let diffs = [vec!["--diff"], vec!["--diff", "--unsafe-fixes"]];
    let all: Vec<_> = formats.into_iter().chain(diffs).collect();
    holds(|folder| {
        for arguments in &all {
            hides(folder, "check", arguments);
        }
    });
}

#[test]
fn no_other_command_prints_one() {
    holds(|folder| {
        std::fs::write(folder.join("other.cfg"), "auth iponly\nproxy\n").unwrap();
        std::fs::write(folder.join("tests.toml"), TESTS).unwrap();
        hides(folder, "ir", &["--json"]);
        hides(folder, "doctor", &[]);
        hides(folder, "doctor", &["--json"]);
        for json in [&[][..], &["--json"]] {
            let question = ["--service", "3128", "--from", "10.0.0.1", "--user", "bob", "--to", "a.test:80"];
            hides(folder, "trace", &[&question, json].concat());
        }
        hides(folder, "diff", &["other.cfg"]);
        hides(folder, "diff", &["--json", "other.cfg"]);
    });
}

/// What these print hangs on decisions, so the configurations are such as 3proxy accepts.
#[test]
fn no_command_that_decides_prints_one() {
    holds_of(accepted(), |folder| {
        std::fs::write(folder.join("other.cfg"), "auth iponly\nproxy\n").unwrap();
        std::fs::write(folder.join("tests.toml"), TESTS).unwrap();
        for format in formats::SUITES {
            let told =
                hides_in(folder, &["test", "--coverage", "--format", format, "3proxy.cfg", "tests.toml"]);
            assert!(told.contains("fail") || told.contains("\"passed\": false"), "no test fails: {told}");
        }
        hides(folder, "ir", &["--json"]);
        for json in [&[][..], &["--json"]] {
            let question = ["--service", "3128", "--from", "10.0.0.1", "--user", "bob", "--to", "a.test:80"];
            hides(folder, "trace", &[&question, json].concat());
            hides(folder, "diff", &[json, &["other.cfg"]].concat());
        }
    });
}

#[test]
fn no_configuration_that_does_not_start_prints_one() {
    holds(|folder| {
        // Nobody has that address, so it never starts, whatever the rest says.
        let path = folder.join("3proxy.cfg");
        let text = std::fs::read_to_string(&path).unwrap() + "proxy -p1 -i192.0.2.99\n";
        std::fs::write(path, text).unwrap();
        hides(folder, "run", &["--no-watch"]);
    });
}

/// Two configurations that run, with passwords wherever one can stand. `N` tells them apart.
const RUNNING: &str = "\
internal 127.0.0.1
log
logformat \"L%E %U %n %T\"
users bob:CL:zqjxkvwNzqjxkvw \"eve:CR:$1$zqjxkvw$zqjxkvw\" \"zed:CL:zqjxkvw,zqjxkvw\"
authcache user,pass 60
auth cache strong
allow bob * * *
allow zed * 127.0.0.1
parent 1000 http 127.0.0.1 @closed zqjxkvw zqjxkvwNzqjxkvw
proxy -p@proxy
socks -p@socks
";

#[test]
fn nothing_that_runs_prints_one() {
    let origin = server::http();
    let mut cfgc = Cfgc::run_with(&RUNNING.replace('N', "1"), &["--allow", "all", "--no-watch"]);
    let use_it = |cfgc: &Cfgc, number: &str| {
        let right = format!("zqjxkvw{number}zqjxkvw");
        for password in [right.as_str(), "zqjxkvw-wrong"] {
            let url = format!("http://{}/", origin.address());
            http_get(cfgc.at("proxy"), &url, Some(("bob", password)));
            http_get(cfgc.at("proxy"), &url, Some(("zed", "zqjxkvw,zqjxkvw")));
            let inside = format!("http://bob:{password}@{}/", origin.address());
            http_get(cfgc.at("proxy"), &inside, Some(("bob", right.as_str())));
            drop(socks5(cfgc.at("socks"), "127.0.0.1", origin.port(), Some(("bob", password))));
        }
    };
    use_it(&cfgc, "1");
    cfgc.rewrite(&RUNNING.replace('N', "2"));
    cfgc.reload();
    use_it(&cfgc, "2");
    for broken in [
        "users bob:XX:zqjxkvw\nusrs bob:CL:zqjxkvw\n",
        "radius zqjxkvw zqjxkvw\n",
        "allow bob:CL:zqjxkvw,zqjxkvw bob:CL:zqjxkvw,zqjxkvw\n",
    ] {
        cfgc.rewrite(&(RUNNING.replace('N', "3") + broken));
        let told = |lines: &[String]| lines.iter().filter(|line| line.contains("reload failed")).count();
        let before = told(&cfgc.stderr.so_far());
        cfgc.signal("HUP");
        cfgc.stderr.wait_until("that it was not reloaded", |lines| told(lines) > before);
    }
    cfgc.signal("TERM");
    assert_eq!(cfgc.ended(), Some(0));
    for lines in [&cfgc.stdout, &cfgc.stderr] {
        assert!(!lines.comes("the end", |_| false));
        let lines = lines.so_far();
        assert!(lines.len() > 5, "{lines:?}");
        let shown: Vec<_> = lines.iter().filter(|line| line.to_lowercase().contains(CORE)).collect();
        assert!(shown.is_empty(), "`cfgc run` prints a password: {shown:#?}");
    }
}

/// Tries `check` on random configurations, which are `3proxy.cfg` in the folder that it is given.
fn holds(check: impl Fn(&Path)) {
    holds_of(line(), check);
}

/// The same of configurations with these lines.
fn holds_of(line: impl Strategy<Value = String>, check: impl Fn(&Path)) {
    let lines = proptest::collection::vec(line, LINES);
    let config =
        Config { cases: CONFIGURATIONS, max_shrink_iters: 0, failure_persistence: None, ..Config::default() };
    // The same each time: whether a change is good does not depend on luck.
    let numbers = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, numbers)
        .run(&lines, |lines| {
            let folder = TempDir::new().unwrap();
            let text = format!("{}\nauth iponly\nallow *\nproxy -p3128 -i127.0.0.1\n", lines.join("\n"));
            std::fs::write(folder.path().join("3proxy.cfg"), text).unwrap();
            check(folder.path());
            Ok(())
        })
        .unwrap();
}

/// Tests that every configuration fails: what they print names what it decides.
const TESTS: &str = "\
[defaults]
service = \"proxy:3128\"
from = \"10.0.0.1\"

[[test]]
name = \"one\"
user = \"bob\"
to = \"a.test:80\"
expect = \"deny\"
parent = \"direct\"

[[test]]
name = \"other\"
to = \"a.test:80\"
expect = \"allow\"
entry = 1
";

/// Runs a command on the configuration, looks through what it prints, and returns its output.
fn hides(folder: &Path, name: &str, arguments: &[&str]) -> String {
    hides_in(folder, &[&[name], arguments, &["3proxy.cfg"]].concat())
}

/// The same of a command line in the configuration's folder.
fn hides_in(folder: &Path, arguments: &[&str]) -> String {
    let Output { stdout, stderr, .. } =
        command().args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    assert!(!stdout.is_empty() || !stderr.is_empty(), "`cfgc {arguments:?}` prints nothing");
    let complaint = String::from_utf8_lossy(&stderr);
    assert!(!complaint.contains("try '--help'"), "`cfgc {arguments:?}` is no command line: {complaint}");
    let output = String::from_utf8_lossy(&stdout).into_owned();
    for printed in [stdout, stderr] {
        let printed = String::from_utf8_lossy(&printed).to_lowercase();
        let shown: Vec<_> = printed.lines().filter(|line| line.contains(CORE)).collect();
        assert!(shown.is_empty(), "`cfgc {arguments:?}` prints a password:\n{}", shown.join("\n"));
    }
    output
}

/// A line with a password.
fn line() -> impl Strategy<Value = String> {
    (select(&MIDDLES[..]), any::<bool>(), any::<[Index; 3]>()).prop_map(|(middle, quoted, choices)| {
        let secret = format!("{CORE}{middle}{CORE}");
        let [kind, first, second] = choices;
        let line = match kind.index(5) {
            0 => users(&secret, first),
            1 => parent(&secret, first, second),
            2 => radius(&secret, first, second),
            3 => bare(&secret, first),
            _ => other(&secret, first, second),
        };
        if quoted { quote(&line, &secret) } else { line }
    })
}

/// The line with the word that has the secret in quotes.
fn quote(line: &str, secret: &str) -> String {
    let words = line
        .split(' ')
        .map(|word| if word.contains(secret) { format!("\"{word}\"") } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
}

fn users(secret: &str, form: Index) -> String {
    let forms = [
        "users bob:CL:S",
        "users bob:cr:S alice:CL:x",
        "users alice:CL:x bob:S",
        "users bob S",
        "users S",
        "users bob: CL: S",
        "users bob:NT:S # who",
        "usrs bob:S",
        "#users bob:S",
        " users bob:CL:S",
        "bob:CL:S",
        "users bob:CL:\"S",
        "users bob:XX:S",
    ];
    let form = form.get(&forms);
    // Without a name before it, what stands before its colon would be one.
    let secret = if form.contains(":S") || form.contains(": S") || form.contains(":\"S") {
        secret.to_owned()
    } else {
        secret.replace(':', "")
    };
    form.replace('S', &secret)
}

/// A parent with its fields in order, or one of them missing, swapped with another or joined to it.
fn parent(secret: &str, how: Index, which: Index) -> String {
    let mut fields = ["1000", "http", "10.0.0.1", "3128", "bob", secret].map(str::to_owned).to_vec();
    match how.index(6) {
        0 => {}
        1 => drop(fields.remove(which.index(5))),
        // A name and a password in each other's place can't be told.
        2 => fields.swap(5, which.index(4)),
        3 => fields.swap(which.index(4), 4),
        4 => {
            let at = [(2, ":"), (4, ":"), (3, ","), (1, "")][which.index(4)];
            let next = fields.remove(at.0 + 1);
            fields[at.0] += &format!("{}{next}", at.1);
        }
        _ => {
            let host = ["http://bob:S@10.0.0.1", "bob:S@10.0.0.1:3128", "bob:S@10.0.0.1"];
            fields[2] = which.get(&host).replace('S', secret);
        }
    }
    format!("parent {}", fields.join(" "))
}

fn radius(secret: &str, how: Index, which: Index) -> String {
    let mut fields =
        [secret, "127.0.0.1:1812", "10.0.0.300", "10.0.0.2/10.0.0.3"].map(str::to_owned).to_vec();
    match how.index(3) {
        0 => {}
        1 => fields.swap(0, which.index(4)),
        _ => drop(fields.remove(1 + which.index(3))),
    }
    format!("radius {}", fields.join(" "))
}

/// Lines that 3proxy accepts, with a password in one of their words.
fn accepted() -> impl Strategy<Value = String> {
    const LINES: [&str; 14] = [
        "users bob:CL:S",
        "users alice:CL:x bob:CL:S \"eve:CR:$1$S$S\"",
        "allow bob * * *",
        "deny bob:CL:S",
        "deny * * NAMED",
        "allow alice * * 80\nparent 1000 http 10.0.0.1 3128 bob S",
        "allow alice * * 81\nparent 1000 socks5+ 10.0.0.1 1080 bob:CL S",
        "system \"run NAMED\"",
        "plugin p.so start NAMED",
        "logformat \"L%E NAMED %U\"",
        "log /var/log/3proxy.log?NAMED",
        "nsrecord NAMED 10.0.0.1",
        "radius S 127.0.0.1",
        "#users bob:CL:S",
    ];
    const NAMED: [&str; 4] = ["password=S", "token=S", "bob:CL:S", "http://bob:S@h/"];
    any::<[Index; 2]>().prop_map(|[line, named]| {
        let line = line.get(&LINES).replace("NAMED", named.get::<&str>(&NAMED));
        line.replace('S', &format!("{CORE}-{CORE}"))
    })
}

/// Lines that have no place for a password; `W` is a word with one.
const OTHERS: [&str; 47] = [
    "allow W",
    "allow bob,W",
    "deny * * W",
    "allow * W",
    "allow * * * W",
    "allow * * * * W",
    "allow * * * * * W",
    "allow * * * * * * W",
    "redirect 127.0.0.1 80 W",
    "auth W",
    "authcache W 60",
    "admin W",
    "admin -W",
    "proxy W",
    "proxy -p1W",
    "proxy -rW",
    "system W",
    "logformat W",
    "socks -iW",
    "tcppm 2525 W 25",
    "nserver W",
    "nsrecord W 10.0.0.1",
    "maxconn W",
    "external W",
    "internal W",
    "bandlimin W *",
    "countin W D 100 *",
    "counter W D W",
    "log W D",
    "log W",
    "rotate W",
    "include W",
    "monitor W",
    "pidfile W",
    "plugin W W",
    "timeouts W",
    "flush W",
    "ssl_server_cert W",
    "setuid W",
    "W",
    "#allow W",
    "setgid W",
    "parentretries W",
    "connlim 1 60 W",
    "plugin /a.so init W",
    "log radius W",
    "dnspr W",
];

/// Lines in which a password stands without anything that an account has; `@S@` is one.
const BARE: [&str; 16] = [
    "allow bob:@S@",
    "deny alice,bob:@S@",
    "allow * bob:@S@",
    "bandlimin 1000 bob:@S@",
    "connlim 1 60 bob:@S@",
    "nserver bob:@S@",
    "setuid bob:@S@",
    "proxy bob:@S@",
    "plugin /a.so init bob:@S@",
    "log &db bob @S@",
    "log &DSN=db;UID=bob;PWD=@S@",
    "log radius @S@",
    "log http://h/?password=@S@",
    "log /var/log/x?token=@S@ D",
    "allow * * http://h/?api_key=@S@",
    "ssl_client_key \"-----BEGIN RSA PRIVATE KEY-----@S@\"",
];

/// A line with a password that only the command or a word beside it tells.
fn bare(secret: &str, line: Index) -> String {
    // A comma would end what names it.
    line.get(&BARE).replace("@S@", &secret.replace([',', '"'], ""))
}

/// A line that has no place for a password, with one in a form that tells.
fn other(secret: &str, command: Index, form: Index) -> String {
    let forms = ["bob:CL:S", "http://bob:S@h/", "bob:cr:S", "socks5://bob:S@10.0.0.1:1080"];
    command.get(&OTHERS).replace('W', &form.get(&forms).replace('S', secret))
}
