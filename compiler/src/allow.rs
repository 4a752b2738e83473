//! `# cfgc: allow(rule, …) reason` above a line: the operator says that there it is meant. Several lists may stand behind each other.
//!
//! An allowance stands in a comment, alone or among others, directly above the line that it is for. It suppresses the
//! findings of its rules whose primary place is in that line, or in a `$file` that the line brings in, except where 3proxy
//! itself refuses the line. One that suppresses nothing is found by `unused-allowance`; so is one that counts for nothing
//! because [`Allowances`] forbids it, or asks for a reason that it does not give.
mod comments;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use grammar::Span;

pub(crate) use comments::PREFIX;
use comments::{Allowance, collect};

use crate::{
    finding::Finding,
    lints::{self, Group, old_rule_name, unused_allowance},
    options::{Allowances, CompileOptions, Runner},
    program::Program,
    sources::{FileId, Loc, Sources},
    template,
};

impl Allowance {
    fn counts(&self, worth: Allowances) -> bool {
        match worth {
            Allowances::Allow => true,
            Allowances::Reason => self.has_reason,
            Allowances::Forbid => false,
        }
    }
}

/// Takes the findings out that are allowed where they stand, and adds those about allowances.
pub(crate) fn apply(
    sources: &Sources,
    program: &Arc<Program>,
    options: &CompileOptions,
    findings: &mut Vec<Finding>,
) {
    let worth = options.allowances;
    let mut allowances = Vec::new();
    let mut malformed = Vec::new();
    for (file, source) in sources.iter() {
        collect(file, source, &mut allowances, &mut malformed);
    }
    if !allowances.is_empty() {
        let mut by_line: HashMap<(FileId, usize), Vec<usize>> = HashMap::new();
        for (index, allowance) in allowances.iter().enumerate() {
            if let Some(line) = allowance.line.filter(|_| allowance.counts(worth)) {
                by_line.entry((allowance.at.file, line)).or_default().push(index);
            }
        }
        findings.retain(|finding| {
            let here = place(sources, finding).and_then(|place| by_line.get(&place));
            let is_meant = here.is_some_and(|here| suppress(finding, here, &mut allowances));
            finding.refused || !is_meant
        });
        // A file may be for 3proxy too: what is allowed of it is no fault when cfgc runs the file.
        if options.runner == Runner::Cfgc && allowances.iter().any(|allowance| !allowance.used) {
            let of_3proxy = CompileOptions { runner: Runner::default(), ..options.clone() };
            for finding in lints::check(sources, program, &of_3proxy) {
                if let Some(here) = place(sources, &finding).and_then(|place| by_line.get(&place)) {
                    suppress(&finding, here, &mut allowances);
                }
            }
        }
    }
    let is_open = |allowance: &&Allowance| {
        let place = allowance.line.and_then(|line| {
            let line = sources.get(allowance.at.file)?.tree.line(line)?;
            Some(Loc { file: allowance.at.file, span: line.span })
        });
        let rule = allowance.rule.filter(|_| allowance.counts(worth));
        place.zip(rule).is_some_and(|(at, rule)| template::is_open(sources, program, rule, at))
    };
    let unused_ones = allowances.iter().filter(|allowance| !allowance.used && !is_open(allowance));
    findings.extend(unused_ones.map(|allowance| {
        if allowance.counts(worth) || allowance.rule.is_none() {
            unused(allowance)
        } else {
            void(allowance, worth)
        }
    }));
    findings.extend(old_names(&allowances));
    findings.extend(malformed.into_iter().map(unread));
}

