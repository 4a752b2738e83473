//! Holds every rule to the same bar: its examples run, its registry entry is current.
mod misspelt;
mod written;

use std::{collections::BTreeSet, env, fs, path::Path};

use super::{RULES, Rule};
use crate::{
    Compiled, compile_with,
    finding::{Finding, Level},
    options::{CompileOptions, Runner},
    sources::MemoryFiles,
};

/// The file that examples are compiled as; others are given by name.
const MAIN: &str = "3proxy.cfg";

/// Checks one rule against `text`, where `#   ^ message` marks a finding that starts in the line above, at the caret's column
/// if it is not the first.
///
/// The mark lines are taken out before the text is compiled.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    check_with(name, text, &[]);
}

/// As [`check`], with further files.
#[track_caller]
pub(crate) fn check_with(name: &str, text: &str, others: &[(&str, &str)]) {
    let rule = super::find(name).expect("no such rule");
    let mut marks = Vec::new();
    let mut source = String::new();
    for line in text.trim_start_matches('\n').lines() {
        match line.strip_prefix('#').and_then(|rest| rest.trim_start().strip_prefix('^')) {
            Some(message) => {
                let column = line.find('^').unwrap_or_default() + 1;
                marks.push((source.lines().count(), column, message.trim().to_owned()));
            }
            None => source.extend([line, "\n"]),
        }
    }
    let files = others.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    let (compiled, found) = compiled(rule, &source, files.collect());
    let found: Vec<(usize, usize, &str)> = found
        .iter()
        .map(|finding| {
            let at = compiled.sources.line_column(finding.at);
            (at.line as usize, at.column as usize, &*finding.message)
        })
        .collect();
    assert_eq!(found.len(), marks.len(), "{found:#?}");
    for ((line, column, message), (mark_line, mark_column, mark)) in found.iter().zip(&marks) {
        // A caret can't stand below the first column: `#` does. `#^` means any column.
        let column_holds = *mark_column == 2 || column == mark_column;
        assert!(
            line == mark_line && column_holds && message.contains(mark.as_str()),
            "{found:#?} is not {marks:#?}"
        );
    }
}

/// What one rule finds in `text`.
pub(crate) fn findings(name: &str, text: &str) -> Vec<Finding> {
    compiled(super::find(name).expect("no such rule"), text, Vec::new()).1
}

/// The same for another program that will run it.
pub(crate) fn findings_for(runner: Runner, name: &str, text: &str) -> Vec<Finding> {
    compiled_for(runner, super::find(name).expect("no such rule"), text, Vec::new()).1
}

#[test]
fn what_only_3proxy_does_is_told_to_nobody_else() {
    let mut rules = 0;
    for rule in RULES.iter().filter(|rule| rule.of_3proxy) {
        let fires = examples(rule.docs).into_iter().filter(|example| example.claim == "fires");
        for Example { text, .. } in fires {
            let (_, found) = compiled_for(Runner::Cfgc, rule, &text, Vec::new());
            assert!(found.is_empty(), "{}: {found:#?}", rule.name);
            rules += 1;
        }
    }
    assert!(rules >= 8, "{rules}");
}

/// What is denied for 3proxy and executed safely by `cfgc run`, as docs/DIFFERENCES.md says: rule, and which of its examples.
const EXECUTED_SAFELY: &[(&str, usize, &str)] = &[
    ("cache-key-misses-field", 0, "the list is asked again on every hit"),
    ("cache-shared-between-services", 0, "the key holds the chain, and the list is asked again"),
    ("cacheacl-extip-without-ext", 0, "a hit takes the same outgoing address as a miss"),
    ("cacheacl-with-parent", 0, "a hit takes the same parent as a miss"),
    ("fakeresolve-order", 0, "addresses are made up for targets, never for parents"),
    ("ipv4-source-on-ipv6-listener", 1, "an IPv4 client of an IPv6 listener has its IPv4 address"),
    ("ipv6-source-on-ipv4-listener", 1, "`::ffff:192.0.2.1` is 192.0.2.1"),
    ("parent-user-read-as-star", 0, "a user name that only begins with `*` is a name"),
];

