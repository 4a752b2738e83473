//! Files that several configurations read, that have several names, or that lie in the folder of `--root`.
use std::{fs, os::unix::fs::symlink};

use super::Folder;

const HEAD: &str = "internal 127.0.0.1\nauth iponly\n";

/// What is right for the one service is wrong for the other.
const SHARED: &str = "allow * * * * CONNECT\ndeny * * * 443-80\n";

fn shared(first: &str, second: &str) -> Folder {
    let with = |include: &str, service: &str| format!("{HEAD}include {include}\n{service}\n");
    let folder = Folder::with(&[
        ("m1", &with(first, "proxy")),
        ("m2", &with(second, "socks")),
        ("inc", SHARED),
        ("sub/keep", ""),
    ]);
    symlink("../inc", folder.path("sub/link")).unwrap();
    folder
}

#[test]
fn no_fix_makes_another_configuration_of_the_run_worse() {
    for (first, second) in [("inc", "inc"), ("inc", "sub/../inc"), ("sub/link", "inc")] {
        let files = ["m1", "m2"];
        let folder = shared(first, second);
        let promised = folder.check(&files);
        assert!(promised.out.contains("--fix makes 1 fix\n"), "{}", promised.out);
        let planned = folder.check(&[&["--diff", "--unsafe-fixes"], &files[..]].concat());
        assert!(planned.out.contains("+deny * * * 80-443\n"), "{}", planned.out);
        assert!(planned.out.contains("\n allow * * * * CONNECT\n"), "{}", planned.out);
        assert!(planned.err.contains("would find more in `m2`"), "{}", planned.err);
        let said = folder.check(&[&["--unsafe-fixes"], &files[..]].concat());
        assert_eq!(folder.read("inc"), SHARED.replace("443-80", "80-443"));
        assert!(
            said.out.contains(
                ":1: write `HTTP_CONNECT`: then `operation-impossible-for-service` would find more in `m2`"
            ),
            "{}",
            said.out
        );
        assert!(said.out.contains("1 fixed, 1 denied") && !said.out.contains(" makes "), "{}", said.out);
    }
    // Alone it is mended.
    let folder = shared("inc", "inc");
    folder.check(&["--unsafe-fixes", "m1"]);
    assert!(folder.read("inc").contains("HTTP_CONNECT"));
}

#[test]
fn a_file_of_two_names_is_mended_once() {
    let text = format!("{HEAD}include inc\nproxy\nflush\ninclude sub/link\nproxy -p3129\n");
    let folder = Folder::with(&[("a.cfg", &text), ("inc", "allow * * * 443-80\n"), ("sub/keep", "")]);
    symlink("../inc", folder.path("sub/link")).unwrap();
    let said = folder.check(&["--fix", "a.cfg"]);
    assert_eq!(folder.read("inc"), "allow * * * 80-443\n");
    assert!(said.out.contains("1 fixed, nothing left in 1 configuration of 2 files"), "{}", said.out);
    assert!(folder.path("sub/link").is_symlink());
}

#[test]
fn what_would_not_be_replaced_is_not_promised() {
    let text = format!("{HEAD}include inc\nproxy\n  maxconn 5\n");
    let folder = Folder::with(&[("a.cfg", &text), ("inc", "allow * * * 443-80\n")]);
    let alone = folder.check(&["a.cfg"]).out;
    assert!(alone.contains("--fix makes 1 fix, --unsafe-fixes"), "{alone}");
    fs::hard_link(folder.path("inc"), folder.path("other")).unwrap();
    let said = folder.check(&["a.cfg"]);
    assert!(!said.out.contains(" makes ") && !said.out.contains("fix: turn"), "{}", said.out);
    for arguments in [&["--diff", "a.cfg"][..], &["--fix", "a.cfg"]] {
        let said = folder.check(arguments);
        assert_eq!(said.status, Some(2), "{}", said.out);
        assert!(!said.out.contains("+allow") && !said.err.contains("would be fixed"), "{}", said.out);
        assert!(said.err.contains("`inc` can't be rewritten: it has 2 names (hard links)"), "{}", said.err);
        assert!(said.err.contains("`cp FILE COPY && mv COPY FILE`"), "{}", said.err);
        assert_eq!(folder.read("inc"), "allow * * * 443-80\n");
    }
    // The way out is one.
    fs::copy(folder.path("inc"), folder.path("copy")).unwrap();
    fs::rename(folder.path("copy"), folder.path("inc")).unwrap();
    assert_eq!(folder.check(&["--fix", "a.cfg"]).status, Some(0));
    assert_eq!((folder.read("inc"), folder.read("other")).0, "allow * * * 80-443\n");
    assert_eq!(folder.read("other"), "allow * * * 443-80\n");
}

