//! `parent-for-last-entry-only`
use std::collections::BTreeSet;

use super::{
    matched::covers,
    rule::{Lint, rule},
};
use crate::{
    finding::{Finding, Level},
    fix::{Edit, Fix, Safety},
    program::acl::{Ace, Action, Matcher, Parent},
    sources::{Loc, Sources},
};

rule! {
    /// A parent follows several entries of one kind, but only the last of them gets it: what the others allow goes direct.
    ///
    /// `parent` extends the entry above it, not the block.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// allow * 10.0.1.0/24
    /// allow * 10.0.2.0/24
    /// allow * 10.0.3.0/24
    /// parent 1000 connect 203.0.113.7 3128
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Write the parent below each of them:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.1.0/24
    /// parent 1000 connect 203.0.113.7 3128
    /// allow * 10.0.2.0/24
    /// parent 1000 connect 203.0.113.7 3128
    /// allow * 10.0.3.0/24
    /// parent 1000 connect 203.0.113.7 3128
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// or make them one entry:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.1.0/24,10.0.2.0/24,10.0.3.0/24
    /// parent 1000 connect 203.0.113.7 3128
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Where the last entry takes in what one above it matches, that one is an exception, which goes direct:
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * * 10.0.0.0/8
    /// allow * * 192.168.0.0/16
    /// allow * * 0.0.0.0/0
    /// parent 1000 connect 203.0.113.7 3128
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// With two entries the first may be meant to go direct, so this is only advice. A comment or an empty line between them ends
    /// the block.
    "parent-for-last-entry-only",
    level: Warn,
    group: Correctness,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let acls = &lint.program.acls;
    if acls.parents.is_empty() {
        return;
    }
    let mut told = BTreeSet::new();
    let mut found = Vec::new();
    for list in &acls.lists {
        let entries: Vec<&Ace> = list.iter().filter_map(|id| acls.ace(*id)).collect();
        for (place, last) in entries.iter().enumerate().filter(|(_, ace)| goes_elsewhere(acls.parents(ace))) {
            let block = block(lint.sources, entries.get(..place).unwrap_or_default(), last);
            let Some(first) = block.last().filter(|_| told.insert(last.at)) else { continue };
            found.push(finding(lint.sources, first, &block, last, acls.parents(last)));
        }
    }
    for finding in found {
        lint.report(finding);
    }
}

/// Whether requests go through another host.
fn goes_elsewhere(parents: &[Parent]) -> bool {
    parents.first().is_some_and(|parent| !parent.is_local())
}

/// The entries right above `last` that are of its kind and have no parent, the nearest first.
fn block<'a>(sources: &Sources, above: &[&'a Ace], last: &Ace) -> Vec<&'a Ace> {
    let line = |at: Loc| sources.get(at.file).and_then(|source| source.tree.line_at(at.span.start));
    let mut below = last.at;
    let mut field = None;
    let mut block = Vec::new();
    for ace in above.iter().rev() {
        let adjoins = ace.at.file == below.file
            && line(ace.at).zip(line(below)).is_some_and(|(upper, lower)| upper + 1 == lower);
        let Some(differs) = only_difference(&ace.matcher, &last.matcher) else { break };
        let alike = ace.action == Action::Allow && !ace.redirects() && ace.weight == last.weight;
        // An exception of what the last one is for.
        let excepted = || covers(&last.matcher, &ace.matcher);
        if !adjoins || !alike || *field.get_or_insert(differs) != differs || excepted() {
            break;
        }
        below = ace.at;
        block.push(*ace);
    }
    block
}

/// A field that both list, if they differ in it alone.
fn only_difference(one: &Matcher, other: &Matcher) -> Option<Field> {
    let listed = [
        (Field::Users, one.users != other.users, one.users.is_some() && other.users.is_some()),
        (Field::Sources, one.sources != other.sources, one.sources.is_some() && other.sources.is_some()),
        (Field::Targets, one.targets != other.targets, one.targets.is_some() && other.targets.is_some()),
        (Field::Ports, one.ports != other.ports, one.ports.is_some() && other.ports.is_some()),
    ];
    let same_rest =
        one.operations == other.operations && one.weekdays == other.weekdays && one.periods == other.periods;
    let mut different = listed.into_iter().filter(|(_, differs, _)| *differs);
    match (different.next(), different.next()) {
        (Some((field, _, true)), None) if same_rest => Some(field),
        _ => None,
    }
}