/// What denies a file for 3proxy denies it for `cfgc run`, unless that executes it safely.
#[test]
fn what_is_denied_for_3proxy_is_denied_for_cfgc_or_executed_safely() {
    let mut told = Vec::new();
    for rule in RULES {
        let mut others = Vec::new();
        let mut fires = 0;
        for Example { claim, text } in examples(rule.docs) {
            if let Some(path) = claim.strip_prefix("file=") {
                others.push((path.to_owned(), text));
            } else if claim == "fires" {
                let denied = |runner| {
                    let (_, found) = compiled_for(runner, rule, &text, others.clone());
                    found.iter().any(|finding| finding.level == Level::Deny)
                };
                if denied(Runner::ThreeProxy10) && !denied(Runner::Cfgc) {
                    told.push((rule.name, fires));
                }
                fires += 1;
            }
        }
    }
    let known: Vec<_> = EXECUTED_SAFELY.iter().map(|(rule, example, _)| (*rule, *example)).collect();
    assert_eq!(told, known);
}

/// What the whole compiler finds, of one rule, in `text`.
fn compiled(rule: &Rule, text: &str, others: Vec<(String, String)>) -> (Compiled, Vec<Finding>) {
    compiled_for(Runner::default(), rule, text, others)
}

/// The same of a configuration that is for `runner`.
fn compiled_for(
    runner: Runner,
    rule: &Rule,
    text: &str,
    others: Vec<(String, String)>,
) -> (Compiled, Vec<Finding>) {
    let mut files = MemoryFiles::default();
    for (path, text) in others {
        files.insert(path, text);
    }
    // Text holds no byte outside UTF-8: this letter is one in Latin-1.
    let bytes: Vec<u8> = match text.split_once("{LATIN1}") {
        Some((before, after)) => [before.as_bytes(), b"\xfc", after.as_bytes()].concat(),
        None => text.into(),
    };
    files.insert(MAIN, bytes);
    let mut compiled =
        compile_with(Path::new(MAIN), &files, &CompileOptions { runner, ..CompileOptions::default() });
    let found = compiled.findings.extract_if(.., |finding| finding.rule == rule.name).collect();
    (compiled, found)
}

/// The configuration that a fenced block holds, and what is claimed of it.
#[derive(Debug)]
struct Example {
    /// `fires`, `fixed`, `clean` or `file=NAME`.
    claim: String,
    text: String,
}

#[test]
fn examples_hold() {
    for rule in RULES {
        let mut claims = BTreeSet::new();
        let mut others: Vec<(String, String)> = Vec::new();
        let mut fired = None;
        let mut repairs = false;
        for Example { claim, text } in examples(rule.docs) {
            if let Some(path) = claim.strip_prefix("file=") {
                others.retain(|(other, _)| other != path);
                others.push((path.to_owned(), text));
                continue;
            }
            let (compiled, found) = compiled(rule, &text, others.clone());
            match claim.as_str() {
                "fires" => {
                    assert!(!found.is_empty(), "{}: silent on\n{text}{:#?}", rule.name, compiled.findings);
                    repairs |= found.iter().any(|finding| finding.fix.is_some());
                    fired = Some((compiled, found));
                }
                "clean" => assert!(found.is_empty(), "{}: fires on\n{text}{found:#?}", rule.name),
                "fixed" => {
                    let (before, of) = fired.as_ref().expect("`fixed` follows `fires`");
                    assert_eq!(
                        repaired(rule, before, of),
                        text,
                        "{}: the fix makes something else",
                        rule.name
                    );
                    assert!(found.is_empty(), "{}: the fix does not hold\n{text}{found:#?}", rule.name);
                }
                other => panic!("{}: unknown example {other:?}", rule.name),
            }
            claims.insert(claim);
        }
        assert!(claims.contains("fires"), "{}: no `fires` example", rule.name);
        assert!(
            claims.contains("clean") || claims.contains("fixed"),
            "{}: no example on which it is silent",
            rule.name
        );
        assert!(!repairs || rule.has_fix(), "{}: no `fixed` example, but a fix", rule.name);
    }
}

/// What is denied in a configuration that is given with nothing beside it, as rule and message.
fn denied(text: &str, options: &CompileOptions) -> BTreeSet<(&'static str, String)> {
    let mut files = MemoryFiles::default();
    files.insert(MAIN, text);
    let found = compile_with(Path::new(MAIN), &files, options).findings;
    let denied = found.into_iter().filter(|finding| finding.level == Level::Deny);
    denied.map(|finding| (finding.rule, finding.message.into_owned())).collect()
}

