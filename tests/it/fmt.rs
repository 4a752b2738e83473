//! `cfgc fmt`: what it writes, and that nothing else changes.
use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use compiler::{Compiled, options::Template, sources::MemoryFiles};

use crate::support::{cfgc, repo};

const MAIN: &str = "3proxy.cfg";

fn fmt(arguments: &[&str], folder: &Path) -> Output {
    cfgc::command().arg("fmt").args(arguments).current_dir(folder).output().unwrap()
}

/// A compiled configuration without where things stand in it.
fn meaning(text: &[u8]) -> (String, BTreeSet<&'static str>) {
    let mut files = MemoryFiles::default();
    files.insert(MAIN, text);
    let Compiled { program, findings, .. } = compiler::compile(Path::new(MAIN), &files);
    let printed = format!("{program:?}");
    let mut parts = printed.split("Span { start: ");
    let mut meaning = parts.next().unwrap().to_owned();
    meaning.extend(parts.map(|part| part.split_once('}').unwrap().1));
    (meaning, findings.into_iter().map(|finding| finding.rule).collect())
}

/// Every configuration in the repository that stands in one file.
fn configurations() -> Vec<PathBuf> {
    let folders = ["examples", "tests/cases/operators", "tests/cases/measured"];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(repo::root().join(folder)).unwrap());
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()).collect()
}

#[test]
fn the_program_and_its_findings_stay() {
    let mut changed = 0;
    for path in configurations() {
        let text = fs::read(&path).unwrap();
        // With words further apart, and quoted, it is the same too.
        let wide = String::from_utf8_lossy(&text).replace(' ', " \t ").replace('\n', " \n\n\n");
        for text in [&text[..], wide.as_bytes()] {
            let Ok(written) = grammar::format::format(text, Template::Auto) else { continue };
            assert_eq!(meaning(text), meaning(&written), "{}", repo::shown(&path));
            assert_eq!(
                grammar::format::format(&written, Template::Auto).unwrap(),
                written,
                "{}",
                repo::shown(&path)
            );
            changed += usize::from(text != written);
        }
    }
    assert!(changed > 100, "{changed}");
}

#[test]
fn our_examples_are_written_the_one_way() {
    let examples = configurations().into_iter().filter(|path| path.parent().unwrap().ends_with("examples"));
    for path in examples.filter(|path| path.extension().is_some_and(|extension| extension == "cfg")) {
        let text = fs::read(&path).unwrap();
        let written = grammar::format::format(&text, Template::Auto).unwrap();
        assert!(written == text, "run `cfgc fmt {}`", repo::shown(&path));
    }
}

#[test]
fn files_are_rewritten_and_only_if_they_change() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.cfg"), "auth   iponly\nusers \"bob:CL:secret\"\n").unwrap();
    fs::write(at("b.cfg"), "auth iponly\n").unwrap();
    let before = fs::metadata(at("b.cfg")).unwrap().modified().unwrap();

    let checked = fmt(&["--check", "a.cfg", "b.cfg"], folder.path());
    assert_eq!((checked.status.code(), &checked.stdout[..]), (Some(1), &b"a.cfg\n"[..]));

    let shown = fmt(&["--diff", "a.cfg", "b.cfg"], folder.path());
    let text = String::from_utf8(shown.stdout).unwrap();
    assert_eq!(shown.status.code(), Some(1));
    assert!(text.contains("-auth   iponly\n") && text.contains("+auth iponly\n"), "{text}");
    assert!(!text.contains("secret"), "{text}");

    assert_eq!(fmt(&["a.cfg", "b.cfg"], folder.path()).status.code(), Some(0));
    assert_eq!(fs::read(at("a.cfg")).unwrap(), b"auth iponly\nusers bob:CL:secret\n");
    assert_eq!(fs::metadata(at("b.cfg")).unwrap().modified().unwrap(), before);
    assert_eq!(fmt(&["--check", "a.cfg", "b.cfg"], folder.path()).status.code(), Some(0));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let mut child =
        cfgc::command().args(["fmt", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"\n\nproxy  -p3128").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"proxy -p3128\n"[..]));
}

#[test]
fn what_is_a_template_may_be_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.cfg"), "auth  iponly\nusers  $PASSWD\nlog  {{ a  }}\n").unwrap();
    let written = |arguments: &[&str]| fmt(&[arguments, &["--diff", "a.cfg"]].concat(), folder.path()).stdout;
    for (arguments, users, log) in [
        (&["--template"][..], false, false),
        (&["--template=auto"], false, false),
        (&["--template=no"], true, true),
    ] {
        let text = String::from_utf8(written(arguments)).unwrap();
        assert!(text.contains("+auth iponly\n"), "{text}");
        assert_eq!(text.contains("+users"), users, "{arguments:?} {text}");
        assert_eq!(text.contains("+log"), log, "{arguments:?} {text}");
    }
}

#[test]
fn what_can_t_be_read_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = "auth   iponly\nallow \"a\n";
    fs::write(folder.path().join("a.cfg"), text).unwrap();
    let output = fmt(&["a.cfg", "none.cfg"], folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("a.cfg:2:7: this quotation is not closed in its line: the file is left as it is"),
        "{said}"
    );
    assert!(said.contains("`none.cfg` can't be read"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("a.cfg")).unwrap(), text);
}
