//! `cfgc.toml`, and how files are read.
use super::Folder;
use crate::support::cfgc;

const OPEN: &str = "auth iponly\nallow *\nproxy\n";

#[test]
fn settings_give_levels_and_the_command_line_beats_them() {
    let folder = Folder::with(&[
        (
            "cfgc.toml",
            "[rules]\nopen-proxy = \"warn\"\n[[overrides]]\npaths = [\"lab\"]\nrules = { security = \"allow\" }\n",
        ),
        ("3proxy.cfg", OPEN),
        ("lab/3proxy.cfg", OPEN),
        ("strict.toml", "[rules]\nall = \"deny\"\n"),
    ]);
    let status = |arguments: &[&str]| folder.check(arguments).status;
    assert_eq!(status(&["3proxy.cfg"]), Some(0));
    assert_eq!(status(&["3proxy.cfg", "--deny-warnings"]), Some(1));
    assert_eq!(status(&["lab/3proxy.cfg", "--deny-warnings"]), Some(0));
    assert_eq!(status(&["3proxy.cfg", "--deny", "open-proxy"]), Some(1));
    assert_eq!(status(&["lab/3proxy.cfg", "--deny", "all"]), Some(1));
    assert_eq!(status(&["3proxy.cfg", "--no-config"]), Some(1));
    assert_eq!(status(&["3proxy.cfg", "--config", "strict.toml"]), Some(1));
    assert_eq!(folder.check_input(&["-", "--deny-warnings"], OPEN.as_bytes()).status, Some(1));
    let lab = ["-", "--deny-warnings", "--stdin-filename", "lab/x.cfg"];
    assert_eq!(folder.check_input(&lab, OPEN.as_bytes()).status, Some(0));
    // Where no file is standard input, it is a mistake.
    let said = folder.check(&["3proxy.cfg", "--stdin-filename", "lab/x.cfg"]);
    assert_eq!((said.status, &*said.out), (Some(2), ""));
    assert!(said.err.contains("`--stdin-filename` is for standard input"), "{}", said.err);
}

#[test]
fn settings_that_are_at_fault_keep_anything_from_being_checked() {
    let folder = Folder::with(&[
        ("a/3proxy.cfg", OPEN),
        ("b/3proxy.cfg", OPEN),
        ("b/cfgc.toml", "[rules]\nopen-proxi = \"warn\"\nbom = \"off\"\n"),
    ]);
    for format in ["text", "json"] {
        let said = folder.check(&["--format", format, "a/3proxy.cfg", "b/3proxy.cfg"]);
        assert_eq!((said.status, said.out.as_str()), (Some(2), ""), "{format}");
        assert!(
            said.err.contains("b/cfgc.toml:2:1: there is no rule `open-proxi`: did you mean `open-proxy`?")
        );
        assert!(said.err.contains("b/cfgc.toml:3:7: `bom` can't be `off`"), "{}", said.err);
    }
    let said = folder.check(&["--config", "missing.toml", "a/3proxy.cfg"]);
    assert_eq!(said.status, Some(2));
    assert!(said.err.contains("missing.toml` can't be read"), "{}", said.err);
}

#[test]
fn comments_may_be_forbidden_or_must_give_a_reason() {
    let folder = Folder::with(&[("a.cfg", "# cfgc: allow(open-proxy)\nproxy\n")]);
    let status = |worth: &str| {
        folder.write("cfgc.toml", format!("inline-allowances = \"{worth}\"\n").as_bytes());
        folder.check(&["a.cfg"]).status
    };
    assert_eq!(["allow", "reason", "forbid"].map(status), [Some(0), Some(1), Some(1)]);
    folder.write("a.cfg", b"# cfgc: allow(open-proxy) a honeypot\nproxy\n");
    assert_eq!(["allow", "reason", "forbid"].map(status), [Some(0), Some(0), Some(1)]);
}

#[test]
fn of_files_that_are_not_read_nothing_is_claimed() {
    let text =
        "internal 127.0.0.1\nauth strong\nusers $/nowhere/passwd\nallow bob\nproxy -p3128\nallow * * * 2-1\n";
    let folder = Folder::with(&[
        ("users.cfg", text),
        (
            "include.cfg",
            "include /nowhere/more.cfg\nauth strong\nallow * * $/nowhere/list\nproxy\nmaxconn 5\n",
        ),
    ]);
    let said = folder.check(&["--no-includes", "--format", "short", "users.cfg", "include.cfg"]);
    // A line by itself is judged as ever.
    assert!(said.out.contains("users.cfg:6:13: deny[port-list-malformed]"), "{}", said.out);
    // So is what stands behind all that is not known.
    assert!(said.out.contains("include.cfg:5:1: deny[setting-after-service]"), "{}", said.out);
    for rule in ["strong-without-users", "unknown-user-in-acl", "open-proxy", "include-missing"] {
        let claimed = said.out.lines().any(|line| line.contains(rule) && line.starts_with("include.cfg"));
        assert!(!claimed, "{rule}: {}", said.out);
    }
    assert!(!said.out.contains("strong-without-users") && !said.out.contains("unknown-user"), "{}", said.out);
}

