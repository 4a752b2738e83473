//! What operators stumbled over, and what 3proxy was seen to do: each case is a configuration that says what must be found in it.
//!
//! `# expect: RULE LINE` (or `RULE FILE:LINE`) names a finding; no other finding may deny. `# expect: nothing, WHY` stands where no
//! rule has anything to say: the file is right, or what was wrong is not in it. Then nothing may warn either. Behind a line `#@ NAME` stands the text of a further file.
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use compiler::{
    Compiled,
    finding::{Finding, Level},
};

use crate::support::{
    recorded::{MAIN, files},
    repo,
};

#[test]
fn operators_cases_are_found_at_the_right_line() {
    let folder = repo::root().join("tests/cases/operators");
    every_case(&folder, 120);
}

#[test]
fn measured_cases_are_found_at_the_right_line() {
    let folder = repo::root().join("tests/cases/measured");
    every_case(&folder, 30);
}

/// Judges every case of a folder, which must hold `least` or more, and fails with all that is wrong.
fn every_case(folder: &Path, least: usize) {
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= least, "{} cases in {}", cases.len(), folder.display());
    let judged = cases.iter().flat_map(|path| {
        let faults = judge(&std::fs::read_to_string(path).unwrap());
        faults.into_iter().map(|fault| format!("{}: {fault}", repo::shown(path)))
    });
    let faults: Vec<String> = judged.collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// What is wrong with one case.
fn judge(text: &str) -> Vec<String> {
    let (files, _) = files(text);
    let compiled = compiler::compile(Path::new(MAIN), &files);

    let claims = text.lines().filter_map(|line| line.strip_prefix("# expect: "));
    let is_nothing =
        |claim: &&str| claim.split_whitespace().next().is_some_and(|word| word.starts_with("nothing"));
    let expected: BTreeSet<&str> = claims.clone().filter(|claim| !is_nothing(claim)).collect();
    let mut faults = Vec::new();
    if claims.clone().count() != expected.len() + usize::from(expected.is_empty()) {
        faults.push("expects something twice, or nothing and something".to_owned());
    }
    let reasoned =
        |claim: &str| claim.strip_prefix("nothing, ").is_some_and(|why| why.split_whitespace().count() > 3);
    if claims.clone().any(|claim| is_nothing(&claim) && !reasoned(claim)) {
        faults.push("does not say why nothing is expected".to_owned());
    }
    let found: Vec<(String, Level, &str)> = found(&compiled);
    for claim in &expected {
        if !found.iter().any(|(place, ..)| place == claim) {
            faults.push(format!("`{claim}` is not found"));
        }
    }
    for (place, level, message) in &found {
        let is_bad = *level == Level::Deny || *level == Level::Warn && expected.is_empty();
        if is_bad && !expected.contains(place.as_str()) {
            faults.push(format!("`{place}` is not expected: {message}"));
        }
    }
    faults
}

#[test]
fn every_fix_mends_what_it_is_offered_for() {
    let folders = ["tests/cases/operators", "tests/cases/measured"].map(|folder| repo::root().join(folder));
    let cases = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut mended = 0;
    for path in cases.map(|entry| entry.unwrap().path()) {
        let (mut files, main) = files(&std::fs::read_to_string(&path).unwrap());
        let before = compiler::compile(Path::new(MAIN), &files);
        let of_main =
            |finding: &&Finding| before.sources.get(finding.at.file).unwrap().path == Path::new(MAIN);
        for finding in before.findings.iter().filter(of_main) {
            let Some(fix) = &finding.fix else { continue };
            files.insert(MAIN, fix.apply(finding.at.file, main.as_bytes()));
            let after = compiler::compile(Path::new(MAIN), &files);
            let times = |compiled: &Compiled| {
                let same = compiled.findings.iter().filter(|other| other.rule == finding.rule);
                same.map(|other| other.count).sum::<u32>()
            };
            assert!(
                times(&after) < times(&before),
                "{}: `{}` does not mend {finding:#?}",
                repo::shown(&path),
                fix.title
            );
            mended += 1;
        }
    }
    assert!(mended >= 20, "{mended} fixes");
}

/// Each finding as an expectation would name it.
fn found(compiled: &Compiled) -> Vec<(String, Level, &str)> {
    let name = |finding: &Finding| {
        let line = compiled.sources.line_column(finding.at).line;
        let path = &compiled.sources.get(finding.at.file).unwrap().path;
        if path == Path::new(MAIN) {
            format!("{} {line}", finding.rule)
        } else {
            format!("{} {}:{line}", finding.rule, path.display())
        }
    };
    compiled.findings.iter().map(|finding| (name(finding), finding.level, &*finding.message)).collect()
}

#[test]
fn a_case_that_says_nothing_or_too_much_is_at_fault() {
    let right = "internal 127.0.0.1\nproxy\n";
    assert_eq!(judge(&format!("# expect: nothing, it is right as it stands\n\n{right}")), [""; 0]);
    assert_eq!(judge(&format!("# expect: nothing, it is right as it stands\n\n flush\n{right}")).len(), 1);
    for claim in ["nothing", "nothing yet", "nothing, yet"] {
        let faults = judge(&format!("# expect: {claim}\n\n{right}"));
        assert_eq!(faults, ["does not say why nothing is expected"], "{claim}");
    }
    assert_eq!(
        judge("# expect: open-proxy 3\n\ninternal 127.0.0.1\nproxy\n"),
        ["`open-proxy 3` is not found"]
    );
    assert_eq!(judge("internal 127.0.0.1\nproxy\n").len(), 1);
}