/// The findings of old names. Where comments for one line name the rule besides, that is enough.
fn old_names(allowances: &[Allowance]) -> Vec<Finding> {
    let is_together = |one: &Allowance, other: &Allowance| {
        one.at.file == other.at.file
            && (one.comment == other.comment || one.line.is_some() && one.line == other.line)
    };
    let mut findings = Vec::new();
    for together in allowances.chunk_by(is_together) {
        let new = |one: &Allowance| one.rule.map(|rule| rule.name).filter(|name| *name == one.name);
        let mut named: HashSet<&str> = together.iter().filter_map(new).collect();
        for (index, allowance) in together.iter().enumerate() {
            let name = allowance.name.as_str();
            let Some(rule) = allowance.rule.filter(|rule| rule.aliases.contains(&name)) else { continue };
            findings.push(if named.insert(rule.name) {
                old_rule_name::finding(allowance.at, name, rule)
            } else {
                old_rule_name::beside(allowance.at, name, rule, listed(together, index))
            });
        }
    }
    findings
}

/// A name with the comma that parts it from the others of its comment; `None`: it is the only one.
fn listed(together: &[Allowance], index: usize) -> Option<Loc> {
    let allowance = together.get(index)?;
    let neighbour = |at: usize| together.get(at).filter(|other| other.comment == allowance.comment);
    let span = match (index.checked_sub(1).and_then(neighbour), neighbour(index + 1)) {
        (Some(before), _) => Span::new(before.at.span.end, allowance.at.span.end),
        (None, Some(behind)) => Span::new(allowance.at.span.start, behind.at.span.start),
        (None, None) => return None,
    };
    Some(Loc { file: allowance.at.file, span })
}

/// The file and line whose allowances count for this finding.
fn place(sources: &Sources, finding: &Finding) -> Option<(FileId, usize)> {
    let at = in_script(sources, finding.at);
    Some((at.file, sources.get(at.file)?.tree.line_at(at.span.start)?))
}

/// Whether one of the allowances with these indices says that this finding is meant.
fn suppress(finding: &Finding, here: &[usize], allowances: &mut [Allowance]) -> bool {
    let mut found = false;
    for index in here {
        let is_for = |allowance: &&mut Allowance| finding.is_called(&allowance.name);
        if let Some(allowance) = allowances.get_mut(*index).filter(is_for) {
            *(if finding.refused { &mut allowance.refused } else { &mut allowance.used }) = true;
            found = true;
        }
    }
    found
}

/// The place itself, or for one in a `$file` the line that brought the file in.
fn in_script(sources: &Sources, mut at: Loc) -> Loc {
    while let Some(above) = sources.get(at.file).and_then(|source| source.included_at) {
        if &*sources.command(above) == b"include"
            || above.file >= at.file
            || sources.get(above.file).is_none()
        {
            break;
        }
        at = above;
    }
    at
}

fn unused(allowance: &Allowance) -> Finding {
    let name = &allowance.name;
    if name == "all" || Group::ALL.iter().any(|group| group.name() == name) {
        return unused_allowance::RULE
            .finding(allowance.at, format!("`{name}` means many rules, but a comment allows one at a time"))
            .help(format!(
                "name the rules that are meant; `--allow {name}`, or `{name} = \"allow\"` in `cfgc.toml`, is for whole files"
            ));
    }
    if allowance.rule.is_none() {
        let finding =
            unused_allowance::RULE.finding(allowance.at, format!("there is no rule `{name}` to allow"));
        return match lints::similar(name) {
            Some(rule) => finding.help(format!("write `{}` if that is meant", rule.name)),
            None => finding.help("remove it; `cfgc explain` lists the rules"),
        };
    }
    let finding =
        unused_allowance::RULE.finding(allowance.at, format!("allowing `{name}` here has no effect"));
    match allowance.line {
        Some(_) if allowance.refused => finding
            .label("3proxy itself refuses the line below, which can't be allowed")
            .help("fix that line, and remove this comment"),
        Some(_) => finding.label("the rule finds nothing in the line below").help("remove it"),
        None if allowance.apart => finding
            .label("a blank line follows")
            .help("remove the blank line: it must be directly above the line that it is for"),
        None => finding.label("no command follows").help("put it directly above the line that it is for"),
    }
}