#[test]
fn an_image_is_checked_from_outside() {
    let folder = Folder::with(&[
        ("image/etc/3proxy/3proxy.cfg", "include /etc/3proxy/more.cfg\ninternal 127.0.0.1\nsocks\n"),
        ("image/etc/3proxy/more.cfg", "users \"$/etc/3proxy/users\"\n  flush\nallow * * * 2-1\n"),
    ]);
    let config = "image/etc/3proxy/3proxy.cfg";
    assert!(folder.check(&["--format", "short", config]).out.contains("include-missing"));
    let said = folder.check(&["--format", "short", "--root", "image", config]);
    assert!(said.out.contains("image/etc/3proxy/more.cfg:2:3: warn[indented-directive]"), "{}", said.out);
    folder.check(&["--fix", "--root", "image", config]);
    assert!(folder.read("image/etc/3proxy/more.cfg").contains("1-2"));
    let said = folder.check(&["--no-includes", "--format", "short", config]);
    assert!(!said.out.contains("include-missing"), "{}", said.out);
}

#[test]
fn a_file_that_is_not_there_is_called_as_it_is_written() {
    let folder = Folder::with(&[
        ("etc/3proxy.cfg", "include /etc/more.cfg\nusers $/etc/passwd\nsocks\n"),
        ("image/README", ""),
    ]);
    for (root, looked_up) in [("image", "image/etc/more.cfg"), (".", "etc/more.cfg"), ("./", "etc/more.cfg")]
    {
        let said = folder.check(&["--root", root, "etc/3proxy.cfg"]).out;
        assert!(said.contains("`/etc/more.cfg` can't be read"), "{said}");
        assert!(said.contains(&format!("It was looked up as `{looked_up}`.")), "{said}");
        assert!(said.contains("`/etc/passwd` can't be read") && !said.contains("an absolute path"), "{said}");
    }
    for (root, why) in [("nowhere", "there is no such folder"), ("image/README", "it is not a folder")] {
        let said = folder.check(&["--root", root, "etc/3proxy.cfg"]);
        assert!(said.status == Some(2) && said.err.contains(why), "{}", said.err);
    }
    folder.write("a.cfg", b"include ./more.cfg\n");
    let said = folder.check(&["a.cfg"]).out;
    assert!(said.contains("an absolute path") && !said.contains("looked up"), "{said}");
}

#[test]
fn a_file_has_one_name_however_it_is_found() {
    let folder = Folder::with(&[
        ("etc/3proxy.cfg", "include /etc/more.cfg\ninclude ./etc/last.cfg\ninternal 127.0.0.1\nsocks\n"),
        ("etc/more.cfg", "allow * * * 2-1\n"),
        ("etc/last.cfg", "allow * * * 4-3\n"),
    ]);
    let said = |arguments: &[&str]| folder.check(&[&["--format", "short"], arguments].concat()).out;
    let plain = said(&["--root", ".", "etc/3proxy.cfg"]);
    assert!(plain.starts_with("etc/more.cfg:1:13: deny[port-list-malformed]"), "{plain}");
    assert!(plain.contains("\netc/last.cfg:1:13: deny[port-list-malformed]"), "{plain}");
    for arguments in [
        &["--root", "./", "./etc/3proxy.cfg"][..],
        &["--root=.", "./etc"],
        &["--root=.", "."],
        &["--root=."],
        &["--root=.", "etc/3proxy.cfg", "./etc/more.cfg", "etc/./last.cfg"],
    ] {
        assert_eq!(said(arguments), plain, "{arguments:?}");
    }
}

#[test]
fn every_command_that_compiles_looks_into_images() {
    let folder = Folder::with(&[
        ("image/main.cfg", "auth iponly\ninclude /acl.cfg\nusers bob:CL:x\nproxy\n"),
        ("image/acl.cfg", "deny * * * 25\nallow *\n"),
        ("old/acl.cfg", "allow *\n"),
        ("t.toml", "[[test]]\nname = \"mail\"\nto = \"a.test:25\"\nexpect = \"deny\"\n"),
    ]);
    let run = |arguments: &str| {
        let mut command = cfgc::command();
        command.args(arguments.split(' ')).current_dir(folder.path(""));
        let said = command.stdin(std::process::Stdio::null()).output().unwrap();
        (
            said.status.code(),
            String::from_utf8(said.stdout).unwrap() + &String::from_utf8(said.stderr).unwrap(),
        )
    };
    for (arguments, status, text) in [
        ("check --root image image/main.cfg", Some(1), "open-proxy"),
        ("test --root image image/main.cfg t.toml", Some(0), "1 passed, 0 failed"),
        ("trace --root image image/main.cfg --from 10.0.0.1 --to a.test:25", Some(0), "image/acl.cfg"),
        ("ir --root image image/main.cfg", Some(0), "image/acl.cfg"),
        ("diff --root image image/main.cfg image/main.cfg", Some(0), "nothing changes"),
        ("diff --root image --old-root old image/main.cfg image/main.cfg", Some(0), "old/acl.cfg:1"),
        ("crypt --root image --check image/main.cfg --user bob", Some(1), "the password is wrong"),
    ] {
        let (ended, said) = run(arguments);
        assert!(ended == status && said.contains(text), "{arguments}: {ended:?} {said}");
        assert!(!said.contains("3proxy refuses"), "{arguments}: {said}");
    }
}
