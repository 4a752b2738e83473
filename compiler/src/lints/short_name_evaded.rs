//! `short-name-evaded`
use grammar::Span;

use super::{
    columns::columns,
    rule::{Lint, rule},
};
use crate::{
    fix::{Fix, Safety},
    program::acl::{Ace, Action, NamePattern},
    sources::Loc,
};

rule! {
    /// Under 3proxy, a `deny` of such a short name can be evaded with a dot after the name.
    ///
    /// `t.me.` is the same host as `t.me`. 3proxy drops the dot only where six characters or more are asked for. (`cfgc run` always does.)
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// deny * * t.me
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// Name it with the dot, too:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// deny * * t.me,t.me.
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// deny * * x.com
    /// allow * 10.0.0.0/8
    /// proxy -i10.0.0.1
    /// ```
    "short-name-evaded",
    level: Warn,
    group: Security,
    since: "0.1.0",
    of_3proxy: true,
    check: check,
}

/// The dot of a longer name is dropped.
const LONGEST: usize = 4;

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let lists = lint.asked_lists();
    let entries = lists.iter().flat_map(|list| program.acls.entries(list.acl));
    for (ace, name) in entries.filter_map(|(_, ace)| Some((ace, short(ace)?))) {
        let column = columns(lint.sources, ace.at).get(2).copied();
        let name = String::from_utf8_lossy(name);
        let fix = column.filter(|at| lint.sources.text(*at).iter().all(|byte| *byte != b'"')).map(|at| {
            let end = Loc { file: at.file, span: Span::new(at.span.end, at.span.end) };
            Fix::replace("name it with the dot, too", Safety::Safe, end, format!(",{name}."))
        });
        lint.report(
            RULE.finding(
                column.unwrap_or(ace.at),
                format!("under 3proxy, a client that asks for `{name}.` evades this `deny`"),
            )
            .label("compared without the dot")
            .help(format!("add `{name}.` to the list"))
            .fix(fix),
        );
    }
}

/// A short name that a `deny` lists without its dot.
fn short(ace: &Ace) -> Option<&[u8]> {
    let targets = ace.matcher.targets.as_ref().filter(|_| ace.action == Action::Deny)?;
    let dotted = |name: &[u8]| {
        let is = |other: NamePattern<'_>| matches!(other, NamePattern::Exact(text) if text.strip_suffix(b".") == Some(name));
        targets.names.iter().any(is)
    };
    targets.names.iter().find_map(|name| match name {
        NamePattern::Exact(text) => {
            let domain = text.len() <= LONGEST && text.contains(&b'.') && !text.ends_with(b".");
            (domain && !dotted(text)).then_some(text)
        }
        _ => None,
    })
}
