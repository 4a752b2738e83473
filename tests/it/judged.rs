//! `cfgc run` and `cfgc check` of a file that is for cfgc judge it alike.
use std::{
    collections::BTreeSet,
    path::Path,
    process::{Output, Stdio},
    sync::Mutex,
};

use compiler::lints;
use runtime::findings::EXPLAINED;

use crate::support::cfgc::{Cfgc, command, output};

const FOR_CFGC: &str = "target = \"cfgc\"\n";

/// What is found, as `deny[rule]: message`, but for what only a run can find.
fn found(output: &Output) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
    let is_finding = |line: &&str| line.starts_with("deny[") || line.starts_with("warn[");
    let of_run = |line: &&str| EXPLAINED.iter().any(|one| line.contains(&format!("[{}]", one.name)));
    text.lines().filter(is_finding).filter(|line| !of_run(line)).map(str::to_owned).collect()
}

/// The two commands on the example in a folder; `None`: nothing refuses it, so that `run` would serve it.
fn judged(folder: &Path) -> Option<[BTreeSet<String>; 2]> {
    let done = |arguments: &[&str]| {
        command().args(arguments).arg("3proxy.cfg").current_dir(folder).stdin(Stdio::null()).output().unwrap()
    };
    let check = done(&["check", "--template=no", "--color=never"]);
    assert_ne!(check.status.code(), Some(2), "{check:?}");
    (check.status.code() == Some(1)).then(|| {
        let run = done(&["run", "--no-watch"]);
        assert_eq!(run.status.code(), Some(1), "`run` serves what `check` denies: {}", folder.display());
        [found(&check), found(&run)]
    })
}

#[test]
fn what_the_documentation_of_rules_shows_is_judged_alike() {
    let examples: Vec<(&str, tempfile::TempDir)> = lints::all()
        .iter()
        .flat_map(|rule| {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("cfgc.toml"), FOR_CFGC).unwrap();
            let mut fires = false;
            for block in rule.docs.split("```3proxy,").skip(1) {
                let (claim, rest) = block.split_once('\n').unwrap();
                let text = rest.split("```").next().unwrap();
                let lines = text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n");
                let text: String = lines.collect();
                match claim.strip_prefix("file=") {
                    Some(name) if !name.starts_with('/') => {
                        std::fs::write(folder.path().join(name), text).unwrap()
                    }
                    None if claim == "fires" && !text.contains('{') && !fires => {
                        std::fs::write(folder.path().join("3proxy.cfg"), text).unwrap();
                        fires = true;
                    }
                    _ => {}
                }
            }
            fires.then_some((rule.name, folder))
        })
        .collect();
    let (left, refused) = (Mutex::new(examples.iter()), Mutex::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some((rule, folder)) = next else { break };
                    if let Some([check, run]) = judged(folder.path()) {
                        assert_eq!(check, run, "{rule}");
                        *refused.lock().unwrap() += 1;
                    }
                }
            });
        }
    });
    let refused = refused.into_inner().unwrap();
    assert!(refused > 80, "{refused}");
}

/// What 3proxy does dangerously and cfgc does not: denied for 3proxy, and served by `run` without a word about it.
#[test]
fn what_cfgc_executes_safely_is_served() {
    let users = "internal 127.0.0.1\nusers alice:CL:wonderland\n";
    for (rule, rest) in [
        (
            "cacheacl-with-parent",
            "authcache user,pass 600\nauth cacheacl strong\nallow alice\nparent 1000 socks5 192.0.2.10 1080\nproxy -p@p\n",
        ),
        (
            "cache-key-misses-field",
            "authcache user,pass 600\nauth cacheacl strong\nallow alice * * 80,443\nproxy -p@p\n",
        ),
        (
            "cacheacl-extip-without-ext",
            "authcache user,pass 600\nauth cacheacl strong\nallow alice\nparent 1000 extip 127.0.0.1 0\nproxy -p@p\n",
        ),
        (
            "cache-shared-between-services",
            "authcache user,pass 600\nauth cacheacl strong\nallow alice\nproxy -p@p\nflush\nallow alice * 127.0.0.0/8\nproxy -p@q\n",
        ),
        (
            "parent-user-read-as-star",
            "auth strong\nallow alice\nparent 1000 connect+ 192.0.2.10 3128 *office secret\nproxy -p@p\n",
        ),
        (
            "fakeresolve-order",
            "fakeresolve\nauth strong\nallow alice\nparent 1000 socks5+ localhost 1080\nproxy -p@p\n",
        ),
    ] {
        let config = format!("{users}{rest}");
        let denied = found(&output(&["check", "--no-config", "--color=never"], &config));
        assert!(denied.iter().any(|line| line.starts_with(&format!("deny[{rule}]"))), "{rule}: {denied:?}");
        let cfgc = Cfgc::run(&config);
        let told = cfgc.stderr.so_far();
        assert!(!told.iter().any(|line| line.contains('[') && line.contains(rule)), "{rule}: {told:?}");
    }
}
