//! `cfgc trace`: what it prints, case by case, and that it says what 3proxy was seen to do.
//!
//! In `tests/cases/trace` each configuration has lines `# trace: OPTIONS`; what the command prints for them stands in the file of
//! the same name with `.txt`. `UPDATE=1 cargo test --test it trace` writes those.
use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use compiler::{
    compile,
    policy::Policy,
    query::{Outcome, Query, Words},
    sources::MemoryFiles,
    trace,
};
use serde_json::Value;

use crate::{
    loads::expanded,
    support::{cfgc, recorded, repo},
};

#[test]
fn each_case_is_told_as_recorded() {
    let folder = repo::root().join("tests/cases/trace");
    let mut cases: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.extension().is_some_and(|extension| extension == "cfg"));
    cases.sort();
    assert!(cases.len() >= 10, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in cases {
        let (told, recorded) = (told(&case), case.with_extension("txt"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&recorded, &told).unwrap();
        } else if std::fs::read_to_string(&recorded).unwrap_or_default() != told {
            wrong.push(format!("{}:\n{told}", repo::shown(&case)));
        }
    }
    assert!(wrong.is_empty(), "UPDATE=1 writes what is told now, if it is right:\n{}", wrong.join("\n"));
}

/// What is printed for each `# trace:` line of a case.
fn told(case: &Path) -> String {
    let text = std::fs::read_to_string(case).unwrap();
    let name = case.file_name().unwrap().to_str().unwrap();
    let mut told = String::new();
    for options in text.lines().filter_map(|line| line.strip_prefix("# trace: ")) {
        let output = run(case.parent().unwrap(), name, &split(options), None);
        told += &format!("$ cfgc trace {name} {options}\n");
        told += &String::from_utf8(output.stdout).unwrap();
        told += &String::from_utf8(output.stderr).unwrap();
        told += &format!("[exit status {}]\n\n", output.status.code().unwrap());
    }
    assert!(!told.is_empty(), "{name} asks nothing");
    told
}

fn run(folder: &Path, config: &str, options: &[String], input: Option<&str>) -> Output {
    let mut command = cfgc::command();
    command.arg("trace").arg(config).args(options).current_dir(folder);
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    if let Some(input) = input {
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    }
    child.wait_with_output().unwrap()
}

/// Words at blanks, but for those between `'`.
fn split(options: &str) -> Vec<String> {
    let parts = options.split('\'').enumerate();
    let words = parts.flat_map(|(number, part)| {
        if number % 2 == 1 {
            vec![part.to_owned()]
        } else {
            part.split_whitespace().map(str::to_owned).collect()
        }
    });
    words.collect()
}

#[test]
fn a_password_from_standard_input_is_compared_and_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let config = "users bob:CL:right\nauth strong\nallow bob\nproxy -p1\n";
    std::fs::write(folder.path().join("3proxy.cfg"), config).unwrap();
    let options = "--from 10.0.0.1 --user bob --password-stdin --to a.test:443 --resolve 10.0.0.2";
    for (given, outcome, code) in [
        ("right\n", "allow", 0),
        ("right", "allow", 0),
        ("right\r\n", "allow", 0),
        ("wrong\n", "auth-required", 6),
    ] {
        for json in [false, true] {
            let mut options = split(options);
            options.extend(json.then(|| "--json".to_owned()));
            let output = run(folder.path(), "3proxy.cfg", &options, Some(given));
            let told = String::from_utf8(output.stdout).unwrap();
            assert!(!told.contains(given.trim()) && !told.contains("right"), "{told}");
            if json {
                let told: Value = serde_json::from_str(&told).unwrap();
                assert_eq!(
                    (&told["cases"][0]["outcome"], &told["cases"][0]["code"]),
                    (&outcome.into(), &code.into())
                );
            } else {
                assert!(told.starts_with(&format!("{outcome}: ")), "{told}");
            }
        }
    }
}

#[test]
fn what_can_t_be_explained_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("3proxy.cfg"), "auth none\nproxy -p1\nproxy -p2\n").unwrap();
    for (config, options, said) in [
        (
            "3proxy.cfg",
            "--from 10.0.0.1 --to a:1",
            "cfgc: --service: the configuration has several services: write one of `proxy:1`, `proxy:2`\n",
        ),
        (
            "3proxy.cfg",
            "--service 1 --from 10.0.0 --to a:1",
            "cfgc: --from: `10.0.0` is not an address: write an address, as `192.0.2.7`\n",
        ),
        ("none.cfg", "--from 10.0.0.1 --to a:1", "cfgc: `none.cfg` can't be read: "),
    ] {
        let output = run(folder.path(), config, &split(options), None);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with(said), "{stderr}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    }
}