/// Whatever part of an example is put in a file that is not read, or is left to whoever fills in a template: nothing is denied that
/// is not denied in the whole. Examples about the file itself are left out: a part of these is something else.
#[test]
fn what_is_not_read_is_unknown_not_absent() {
    let unread = CompileOptions { includes: false, ..CompileOptions::default() };
    let mut faults = BTreeSet::new();
    for rule in RULES {
        let clean = examples(rule.docs).into_iter().filter(|example| example.claim == "clean");
        for Example { text, .. } in clean.filter(|example| {
            !["{LATIN1}", "\nend\n", "# cfgc:"].iter().any(|own| example.text.contains(own))
        }) {
            let whole = denied(&text, &CompileOptions::default());
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            for start in 0..lines.len() {
                for end in [start + 1, (start + 2).min(lines.len()), lines.len()] {
                    let (before, after) = (lines[..start].concat(), lines[end..].concat());
                    for (gap, options) in
                        [("include /etc/more\n", &unread), ("{{ more }}\n", &CompileOptions::default())]
                    {
                        let part = format!("{before}{gap}{after}");
                        let found = denied(&part, options);
                        faults.extend(
                            found
                                .difference(&whole)
                                .map(|(rule, message)| (*rule, message.clone(), part.clone())),
                        );
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The main file with the fixes of all findings made.
fn repaired(rule: &Rule, compiled: &Compiled, found: &[Finding]) -> String {
    let (main, source) = compiled.sources.iter().next().unwrap();
    let mut all = found.iter().map(|finding| {
        finding.fix.clone().unwrap_or_else(|| panic!("{}: no fix in {finding:#?}", rule.name))
    });
    let mut fix = all.next().unwrap();
    fix.edits.extend(all.flat_map(|other| other.edits));
    String::from_utf8(fix.apply(main, &source.text)).unwrap()
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it holds the folder and the list together, and writes the list"
)]
fn registry_is_current() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lints");
    let stems: BTreeSet<String> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file() && fs::read_to_string(path).unwrap().contains("\nrule! {\n"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let mods: String = stems.iter().map(|stem| format!("pub(crate) mod {stem};\n")).collect();
    let rules: String = stems.iter().map(|stem| format!("    &super::{stem}::RULE,\n")).collect();

    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lints.rs");
    let text = fs::read_to_string(file).unwrap();
    let (before, rest) = text.split_once("\n// @generated").unwrap();
    let (marker, rest) = rest.split_once('\n').unwrap();
    let (_, after) = rest.split_once("// @end").unwrap();
    let wanted = format!("{before}\n// @generated{marker}\n{mods}// @end{after}");

    let registry = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lints/registry.rs");
    let listed = fs::read_to_string(registry).unwrap();
    let (head, _) = listed.split_once("= &[\n").unwrap();
    let all = format!("{head}= &[\n{rules}];\n");
    if text != wanted || listed != all {
        assert!(
            env::var_os("UPDATE").is_some(),
            "run `UPDATE=1 cargo test -p compiler registry`; wanted\n{mods}\n{rules}"
        );
        fs::write(file, wanted).unwrap();
        fs::write(registry, all).unwrap();
        return;
    }
    for (rule, stem) in RULES.iter().zip(&stems) {
        assert_eq!(rule.name, stem.replace('_', "-"), "a rule is named as its file is");
    }
}

#[test]
fn a_rule_says_in_one_sentence_what_it_is() {
    for rule in RULES {
        let summary = rule.summary();
        assert!(summary.ends_with('.') && !summary.contains("```"), "{}: {summary:?}", rule.name);
    }
}

/// A name, today's or an old one, stands for one rule.
#[test]
fn a_name_stands_for_one_rule() {
    let mut names = BTreeSet::new();
    for rule in RULES {
        for name in rule.aliases.iter().chain(rule.parts).chain([&rule.name]) {
            assert!(names.insert(*name), "{name} stands for two rules");
            assert_eq!(super::find(name).map(|found| found.name), Some(rule.name));
        }
    }
}

#[test]
fn an_old_name_allows_and_is_told() {
    for name in ["implicit-deny-surprise", "deny-all-missing"] {
        let text =
            format!("auth iponly\n# cfgc: allow({name}) closed\ndeny * * *.example\nproxy -i127.0.0.1\n");
        let old = usize::from(name != "implicit-deny-surprise");
        assert_eq!(findings("implicit-deny-surprise", &text).len(), 0, "{name}");
        assert_eq!(findings("unused-allowance", &text).len(), 0, "{name}");
        assert_eq!(findings("old-rule-name", &text).len(), old, "{name}");
    }
}

/// The name of a rule that another has taken in allows what that rule was for, and nothing else of the other.
#[test]
fn the_name_of_a_part_allows_that_part() {
    let head = "auth iponly\nallow * 10.0.0.0/8\n";
    // The part, what it is for, and what else its rule finds. `@` stands for the allowance.
    let parts = [
        (
            "port-out-of-range",
            "@allow * * * 70000\nproxy -i127.0.0.1\n",
            "@allow * * * 443-80\nproxy -i127.0.0.1\n",
        ),
        (
            "port-range-reversed",
            "@allow * * * 443-80\nproxy -i127.0.0.1\n",
            "@allow * * * 80;443\nproxy -i127.0.0.1\n",
        ),
        (
            "ip-range-reversed",
            "@deny * * 10.0.0.9-10.0.0.1\nproxy -i127.0.0.1\n",
            "@deny * * 10.0.0.0/33\nproxy -i127.0.0.1\n",
        ),
        (
            "weight-misplaced",
            "{}proxy -i10.0.0.1\n@weight 5\nsocks -i10.0.0.1\n",
            "{}proxy -i10.0.0.1\n@nolog\nsocks -i10.0.0.1\n",
        ),
        (
            "authcache-after-service",
            "{}proxy -i10.0.0.1\n@authcache ip 5\n",
            "{}proxy -i10.0.0.1\n@auth strong\n",
        ),
        (
            "maxconn-before-service",
            "{}proxy -i10.0.0.1\n@maxconn 5\n",
            "{}proxy -i10.0.0.1\n@external 10.0.0.2\n",
        ),
        ("tls-setting-after-service", "{}proxy -i10.0.0.1\n@ssl_serv\n", "{}proxy -i10.0.0.1\n@maxconn 5\n"),
        (
            "parent-unreachable",
            "auth iponly\nallow *\n@allow * 10.0.0.1\nparent 1000 http 192.0.2.1 80\nproxy -i127.0.0.1\n",
            "auth iponly\nallow *\n@deny * 10.0.0.0/8\nproxy -i127.0.0.1\n",
        ),
    ];
    for (name, part, other) in parts {
        let rule = super::find(name).unwrap();
        assert!(rule.has_part(name), "{name}");
        for (text, left) in [(part, 0), (other, 1)] {
            let text = text.replace("{}", head);
            assert_eq!(findings(rule.name, &text.replace('@', "")).len(), 1, "{name}: {text}");
            let allowed = text.replace('@', &format!("# cfgc: allow({name}) meant\n"));
            assert_eq!(findings(rule.name, &allowed).len(), left, "{allowed}");
            assert_eq!(findings("unused-allowance", &allowed).len(), left, "{allowed}");
        }
    }
    let tried = parts.map(|(name, ..)| name).into_iter().chain(["cacheacl-worthwhile"]);
    let declared: BTreeSet<&str> = RULES.iter().flat_map(|rule| rule.parts).copied().collect();
    assert_eq!(tried.collect::<BTreeSet<_>>(), declared);
}

#[test]
fn rules_are_found_by_name_and_by_likeness() {
    assert_eq!(super::find("indented-directive").unwrap().name, "indented-directive");
    assert!(super::find("indented").is_none());
    for (asked, wanted) in [
        ("indented-directives", Some("indented-directive")),
        ("Indented_Directive", Some("indented-directive")),
        ("indented", Some("indented-directive")),
        ("zzzz", None),
    ] {
        assert_eq!(super::similar(asked).map(|rule| rule.name), wanted, "{asked}");
    }
}

/// Puts in what documentation can't show: `{NUL}`, `{BOM}`, `{CR}`, `{REP:text:N}` (text, N times), `{EOF}` (ends the file without
/// a line end).
fn expanded(example: Example) -> Example {
    let mut text = example.text.replace("{NUL}", "\0").replace("{BOM}", "\u{feff}").replace("{CR}", "\r");
    while let Some((before, rest)) = text.split_once("{REP:") {
        let (inside, after) = rest.split_once('}').unwrap();
        let (repeated, times) = inside.rsplit_once(':').unwrap();
        text = format!("{before}{}{after}", repeated.repeat(times.parse().unwrap()));
    }
    if let Some((before, _)) = text.split_once("{EOF}") {
        text = before.to_owned();
    }
    Example { claim: example.claim, text }
}

/// The fenced blocks of `docs`: what stands behind `3proxy,`, and the text.
fn examples(docs: &str) -> Vec<Example> {
    let mut blocks = Vec::new();
    let mut open: Option<Example> = None;
    for line in docs.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line);
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let claim = info.trim_start_matches("3proxy,").to_owned();
                open = Some(Example { claim, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take().map(expanded)),
            (Some(example), None) => example.text.extend([line, "\n"]),
            (None, None) => {}
        }
    }
    blocks
}
