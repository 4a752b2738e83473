//! `cfgc test` as a command: what it is given, where it answers, and its exit status.
use crate::support::cfgc;

const CONFIG: &str = "auth iponly\nallow * * * 80\ndeny *\nproxy\n";
const GOOD: &str = "[[test]]\nname = \"web\"\nto = \"a.test:80\"\nexpect = \"allow\"\n\
                    [[test]]\nname = \"mail\"\nto = \"a.test:25\"\nexpect = \"deny\"\n";
const BAD: &str = "[[test]]\nname = \"web\"\nto = \"a.test:80\"\nexpect = \"deny\"\n";

/// Exit status, and what is said on standard output and error.
fn test(config: &str, tests: &[&str], options: &[&str]) -> (i32, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let config_path = folder.path().join("3proxy.cfg");
    std::fs::write(&config_path, config).unwrap();
    let mut command = cfgc::command();
    command.current_dir(folder.path()).args(["test", "3proxy.cfg"]);
    for (at, text) in tests.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{at}.toml")), text).unwrap();
        command.arg(format!("{at}.toml"));
    }
    let output = command.args(options).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_exit_status_says_whether_tests_pass_fail_or_can_not_be_run() {
    let unknown = GOOD.replace("name = \"web\"", "name = \"web\"\nservice = \"socks\"");
    let several = "there is no service `socks`; write one of `proxy:3128`";
    for (config, tests, options, code, out, error) in [
        (CONFIG, &[GOOD][..], &[][..], 0, "2 passed, 0 failed\n", ""),
        (CONFIG, &[GOOD, BAD], &[], 1, "2 passed, 1 failed\n", ""),
        (CONFIG, &[GOOD, BAD], &["--filter", "mail"], 0, "1 passed, 0 failed, 2 left out\n", ""),
        (CONFIG, &[GOOD], &["--filter", "mail", "--filter", "we"], 0, "2 passed, 0 failed\n", ""),
        (CONFIG, &[GOOD], &["--filter", "x"], 2, "", "no test has a name that contains `x`"),
        (CONFIG, &["[[test]]\nname = 3\n", GOOD], &[], 2, "", "0.toml:2:8: `name` is a TOML integer"),
        (CONFIG, &[GOOD, ""], &[], 2, "", "1.toml:1:1: there is no test in the file"),
        (CONFIG, &[&unknown], &[], 2, "", several),
        (CONFIG, &[GOOD], &["missing.toml"], 2, "", "`missing.toml` can't be read"),
        (CONFIG, &["name = \"caf\u{e9}\"\n"], &[], 2, "", "0.toml:1:1: there is no key `name` here"),
        ("alow *\nproxy\n", &[GOOD], &[], 2, "", "3proxy would reject this configuration"),
        (
            GOOD,
            &[CONFIG],
            &[],
            2,
            "",
            "`3proxy.cfg` holds tests, not a configuration: write the configuration first",
        ),
        ("deny *\n", &[GOOD], &[], 2, "", "the configuration has no service"),
        (CONFIG, &[GOOD], &["--coverage"], 0, "coverage: 2 of 2 entries (100.0 %)\n", ""),
        (CONFIG, &[BAD], &["--coverage"], 1, "no test reaches 3proxy.cfg:3:1: deny *\n", ""),
        (CONFIG, &[BAD], &["--format", "json"], 1, "\"failed\": 1", ""),
        (CONFIG, &[BAD], &["--format", "junit"], 1, "<failure ", ""),
        (CONFIG, &[BAD], &["--format", "junit"], 1, "\ndecided by: 3proxy.cfg:2<", ""),
    ] {
        let (status, said, complained) = test(config, tests, options);
        assert_eq!(status, code, "{tests:?} {options:?}\n{said}{complained}");
        assert!(
            said.contains(out) && complained.contains(error),
            "{tests:?} {options:?}\n{said}{complained}"
        );
        assert_eq!(
            (said.is_empty(), complained.is_empty()),
            (out.is_empty(), error.is_empty()),
            "{said}{complained}"
        );
    }
}
