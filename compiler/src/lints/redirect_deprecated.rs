//! `redirect-deprecated`
use grammar::Span;

use super::rule::{Lint, rule};
use crate::{
    fix::{Fix, Safety},
    sources::{Loc, Sources},
};

rule! {
    /// `redirect` is the old way to write an `allow` with a parent.
    ///
    /// It knows one type, `http`, no user and no second hop.
    ///
    /// ```3proxy,fires
    /// auth iponly
    /// redirect 192.0.2.10 3128 * 10.0.0.0/8
    /// proxy
    /// ```
    ///
    /// Use instead:
    ///
    /// ```3proxy,fixed
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 http 192.0.2.10 3128
    /// proxy
    /// ```
    ///
    /// ```3proxy,clean
    /// auth iponly
    /// allow * 10.0.0.0/8
    /// parent 1000 http 192.0.2.10 3128
    /// proxy
    /// ```
    "redirect-deprecated",
    level: Allow,
    group: Style,
    since: "0.1.0",
    reads: Line,
    check: check,
}

fn check(lint: &mut Lint<'_>) {
    let program = lint.program;
    let mut told = None;
    for ace in &program.acls.aces {
        let parent = program.acls.parents(ace).first();
        // Its line makes the parent, too. A later version of an entry has the line of the first.
        if parent.is_some_and(|parent| parent.at == ace.at) && told.replace(ace.at) != Some(ace.at) {
            report(lint, ace.at);
        }
    }
}

fn report(lint: &mut Lint<'_>, line: Loc) {
    let finding = RULE
        .finding(line, "`redirect` is an `allow` with a parent of type `http`")
        .help("write `allow` and `parent 1000 http ADDRESS PORT`")
        .fix(rewritten(lint.sources, line));
    lint.report(finding);
}

/// The line as two.
fn rewritten(sources: &Sources, line: Loc) -> Option<Fix> {
    let words = sources.words(line);
    let text = |at: usize| {
        let word = words.get(at)?;
        std::str::from_utf8(sources.text(Loc { file: line.file, span: word.span })).ok()
    };
    let (host, port) = (text(1)?, text(2)?);
    let fields = match (words.get(3), words.last()) {
        (Some(first), Some(last)) => {
            let span = Span::new(first.span.start, last.span.end);
            format!(" {}", std::str::from_utf8(sources.text(Loc { file: line.file, span })).ok()?)
        }
        _ => String::new(),
    };
    // What a `$file` brings may be more than one of these words.
    let plain = !host.contains('$') && !port.contains('$');
    let new = format!("allow{fields}\nparent 1000 http {host} {port}");
    plain.then(|| Fix::replace("write `allow` and `parent`", Safety::Safe, line, new))
}