/// Whatever leads out of the folder of `--root` leads to what lies in it: for reading and for writing.
#[test]
fn nothing_leads_out_of_the_root() {
    const OUTSIDE: &str = "allow * * * 9-1\n";
    const INSIDE: &str = "allow * * * 443-80\n";
    for (include, link) in [
        ("/inc", Some(("root/inc", "/real"))),
        ("/inc", Some(("root/inc", "../../real"))),
        ("/etc/real", Some(("root/etc", "/"))),
        ("/../real", None),
        ("/etc/../../../real", None),
    ] {
        let main = format!("{HEAD}include {include}\nproxy\n");
        let folder = Folder::with(&[("a.cfg", &main), ("root/real", INSIDE), ("real", OUTSIDE)]);
        match link {
            Some((path, target)) => symlink(target, folder.path(path)).unwrap(),
            None => fs::create_dir(folder.path("root/etc")).unwrap(),
        }
        for arguments in [&[][..], &["--fix"]] {
            let all = [arguments, &["--root", "root", "--format", "short", "a.cfg"]].concat();
            let said = folder.check(&all);
            assert!(said.out.contains("[port-list-malformed]"), "{include}: {}{}", said.out, said.err);
            assert!(!said.out.contains("9-1"), "{}", said.out);
        }
        assert_eq!(folder.read("root/real"), "allow * * * 80-443\n", "{include}");
        assert_eq!(folder.read("real"), OUTSIDE, "{include}");
    }
    // Its path on this machine means nothing in it.
    let folder = Folder::with(&[("real", OUTSIDE), ("root/keep", "")]);
    folder.write("a.cfg", format!("{HEAD}include /inc\nproxy\n").as_bytes());
    symlink(folder.path("real"), folder.path("root/inc")).unwrap();
    let said = folder.check(&["--fix", "--root", "root", "a.cfg"]);
    assert!(said.out.contains("[include-missing]"), "{}", said.out);
    assert_eq!(folder.read("real"), OUTSIDE);
}

/// Nor does what is checked, where it lies there.
#[test]
fn a_configuration_in_the_root_is_read_as_it_is_there() {
    const TEXT: &str = "internal 127.0.0.1\nauth iponly\nallow * * * 443-80\nproxy\n";
    let folder =
        Folder::with(&[("root/opt/real.cfg", TEXT), ("opt/real.cfg", "frobnicate\n"), ("out.cfg", TEXT)]);
    symlink("/opt/real.cfg", folder.path("root/3proxy.cfg")).unwrap();
    symlink(folder.path("out.cfg"), folder.path("root/out.3proxy.cfg")).unwrap();
    for files in ["root", "root/3proxy.cfg"] {
        let said = folder.check(&["--root", "root", "--format", "short", files]);
        assert!(
            said.out.contains("[port-list-malformed]") && !said.out.contains("frobnicate"),
            "{}",
            said.out
        );
        assert_eq!(said.err, "", "{files}");
    }
    assert_eq!(folder.check(&["--root", "root", "--fix", "root/out.3proxy.cfg"]).status, Some(2));
    assert_eq!(folder.check(&["--root", "root", "--fix", "root"]).status, Some(0));
    assert_eq!(folder.read("root/opt/real.cfg"), TEXT.replace("443-80", "80-443"));
    assert_eq!(folder.read("out.cfg"), TEXT);
    assert!(folder.path("root/3proxy.cfg").is_symlink());
}

/// However many read a file, each of its fixes is tried for all of them.
#[test]
fn many_configurations_share_a_file() {
    let text = format!("{HEAD}include inc\nproxy\n");
    let names: Vec<String> = (0..40).map(|number| format!("{number}.3proxy.cfg")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let last = format!("{HEAD}include inc\nsocks\n");
    files.extend([("z.3proxy.cfg", last.as_str()), ("inc", SHARED)]);
    let folder = Folder::with(&files);
    assert!(folder.check(&[]).out.ends_with("; --fix makes 1 fix\n"));
    let said = folder.check(&["--unsafe-fixes"]);
    assert!(said.out.contains("\n1 fixed, ") && !said.out.contains(" makes "), "{}", said.out);
    assert_eq!(folder.read("inc"), SHARED.replace("443-80", "80-443"));
}

/// An absolute path names a file of this machine, wherever the root is.
#[test]
fn a_file_outside_the_root_is_what_it_is() {
    let folder = Folder::with(&[
        ("a.cfg", "internal 127.0.0.1\nauth iponly\nallow * * * 443-80\nproxy\n"),
        ("root/keep", ""),
    ]);
    let path = folder.path("a.cfg");
    let path = path.to_str().unwrap();
    for root in ["--root=.", "--root=root", "--root=/"] {
        assert!(folder.check(&[root, path]).out.contains("--fix makes 1 fix"), "{root}");
    }
    assert_eq!(folder.check(&["--root=.", "--fix", path]).status, Some(0));
    assert!(folder.read("a.cfg").contains("80-443"));
}

/// A file that is called as standard input is not read in its place, nor that before it is checked.
#[test]
fn standard_input_is_read_once() {
    let folder = Folder::with(&[("-", "frobnicate\n"), ("b.cfg", "internal 127.0.0.1\nsocks\n")]);
    let said = folder.check_input(&["--format", "short", "-", "b.cfg"], b"internal 127.0.0.1\nproxi\n");
    assert!(said.out.contains("<stdin>:2:1: ") && said.out.contains("proxi"), "{}{}", said.out, said.err);
    assert!(!said.out.contains("frobnicate"), "{}", said.out);
}

/// A relative path is looked up from the working directory, which may be the root as well.
#[test]
fn the_working_directory_can_be_the_root() {
    let main = |include: &str| format!("{HEAD}include {include}\nproxy\n");
    let folder = Folder::with(&[
        ("real", "allow * * * 443-80\n"),
        ("root/real", "allow * * * 9-1\n"),
        ("root/relative.cfg", &main("../real")),
        ("root/absolute.cfg", &main("/../real")),
    ]);
    let found = |file: &str| {
        let mut command = crate::support::cfgc::command();
        command.args(["check", "--root=.", "--fix", file]).current_dir(folder.path("root"));
        super::said(command.output().unwrap()).out
    };
    assert!(found("relative.cfg").contains("fixed[port-list-malformed]: ../real:1: turn the range round"));
    assert_eq!((folder.read("real"), folder.read("root/real")).1, "allow * * * 9-1\n");
    assert!(found("absolute.cfg").contains("fixed[port-list-malformed]: real:1: turn the range round"));
    assert_eq!(folder.read("real"), "allow * * * 80-443\n");
}