/// What became of one step of a recorded case.
struct Observed<'a> {
    outcomes: Vec<&'a str>,
    /// 3proxy's code, if it is in the log.
    code: Option<u16>,
}

#[test]
fn recorded_decisions_are_explained_as_they_were() {
    let (mut compared, mut wrong) = (0, Vec::new());
    for case in recorded::golden() {
        if !case["topic"].as_str().unwrap().starts_with("acl-") || case["expect"]["loads"] != true {
            continue;
        }
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", expanded(case["config"].as_str().unwrap()));
        let compiled = compile(Path::new("3proxy.cfg"), &files);
        let policy = Policy::compile(&compiled.program);
        for (number, step) in case["steps"].as_array().unwrap().iter().enumerate() {
            let Some(query) = query(step, &compiled) else { continue };
            let trace = trace::explain(&policy, &query);
            // The clock of the recording is not known.
            let [explained] = trace.cases.as_slice() else { continue };
            let Some(observed) = observed(&case, number) else { continue };
            compared += 1;
            let outcome = explained.answer.outcome;
            let agrees = observed.outcomes.iter().any(|observed| agree(observed, outcome));
            let same_code = observed.code.is_none_or(|code| code == explained.answer.code.number());
            if !agrees || !same_code {
                wrong.push(format!(
                    "{} step {number}: {:?} {:?}, explained as {outcome:?} {}",
                    case["id"], observed.outcomes, observed.code, explained.answer.code
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 350, "{compared} compared");
}

fn agree(observed: &str, explained: Outcome) -> bool {
    match observed {
        "ok" => explained == Outcome::Allow,
        "rejected" => explained != Outcome::Allow,
        "denied" | "auth-required" => matches!(explained, Outcome::Deny | Outcome::AuthRequired),
        _ => true,
    }
}

/// What a step asks, if it is plain enough.
pub(crate) fn query(step: &Value, compiled: &compiler::Compiled) -> Option<Query> {
    let op = match step["client"].as_str()? {
        "http-get" => match step["op"].as_str().unwrap_or("GET") {
            method @ ("GET" | "HEAD" | "POST" | "PUT") => format!("HTTP_{method}"),
            "DELETE" | "OPTIONS" | "PATCH" => "HTTP_OTHER".to_owned(),
            _ => return None,
        },
        "http-connect" => "HTTP_CONNECT".to_owned(),
        "socks4" | "socks4a" | "socks5" if step["cmd"].is_null() => "CONNECT".to_owned(),
        _ => return None,
    };
    let own_source = step["connect_ip"].is_string();
    let default_port = step.get("target_port").is_some_and(Value::is_null);
    let in_two_ways = step["host_header"].is_string() || step["form"] == "origin";
    if own_source || default_port || in_two_ways || step["user"] == "-" {
        return None;
    }
    let text = |value: &Value, default: &str| match value {
        Value::String(text) => String::from_utf8(expanded(text)).ok(),
        Value::Number(number) => Some(number.to_string()),
        _ => Some(default.to_owned()),
    };
    let host = text(&step["target_host"], "127.0.0.1")?;
    let port = text(&step["target_port"], "20003")?;
    let to = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
    let service = String::from_utf8(expanded(&format!("{{PORT:{}}}", step["service"].as_str()?))).ok()?;
    let of_client = |value: &Value| value.as_str().map(expanded);
    let user = of_client(&step["user"]).map(|user| String::from_utf8(user).ok()).unwrap_or_default();
    let words = Words {
        service: Some(&service),
        user: user.as_deref(),
        from: Some(step["source_ip"].as_str().unwrap_or("127.0.0.1")),
        to: Some(&to),
        op: Some(&op),
        ..Words::default()
    };
    let mut query = Query::read(&compiled.sources, &compiled.program, &words).ok()?;
    query.password = of_client(&step["password"]).map(|password| grammar::Secret::from(password.as_slice()));
    Some(query)
}

/// What was recorded, or what the oracle's authors would have instead.
fn observed(case: &Value, number: usize) -> Option<Observed<'_>> {
    let recorded = &case["expect"]["steps"][number];
    let safe = &case["safe_expect"]["steps"][number.to_string()]["outcome"];
    let outcomes = alternatives(&recorded["outcome"]).into_iter().chain(alternatives(safe)).collect();
    let code = recorded["log"][0]["E"].as_str().filter(|_| safe.is_null());
    let code = code.and_then(|code| code.parse().ok()).filter(|code| *code < 10);
    Some(Observed { outcomes, code })
}

/// Outcomes of which one must be.
pub(crate) fn alternatives(told: &Value) -> Vec<&str> {
    match told {
        Value::String(alternatives) => alternatives.split('|').collect(),
        told => told.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
    }
}