/// What lists of one kind differ in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Users,
    Sources,
    Targets,
    Ports,
}

fn finding(sources: &Sources, first: &Ace, block: &[&Ace], last: &Ace, parents: &[Parent]) -> Finding {
    let at = parents.first().map_or(last.at, |parent| parent.at);
    let mut finding = RULE
        .finding(
            at,
            "this parent applies only to the last of these entries: what the others allow goes direct",
        )
        .label("extends the entry above it")
        .also(
            first.at,
            match block.len() {
                1 => "this entry has no parent".to_owned(),
                count => format!("the first of {count} entries without a parent"),
            },
        )
        .also(last.at, "the entry that has it")
        .help("write it below each of them, or merge them into one entry");
    if block.len() == 1 {
        finding.level = Level::Allow;
    }
    finding.fix(repeated(sources, block, parents))
}

/// The parents below each entry. `None`: one has a password, which no fix may cite.
fn repeated(sources: &Sources, block: &[&Ace], parents: &[Parent]) -> Option<Fix> {
    let plain = parents.iter().all(|parent| parent.password.is_none() && parent.user.is_none());
    let mut text = String::new();
    for parent in parents.iter().filter(|_| plain) {
        text.push('\n');
        text.push_str(str::from_utf8(sources.text(parent.at)).ok()?);
    }
    let below = |ace: &&Ace| {
        let end = grammar::Span::new(ace.at.span.end, ace.at.span.end);
        Edit { at: Loc { file: ace.at.file, span: end }, text: text.clone() }
    };
    let title = "write the parent below each of them".into();
    let edits = block.iter().rev().map(below).collect();
    plain.then_some(Fix { title, safety: Safety::Unsafe, edits })
}

#[cfg(test)]
mod tests {
    use crate::{finding::Level, lints::tests::findings};

    const PARENT: &str = "parent 1000 http 203.0.113.7 3128";

    #[test]
    fn blocks_of_one_kind_are_found() {
        for (entries, level) in [
            ("allow a\nallow b\nallow c", Some(Level::Warn)),
            ("allow a\nallow b", Some(Level::Allow)),
            ("allow * * a.example 80\nallow * * b.example 80\nallow * * c.example 80", Some(Level::Warn)),
            // Exceptions of the last.
            ("allow a\nallow b\nallow a,b,c", None),
            ("allow * * 10.1.0.0/16\nallow * * 10.2.0.0/16\nallow * * 10.0.0.0/8", None),
            ("allow * * www.a.example\nallow * * www.b.example\nallow * * *.example", None),
            ("allow * * * 80\nallow * * * 443\nallow * * * 1-1024", None),
            ("allow a\nallow b\nallow c,d", Some(Level::Warn)),
            // Of another kind, or apart.
            ("allow a\n\nallow b", None),
            ("allow a\n# through the parent\nallow b", None),
            ("allow a\nmaxconn 5\nallow b", None),
            ("allow * * 10.0.0.0/8\nallow *", None),
            ("allow a 10.0.0.1\nallow b 10.0.0.2", None),
            ("deny a\nallow b", None),
            ("allow a\nparent 1000 http 203.0.113.8 3128\nallow b", None),
        ] {
            let text =
                format!("users a:CL:x b:CL:y c:CL:z\nauth strong\n{entries}\n{PARENT}\nproxy -i127.0.0.1\n");
            let found = findings("parent-for-last-entry-only", &text);
            assert_eq!(found.first().map(|finding| finding.level), level, "{entries}: {found:#?}");
        }
    }

    #[test]
    fn no_password_is_repeated() {
        let text =
            format!("auth iponly\nallow a\nallow b\nallow c\n{PARENT} user hunter2\nproxy -i127.0.0.1\n");
        let found = findings("parent-for-last-entry-only", &text);
        assert_eq!(found.len(), 1);
        assert!(found.iter().all(|finding| finding.fix.is_none()));
    }
}
