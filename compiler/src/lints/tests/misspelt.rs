//! What only follows from a misspelt word is not found.
use grammar::directive;

use super::{Example, MAIN, RULES, examples};
use crate::{
    compile,
    finding::Level,
    sources::{FileId, MemoryFiles},
};

/// Rule and line of what is found in `text`, but nothing that is off unless asked for.
fn found(text: &str, others: &[(String, String)]) -> Vec<(&'static str, u32)> {
    let mut files = MemoryFiles::default();
    for (path, text) in others {
        files.insert(path.clone(), text.as_str());
    }
    files.insert(MAIN, text);
    let compiled = compile(std::path::Path::new(MAIN), &files);
    let main = compiled.findings.iter().filter(|finding| finding.at.file == FileId(0));
    let told = main.filter(|finding| finding.level > Level::Allow);
    told.map(|finding| (finding.rule, compiled.sources.line_column(finding.at).line)).collect()
}

/// The word with two of its letters swapped, if then no other is meant.
fn misspelt(name: &str, arguments: usize) -> Option<String> {
    let mut letters: Vec<char> = name.chars().collect();
    let last = letters.len().checked_sub(2)?;
    letters.swap(last, last + 1);
    let written: String = letters.into_iter().collect();
    let meant = directive::meant(written.as_bytes(), arguments)?;
    (written != name && meant.name == name && !matches!(name, "include" | "plugin")).then_some(written)
}

#[test]
fn a_misspelt_command_is_one_finding() {
    let mut tried = 0;
    let mut bad = Vec::new();
    for rule in RULES {
        let mut others = Vec::new();
        for Example { claim, text } in examples(rule.docs) {
            if let Some(path) = claim.strip_prefix("file=") {
                others.push((path.to_owned(), text));
                continue;
            }
            if text.len() > 2_000 || text.contains('$') || text.contains("plugin ") || text.contains("cfgc:")
            {
                continue;
            }
            let right = found(&text, &others);
            // Behind an `end` nothing is read.
            for (number, line) in (1..).zip(text.lines().take_while(|line| *line != "end")) {
                let mut words = line.split_ascii_whitespace();
                let Some(name) = words.next().filter(|name| line.starts_with(name)) else { continue };
                let Some(wrong) = misspelt(name, words.count()) else { continue };
                let changed: String = (1..)
                    .zip(text.split_inclusive('\n'))
                    .map(
                        |(at, line)| {
                            if at == number { line.replacen(name, &wrong, 1) } else { line.to_owned() }
                        },
                    )
                    .collect();
                let more: Vec<_> =
                    found(&changed, &others).into_iter().filter(|one| !right.contains(one)).collect();
                if more != [("unknown-directive", number)] {
                    bad.push(format!("{}: {more:?}\n{changed}", rule.name));
                }
                tried += 1;
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(tried > 1_000, "{tried}");
}

#[test]
fn an_unknown_type_of_authentication_is_one_finding() {
    let lists = ["allow a\n", "allow *\n", "allow a 127.0.0.0/8\ndeny *\n", ""];
    let chains = [
        ("auth storng", "unknown-auth-type"),
        ("auth Basic", "unknown-auth-type"),
        // What is like a type by chance is none: each of these is two letters away from one.
        ("auth nbname", "unknown-auth-type"),
        ("auth sting", "unknown-auth-type"),
        ("auth usrnly", "unknown-auth-type"),
        ("auth iponly nbname", "unknown-auth-type"),
        ("auth", "argument-count"),
        ("authcache user,pass 60\nauth cache storng", "unknown-auth-type"),
        ("authcache user,pass 60\nauth cache ldap", "unknown-auth-type"),
        ("auth iponly ldap", "unknown-auth-type"),
        ("nserver 192.0.2.1\nauth dnsnam", "unknown-auth-type"),
    ];
    for (chain, rule) in chains {
        for list in lists {
            for users in ["users a:CL:Tk48xQ\n", ""] {
                let text = format!("internal 127.0.0.1\n{users}{chain}\n{list}proxy\nsocks\n");
                let mut told: Vec<_> = found(&text, &[]).into_iter().map(|(rule, _)| rule).collect();
                // Of what is written as it is meant all else is told.
                let meant = text.replace("storng", "strong").replace("dnsnam\n", "dnsname\n");
                let right = found(&meant, &[]);
                let is_meant = meant != text;
                told.retain(|told| !is_meant || right.iter().all(|(right, _)| right != told));
                assert_eq!(told, [rule], "{text}");
            }
        }
    }
}
