//! `cfgc.toml`, and how files are read.
use super::Folder;

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
    assert!(said.out.contains("users.cfg:6:13: deny[port-range-reversed]"), "{}", said.out);
    for rule in [
        "strong-without-users",
        "unknown-user-in-acl",
        "open-proxy",
        "include-missing",
        "setting-after-service",
    ] {
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
