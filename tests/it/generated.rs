//! The reference pages of docs/ are made from the rows and rules that the compiler works by.
//!
//! `UPDATE=1 cargo test --test it generated` writes them.
use std::fmt::Write;

use compiler::lints::{self, Rule};
use grammar::{
    directive::{self, Directive, Effect, Kind, LONG, NEXT},
    option::{self, Form, ServiceOption, Services},
};

use crate::support::repo;

/// Holds a page to what is made of the sources, or writes it.
#[track_caller]
fn page(name: &str, made: &str) {
    let path = repo::root().join("docs").join(name);
    if std::fs::read_to_string(&path).is_ok_and(|text| text == made) {
        return;
    }
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, made).unwrap();
    } else {
        panic!("docs/{name} is old: write it by `UPDATE=1 cargo test --test it generated`, and commit it");
    }
}

#[test]
fn directives() {
    let mut rows: Vec<&Directive> = directive::all().collect();
    rows.sort_by_key(|row| row.name);
    let mut text = "# Directives\n\n\
        Every command of a 3proxy.cfg and every option of a service line, as cfgc knows them. This page is made from the rows of \
        [grammar/src/directive](../grammar/src/directive) and [grammar/src/option/rows.rs](../grammar/src/option/rows.rs).\n\n\
        Commands are case-sensitive, and start in the first column. Since says which release of 3proxy has it first.\n"
        .to_owned();
    for row in rows {
        directive_section(&mut text, row);
    }
    text.push_str("\n# Service options\n\nAn option's value is glued to it: `-p3128`.\n");
    let mut options: Vec<_> = option::all().iter().collect();
    options.sort_by_key(|row| row.flag);
    for row in options {
        option_section(&mut text, row);
    }
    page("directives.md", &text);
}

#[test]
fn lints() {
    let mut text = "# Rules\n\n\
        What `cfgc check` finds. This page is made from the documentation of the rules in [compiler/src/lints](../compiler/src/lints), \
        which is what `cfgc explain RULE` prints; every example in it is run as a test. A rule at level `allow` is off until it is asked for: \
        `--warn RULE`. A single finding may have another level than its rule, where it matters more or less.\n\n| rule | level | group | fix | finds |\n|---|---|---|---|---|\n"
        .to_owned();
    for rule in lints::all() {
        let Rule { name, level, group, .. } = rule;
        let fix = if rule.has_fix() { "yes" } else { "" };
        let finds = rule.summary().split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        writeln!(text, "| [{name}](#{name}) | {} | {} | {fix} | {finds} |", level.name(), group.name())
            .unwrap();
    }
    for rule in lints::all() {
        let Rule { name, level, group, since, .. } = rule;
        let head = format!("`{}` · {} · since {since}", level.name(), group.name());
        write!(text, "\n## {name}\n\n{head}\n\n{}", rule.markdown()).unwrap();
    }
    for rule in lints::all() {
        assert_eq!(text.matches(&format!("\n## {}\n", rule.name)).count(), 1, "{}", rule.name);
    }
    assert_eq!(text.matches("\n```").count() % 2, 0, "a fence is open");
    page("lints.md", &text);
}

fn directive_section(text: &mut String, row: &Directive) {
    let Directive { name, arguments, parameters, effect, bearing: _, since, docs } = row;
    let least = usize::from(arguments.least);
    let mut usage = (*name).to_owned();
    for (index, parameter) in parameters.iter().enumerate() {
        let name = parameter.name;
        let _ = if index < least { write!(usage, " {name}") } else { write!(usage, " [{name}]") };
    }
    if arguments.most.is_none() {
        usage.push_str(" …");
    }
    let who = match effect {
        Effect::Service => "starts a service with a copy of the settings above it",
        Effect::Setting => "for the services below it",
        Effect::Acl => "part of the access list that the services below it copy",
        Effect::Global => "for all services, wherever it stands",
        Effect::Process => "acts when the line is reached",
    };
    write!(text, "\n## {name}\n\n`{usage}` · {who} · since {}\n\n{docs}\n", release(since)).unwrap();
    if !parameters.is_empty() {
        text.push_str("\n| argument | what it is |\n|---|---|\n");
    }
    for parameter in *parameters {
        let kind = match parameter.kind {
            Kind::OneOf(words) => format!("; one of {}", code(words)),
            _ => String::new(),
        };
        writeln!(text, "| `{}` | {}{kind} |", parameter.name, parameter.docs.replace('|', "\\|")).unwrap();
    }
}

fn option_section(text: &mut String, row: &ServiceOption) {
    let ServiceOption { flag, value, services, decides: _, since, docs } = row;
    let value = match value {
        Form::Nothing => "",
        Form::Number => "N",
        Form::NumberOrZero => "[N]",
        Form::Address => "ADDRESS",
        Form::HostPort => "HOST:PORT",
        Form::Interface => "INTERFACE",
        Form::Path => "PATH",
        Form::Text => "TEXT",
        Form::SocketOptions => "OPTION,…",
        Form::Grace => "TRAFF,NUM,DELAY",
        Form::Splice => "[N[:MIN,STREAK,SMALL]]",
        Form::OneOf(_) => "WORD",
    };
    let services = match services {
        Services::All => "every service".to_owned(),
        Services::Only(names) => code(names),
    };
    write!(text, "\n## {flag}\n\n`{flag}{value}` · {services} · since {}\n\n{docs}\n", release(since))
        .unwrap();
    if let Form::OneOf(words) = row.value {
        writeln!(text, "\nOne of {}.", code(words)).unwrap();
    }
}

fn code(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// A release as the page names it.
fn release(since: &str) -> String {
    match since {
        LONG => "long ago".to_owned(),
        NEXT => "what comes after 1.0.0".to_owned(),
        release => release.to_owned(),
    }
}