/// That an allowance counts for nothing under these rules of the house.
fn void(allowance: &Allowance, worth: Allowances) -> Finding {
    let name = &allowance.name;
    if worth == Allowances::Reason {
        let message = format!("this comment allows `{name}` without a reason, and `cfgc.toml` requires one");
        return unused_allowance::RULE
            .finding(allowance.at, message)
            .help(format!("write `# cfgc: allow({name}) REASON`"));
    }
    unused_allowance::RULE
        .finding(allowance.at, "`cfgc.toml` forbids allowing rules in comments")
        .help("remove it, or set `inline-allowances = \"allow\"` in `cfgc.toml`")
}

fn unread(at: Loc) -> Finding {
    unused_allowance::RULE
        .finding(at, "this looks like a cfgc directive, but cfgc does not recognize it")
        .help("write `# cfgc: allow(RULE) REASON`")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{
        compile, compile_with,
        options::{Allowances, CompileOptions, Runner},
        sources::MemoryFiles,
    };

    /// The rules found, in order, with their lines.
    #[track_caller]
    fn assert_found(text: &str, expected: &[(&str, u32)]) {
        let mut files = MemoryFiles::default();
        files.insert("3proxy.cfg", text);
        files.insert("more.cfg", "# cfgc: allow(indented-directive) below\n  maxconn 5\n  maxconn 6\n");
        let compiled = compile(Path::new("3proxy.cfg"), &files);
        let relevant = ["indented-directive", "unused-allowance", "unknown-directive"];
        let found: Vec<_> = compiled
            .findings
            .iter()
            .filter(|finding| relevant.contains(&finding.rule))
            .map(|finding| (finding.rule, compiled.sources.line_column(finding.at).line))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    /// A file may be checked for 3proxy and run by cfgc.
    #[test]
    fn an_allowance_of_what_only_3proxy_does_is_not_unused_for_cfgc() {
        let unused = |runner, line: &str| {
            let mut files = MemoryFiles::default();
            files.insert(
                "3proxy.cfg",
                format!("nscache 65536\n# cfgc: allow(nsrecord-case) so it is\n{line}\n"),
            );
            let options = CompileOptions { runner, ..CompileOptions::default() };
            let found = compile_with(Path::new("3proxy.cfg"), &files, &options).findings;
            found
                .iter()
                .filter(|finding| finding.rule.starts_with("unused") || finding.rule == "nsrecord-case")
                .count()
        };
        for (line, expected) in [("nsrecord Www.example 192.0.2.1", 0), ("nsrecord www.example 192.0.2.1", 1)]
        {
            for runner in Runner::ALL {
                assert_eq!(unused(runner, line), expected, "{runner:?} {line}");
            }
        }
    }

    #[test]
    fn an_allowance_holds_for_the_line_below() {
        let (indented, unused) = ("indented-directive", "unused-allowance");
        assert_found("  flush\n", &[(indented, 1)]);
        assert_found("# cfgc: allow(indented-directive) for looks\n  flush\n  flush\n", &[(indented, 3)]);
        assert_found("#cfgc:allow( indented-directive )\n# and why\n  # so\n  flush\n", &[]);
        assert_found("# cfgc: allow(open-proxy, indented-directive)\n  flush\n", &[(unused, 1)]);
        assert_found(
            "# cfgc: allow(open-proxy), allow(indented-directive) so it is\n  flush\n",
            &[(unused, 1)],
        );
        assert_found("# cfgc: allow(open-proxy) allow(indented-directive)\n  flush\n", &[(unused, 1)]);
        assert_found("# cfgc: allow(indented-directive), allow(\n  flush\n", &[(unused, 1), (indented, 2)]);
        assert_found("# cfgc: allow(indented-directive)\n\n  flush\n", &[(unused, 1), (indented, 3)]);
        assert_found("# cfgc: allow(indented-directive)\nflush\n  flush\n", &[(unused, 1), (indented, 3)]);
        assert_found("flush\n# cfgc: allow(indented-directive)\n", &[(unused, 2)]);
        assert_found("include more.cfg\n", &[(indented, 3)]);
    }

    #[test]
    fn what_an_allowance_lacks_is_said() {
        for (text, expected) in [
            ("# cfgc: allow(security) all of it\n  flush\n", "name the rules"),
            ("# cfgc: allow(all)\n  flush\n", "name the rules"),
            ("# cfgc: allow(secure-thing)\n  flush\n", "remove it; `cfgc explain`"),
            ("# cfgc: allow(indented-directive)\n\n  flush\n", "remove the blank line"),
            ("# cfgc: allow(indented-directive)\n# why\n\n  flush\n", "remove the blank line"),
            ("# cfgc: allow(indented-directive)\n", "put it directly above"),
            ("# cfgc: allow(indented-directive)\nflush\n", "remove it"),
        ] {
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", text);
            let compiled = compile(Path::new("3proxy.cfg"), &files);
            let found = compiled.findings.iter().find(|finding| finding.rule == "unused-allowance");
            let help = found.and_then(|finding| finding.help.as_deref()).unwrap_or_default();
            assert!(help.starts_with(expected), "{text}: {help}");
        }
    }

    #[test]
    fn what_3proxy_refuses_is_not_allowed() {
        let text = "# cfgc: allow(unknown-directive) it is\nfrobnicate\n";
        assert_found(text, &[("unused-allowance", 1), ("unknown-directive", 2)]);
    }

    #[test]
    fn the_house_may_ask_for_a_reason_or_forbid_it() {
        let found = |allowances, comment: &str| {
            let mut files = MemoryFiles::default();
            files.insert("3proxy.cfg", format!("# cfgc: allow(indented-directive){comment}\n  flush\n"));
            let options = CompileOptions { allowances, ..CompileOptions::default() };
            let compiled = compile_with(Path::new("3proxy.cfg"), &files, &options);
            let rules = compiled.findings.iter().map(|finding| finding.rule);
            rules.filter(|rule| *rule != "empty-configuration").collect::<Vec<_>>()
        };
        let both = ["unused-allowance", "indented-directive"];
        for (allowances, comment, expected) in [
            (Allowances::Allow, "", &[][..]),
            (Allowances::Reason, " as a comment", &[]),
            (Allowances::Reason, "", &both),
            (Allowances::Reason, " - ", &both),
            (Allowances::Forbid, " as a comment", &both),
        ] {
            assert_eq!(found(allowances, comment), expected, "{allowances:?} {comment:?}");
        }
    }

    #[test]
    fn a_comment_for_cfgc_that_says_nothing_is_found() {
        for text in [
            "# cfgc: alow(open-proxy)\n",
            "# cfgc: allow(open-proxy\n",
            "# cfgc: allow()\n",
            "#cfgc:\n",
            "# cfgc allow(open-proxy)\n",
            "# cfgc allow(no-such-rule)\n",
            "# CFGC: allow(open-proxy)\n",
            "# cfgc : allow(open-proxy)\n",
            "#cfgc-allow (open-proxy)\n",
            "# Cfgc; Allow open-proxy\n",
            "# cfgc.allow(open-proxy)\n",
            "# allow(open-proxy) as agreed\n",
            "#allow open-proxy\n",
            "## cfgc: allow (open-proxy)\n",
        ] {
            assert_found(&format!("{text}flush\n"), &[("unused-allowance", 1)]);
        }
        for text in [
            "# cfgc is a compiler\n",
            "# see cfgc: allow(x)\n",
            "# allow the office\n",
            "# allow(office)\n",
            "#allow * * open-proxy.example\n",
            "# cfgc allows this\n",
            "# cfgc allow rules stand above\n",
            "#\n",
            "##\n",
        ] {
            assert_found(&format!("{text}flush\n"), &[]);
        }
        assert_found("## cfgc: allow(indented-directive) twice a comment\n  flush\n", &[]);
    }
}
